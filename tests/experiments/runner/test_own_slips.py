"""Slips in the files of a user-defined experiment end in one sentence that names the file, and leave no row behind."""

from pathlib import Path

import pytest

from experiments.new import main as new
from experiments.run import main as run


@pytest.fixture
def mine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Path:
    """The folder of the experiment `mything` in a folder of the user's."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("WANDB_MODE", "disabled")
    assert new(["experiment", "mything"]) == 0
    capsys.readouterr()
    return tmp_path / "mything/experiments/mything"


ROW = '{"patterns": count, "overlap": float(jnp.mean(after * patterns))}'
SLIPS = {
    "no x-axis": (
        "experiment.py",
        'X_AXIS = "load"',
        "",
        "experiment.py of mything must define X_AXIS",
    ),
    "x-axis no column": (
        "experiment.py",
        'X_AXIS = "load"',
        'X_AXIS = "loed"',
        "X_AXIS must be a column of the table, got loed",
    ),
    "a column without its class": (
        "experiment.py",
        'Column("load M / N that was asked for")',
        '"load"',
        "COLUMNS of mything must be a dict of Column by name",
    ),
    "a kind of column that there is not": (
        "experiment.py",
        'Column("load M / N that was asked for")',
        'Column("load M / N that was asked for", kind="int")',
        "kind of load of mything must be one of float, int, str, bool, got 'int'",
    ),
    "a point that is not declared": (
        "experiment.py",
        '"load": Column',
        '"lod": Column',
        "columns of a row must be declared in COLUMNS, got load; did you mean lod?",
    ),
    "a row without its point": (
        "experiment.py",
        f"point | {ROW}",
        ROW,
        "a row must have the columns of its point, got one without neurons, load, sample",
    ),
    "a list in a row": (
        "experiment.py",
        "float(jnp.mean(after * patterns))",
        "[1, 2]",
        "overlap of a row must be one number or text, got list [1, 2]",
    ),
    "a text in a column of numbers": (
        "experiment.py",
        "float(jnp.mean(after * patterns))",
        '"high"',
        "overlap of a row must be a number, as COLUMNS declares it (kind=float), got str high",
    ),
    "half a pattern in a column of whole numbers": (
        "experiment.py",
        '"patterns": count',
        '"patterns": count + 0.5',
        "patterns of a row must be a whole number, as COLUMNS declares it (kind=int), got float 2.5",
    ),
    "an array in a row": (
        "experiment.py",
        "float(jnp.mean(after * patterns))",
        "jnp.ones(2)",
        "overlap of a row must be one number or text, got ArrayImpl [1. 1.]",
    ),
}


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_ends_in_one_sentence_and_leaves_no_row(
    mine: Path, capsys: pytest.CaptureFixture[str], slip: str
) -> None:
    name, right, wrong, told = SLIPS[slip]
    text = (mine / name).read_text()
    assert right in text
    (mine / name).write_text(text.replace(right, wrong))
    assert run(["conf=./mything"]) == 2
    assert capsys.readouterr().err.splitlines()[-1] == f"error: {told}"
    assert not any(path.read_text() for path in Path().glob("outputs/mything/*/ledger/*.jsonl"))


def test_a_stopped_run_names_the_line_of_ones_own_that_failed(mine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = mine / "experiment.py"
    text = code.read_text().replace('point["load"] * point["neurons"]', 'point["lod"] * point["neurons"]')
    line = 1 + text.splitlines().index(next(each for each in text.splitlines() if '"lod"' in each))
    code.write_text(text)
    assert run(["conf=./mything"]) == 1
    where = f"mything/experiments/mything/experiment.py:{line}"
    assert f"the run stopped (KeyError: 'lod' ({where})): 0 of " in capsys.readouterr().err
