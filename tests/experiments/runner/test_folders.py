"""Folders of runs: named by what was asked, within a file system's limits, extended by more of the same science."""

import dataclasses
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from experiments.runner import compose, folders, registry, session
from experiments.system import provenance


def rows(directory: Path) -> int:
    return len((directory / "table.csv").read_text().splitlines()) - 1


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({}, "default"),
        ({"loads": [0.5], "samples": 7}, "default"),
        ({"slopes": [2.0, 0.5]}, "slopes=2,0.5"),
        ({"seed": 3, "flag": True}, "flag=true+seed=3"),
    ],
    ids=str,
)
def test_a_folder_is_named_by_the_options_that_differ(toy: list[str], options: dict, name: str) -> None:
    usual = registry.options("toy")()
    assert folders.name(dataclasses.replace(usual, **options), usual) == name


def test_names_that_differ_stay_different_within_the_limits_of_file_systems(tmp_path: Path) -> None:
    usual = registry.options("capacity")()
    assert folders.name(dataclasses.replace(usual, memories=["dense:3"]), usual) == "memories=dense-3"
    sources = ["a b", "a-b", "a/b", "α" * 90, "x" * 300, "x" * 299, "..", "-", "<img onerror=1>.npy", "a\\b", "a*b"]
    names = [folders.name(dataclasses.replace(usual, ensembles=[source]), usual) for source in sources]
    assert len(set(names)) == len(names)
    for name in names:
        (tmp_path / name).mkdir()
        assert len(os.fsencode(name)) <= folders.LONGEST
    assert {path.name for path in tmp_path.iterdir()} == set(names)


def test_more_of_the_same_science_extends_the_folder_and_the_command_says_so(command: Callable, tmp_path: Path) -> None:
    directory = tmp_path / "outputs/toy/default"
    assert command("conf=toy").code == 0
    more = command("conf=toy", "samples=3", "loads=[1.0,2.0]")
    assert more.err.splitlines() == [
        f"8 of 24 points are measured already in {directory}",
        f"the table holds 8 further points, measured for earlier commands in {directory}",
    ]
    assert rows(directory) == 32
    record = folders.read(directory)
    assert record is not None
    assert (record.points, record.further, record.complete) == (32, 8, True)
    assert record.differs == {"loads": [1.0, 2.0], "samples": 3}
    assert record.command == "hopfield conf=toy samples=3 'loads=[1.0,2.0]'"
    assert [path.name for path in (tmp_path / "outputs/toy").iterdir()] == ["default"]


def test_points_of_other_options_never_stand_in_one_table(command: Callable, tmp_path: Path) -> None:
    directory = tmp_path / "outputs/toy/default"
    command("conf=toy")
    record = json.loads((directory / "run.json").read_text())
    record["asked"]["slopes"] = [7.0]
    (directory / "run.json").write_text(json.dumps(record))
    refused = command("conf=toy")
    assert refused.code == 2
    assert f"slopes must be [7.0] as in the results that {directory} holds, got [1.0,2.0]" in refused.err
    assert command("conf=toy", "overwrite=true").code == 0
    assert rows(directory) == rows(directory / "overwritten-1") == 16


def test_the_hash_of_the_science_knows_contents_of_files_and_not_where_they_lie() -> None:
    def science(path: str, content: str, seed: int = 0) -> str:
        contents = {"seed": seed, "precision": {}, "files": {}, "contents": {path: content}}
        return provenance.hashes("capacity", contents, {"seed": seed, "ensembles": [path, "random"]})[0]

    assert science("/a/x.npy", "1f") == science("b.npy", "1f")
    assert len({science("x.npy", "1f"), science("x.npy", "2e"), science("x.npy", "1f", 1)}) == 3


@pytest.mark.parametrize("conf", ["capacity", "retrieval", "basins", "separation", "throughput", "optimisers"])
def test_options_that_extend_leave_science_and_points_as_they_are(conf: str) -> None:
    with session.opened():
        job = compose.jobs([f"conf={conf}"], sweep=False)[0]
    experiment = registry.load(job.experiment)
    fewer = _fewer(job.config)
    assert fewer != job.config
    assert provenance.constants(fewer) == provenance.constants(job.config)
    all_points = {json.dumps(point, sort_keys=True) for point in experiment.points(job.config)}
    assert {json.dumps(point, sort_keys=True) for point in experiment.points(fewer)} < all_points
    assert folders.leaves(fewer, extending=False) == folders.leaves(job.config, extending=False)


def _fewer(options):
    """The same options with the first of every list that extends, and one sample."""
    changes = {}
    for field in dataclasses.fields(options):
        value = getattr(options, field.name)
        if dataclasses.is_dataclass(value) and field.name not in ("wandb", "figure"):
            changes[field.name] = _fewer(value)
        elif isinstance(value, dict) and value and all(map(dataclasses.is_dataclass, value.values())):
            changes[field.name] = {name: _fewer(entry) for name, entry in value.items()}
        elif field.metadata.get("extends") and value:
            changes[field.name] = value[:1] if isinstance(value, list) else 1
    return dataclasses.replace(options, **changes)
