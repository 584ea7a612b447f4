"""The record of a run: damage is noticed, other science is refused, and what rows were measured with is known."""

import json
import os
from collections.abc import Callable
from pathlib import Path

import jax
import numpy as np
import pytest

from experiments.attractors import experiment as attractors
from experiments.bags import experiment as bags
from experiments.capacity import experiment as capacity
from experiments.entropy import experiment as entropy
from experiments.heads import experiment as heads
from experiments.retrieval import experiment as retrieval
from experiments.retrieval.config import Scan
from experiments.runner import locks
from experiments.runner.ledger import Ledger
from experiments.separation import experiment as separation
from experiments.system import files, provenance
from experiments.training import experiment as training
from experiments.training.checkpoints import load, save

POINTS = [{"load": load, "sample": sample} for load in (0.1, 0.2) for sample in range(2)]
ROWS = [{**point, "overlap": 1 / 3} for point in POINTS]


@pytest.fixture
def written(tmp_path: Path) -> Path:
    """The file of a ledger of four rows."""
    ledger = Ledger(tmp_path, "test", {"seed": 0})
    for point, row in zip(POINTS, ROWS, strict=True):
        ledger.record(point, row)
    ledger.close()
    (file,) = tmp_path.glob("*.jsonl")
    return file


def test_no_flipped_bit_of_a_ledger_reaches_a_table(written: Path) -> None:
    whole = written.read_bytes()
    for place in range(len(whole)):
        written.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << place % 8]) + whole[place + 1 :])
        ledger = Ledger(written.parent, "test", {"seed": 0})
        missing = ledger.missing(POINTS)
        assert len(missing) <= 2, place  # a lost end of a line takes the next line with it
        kept = [(point, row) for point, row in zip(POINTS, ROWS, strict=True) if point not in missing]
        assert ledger.rows([point for point, _ in kept]) == [row for _, row in kept], place


@pytest.mark.slow
@pytest.mark.parametrize("damage", ["a digit of a row", "rows without checksums"])
def test_a_damaged_row_is_said_set_aside_and_measured_again(command: Callable, tmp_path: Path, damage: str) -> None:
    assert command("conf=toy", "output=out").code == 0
    before = (tmp_path / "out/table.csv").read_bytes()
    (file,) = (tmp_path / "out/ledger").glob("*.jsonl")
    lines = file.read_bytes().split(b"\n")[:-1]
    if damage == "a digit of a row":
        lines[3] = lines[3].replace(b'"response":', b'"response":1')
    else:
        lines = [json.dumps({key: json.loads(line)[key] for key in ("key", "row")}).encode() for line in lines[1:]]
    number = 1 if damage == "a digit of a row" else 16
    file.write_bytes(b"".join(line + b"\n" for line in lines))
    outcome = command("conf=toy", "output=out")
    assert outcome.code == 0
    (aside,) = (tmp_path / "out/ledger").glob("damaged-*")
    said = outcome.err.splitlines()[0]
    assert said.endswith(f"{file} without a right checksum, kept in {aside.name}, to be measured again")
    assert said.startswith(f"{number} line")
    assert len(aside.read_bytes().splitlines()) == number
    assert (tmp_path / "out/table.csv").read_bytes() == before
    assert command("conf=toy", "output=out").err == f"16 of 16 points are measured already in {tmp_path}/out\n"


def test_no_flipped_bit_of_a_checkpoint_is_gone_on_from(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, tree = tmp_path / "run.msgpack", {"w": np.arange(3, dtype=np.float32), "n": np.int32(7)}
    save(path, tree, [{"epoch": 0, "loss": 0.5}])
    found = load(path, tree)
    assert found is not None
    assert found[1] == [{"epoch": 0, "loss": 0.5}]
    assert capsys.readouterr().err == ""
    whole = path.read_bytes()
    for place in range(len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1 << place % 8]) + whole[place + 1 :])
        assert load(path, tree) is None, place
        assert not path.exists()
        said = f"{path} is not as it was written, kept as damaged-run.msgpack: its run is trained again\n"
        assert capsys.readouterr().err == said


@pytest.mark.slow
@pytest.mark.parametrize(
    ("word", "sentence"),
    [
        ("seed=1", "seed must be 0 as in the results that {} holds, got 1"),
        ("shape=normal", 'shape must be "uniform" as in the results that {} holds, got "normal"'),
    ],
)
def test_other_science_in_a_directory_is_refused_by_name(
    command: Callable, tmp_path: Path, word: str, sentence: str
) -> None:
    command("conf=toy", "output=out")
    before = {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    outcome = command("conf=toy", "output=out", word)
    hint = "; give another output, or overwrite=true to set them aside\n"
    assert (outcome.code, outcome.err) == (2, f"error: {sentence.format(tmp_path / 'out')}{hint}")
    assert {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()} == before
    assert command("conf=toy", "output=out", word, "overwrite=true").code == 0
    assert command("conf=toy", "output=alone", word).code == 0
    assert (tmp_path / "out/table.csv").read_bytes() == (tmp_path / "alone/table.csv").read_bytes()
    aside = tmp_path / "out/overwritten-1"
    moved = {path: content for path, content in before.items() if path.name != locks.NAME}
    kept = {aside / path.relative_to(tmp_path / "out"): content for path, content in moved.items()}
    assert {path: path.read_bytes() for path in aside.rglob("*") if path.is_file()} == kept
    assert command("conf=toy", "output=out").code == 2
    assert "overwrite: true" not in command("conf=toy", "output=out", word, "--cfg", "job").out


def test_rows_of_float32_and_of_float64_never_share_a_table(command: Callable, tmp_path: Path) -> None:
    command("conf=toy", "output=out")
    assert jax.numpy.zeros(0).dtype == "float64"
    jax.config.update("jax_enable_x64", False)
    try:
        outcome = command("conf=toy", "output=out")
    finally:
        jax.config.update("jax_enable_x64", True)
    assert outcome.code == 2
    assert outcome.err.startswith(f"error: JAX_ENABLE_X64 must be true as in the results that {tmp_path / 'out'} holds")


NAMED: dict[tuple[str, str], Callable[[str], tuple]] = {
    ("capacity", "ensembles"): lambda p: (capacity, capacity.Config(memories=["modern"], ensembles=[p], patterns=[3])),
    ("retrieval", "ensembles"): lambda p: (retrieval, retrieval.Config(ensembles=[p], patterns=[3])),
    ("retrieval", "part"): lambda p: (
        retrieval,
        retrieval.Config(part={"own": Scan(ensembles=[p], patterns=[3])}),
    ),
    ("separation", "ensembles"): lambda p: (separation, separation.Config(ensembles=[p], patterns=[5])),
    ("entropy", "ensembles"): lambda p: (entropy, entropy.Config(ensembles=[p], patterns=9, corruption=[0.0])),
    ("heads", "text"): lambda p: (heads, heads.Config(text=p, checkpoint=p)),
    ("heads", "checkpoint"): lambda p: (heads, heads.Config(checkpoint=p)),
    ("attractors", "couplings"): lambda p: (attractors, attractors.Config(couplings=p)),
    ("attractors", "states"): lambda p: (attractors, attractors.Config(states=p)),
    ("bags", "data"): lambda p: (bags, bags.Config(data=[p])),
    ("training", "tasks"): lambda p: (training, training.Config(tasks=[p], baselines=False)),
    ("training", "layers"): lambda p: (training, training.Config(layers=[p])),
    ("training", "optimisers"): lambda p: (training, training.Config(optimisers=[p])),
}


@pytest.mark.parametrize("case", NAMED, ids=".".join)
@pytest.mark.filterwarnings("ignore:Casting")
def test_the_science_holds_the_contents_of_every_file_that_an_option_names(tmp_path: Path, case: tuple) -> None:
    path, draw = tmp_path / "images.npy", np.random.default_rng(0)
    found = []
    for _ in range(2):
        np.save(path, draw.uniform(size=(60, 4, 4)))
        experiment, config = NAMED[case](str(path))
        given = {
            ("attractors", "couplings"): [],
            ("attractors", "states"): [],
            ("heads", "checkpoint"): [],
            ("heads", "text"): [],
            ("bags", "data"): [{"data": str(path)}],
            ("training", "optimisers"): [{"optimiser": str(path)}],
        }
        points = given[case] if case in given else experiment.points(config)
        found.append(provenance.science(experiment, config, points))
        ledger = Ledger(tmp_path / "ledger", case[0], found[-1])
    old, new = ({"experiment": case[0], "science": science} for science in found)
    difference = provenance.difference(old, new)
    assert difference is not None
    assert difference.name.startswith("contents of ")
    assert ledger.missing(points) == points


def test_every_row_and_every_replacement_is_on_disk_before_the_next_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each byte of a row is waited for before the next is measured, of a file before it takes the place of another."""
    kept: dict[int, int] = {}
    sync, replace = os.fsync, os.replace

    def synced(file: int) -> None:
        sync(file)
        kept[os.fstat(file).st_ino] = os.fstat(file).st_size

    def replaced(old: Path, new: Path) -> None:
        assert kept[os.stat(old).st_ino] == os.stat(old).st_size
        replace(old, new)

    monkeypatch.setattr(os, "fsync", synced)
    monkeypatch.setattr(os, "replace", replaced)
    ledger = Ledger(tmp_path, "test", {"seed": 0})
    for sample in range(3):
        ledger.record({"sample": sample}, {"sample": sample, "value": 0.5})
        (part,) = tmp_path.glob("*.jsonl")
        assert kept[part.stat().st_ino] == part.stat().st_size
    ledger.close()
    files.write_text(tmp_path / "summary.json", "{}")
    assert (tmp_path / "summary.json").read_text() == "{}"
