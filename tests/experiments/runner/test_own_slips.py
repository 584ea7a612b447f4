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


def test_a_stopped_run_names_the_line_of_ones_own_that_failed(mine: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code = mine / "experiment.py"
    text = code.read_text().replace('point["load"] * point["neurons"]', 'point["lod"] * point["neurons"]')
    line = 1 + text.splitlines().index(next(each for each in text.splitlines() if '"lod"' in each))
    code.write_text(text)
    assert run(["conf=./mything"]) == 1
    where = f"mything/experiments/mything/experiment.py:{line}"
    assert f"the run stopped (KeyError: 'lod' ({where})): 0 of " in capsys.readouterr().err
