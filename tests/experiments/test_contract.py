"""The contract of every experiment, found by its folder, and of every published configuration, found by its file.

Nothing here names an experiment or an option: a new one is held to all of it without an edit of this file.
"""

import ast
import contextlib
import dataclasses
import json
import math
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas
import pytest
from omegaconf import OmegaConf

from experiments import contract, plot
from experiments.bounds import Bounds
from experiments.figures import style
from experiments.run import main
from experiments.runner import compose, provenance, registry
from experiments.shared import files
from tests.experiments.smoke import few

NAMES = registry.names()
CONFS = sorted(path.stem for path in (contract.ROOT / "conf").glob("*.yaml"))
FEW = 2
"""Entries that are left of a list of numbers at smoke scale, and the most that a number may be which has no default."""

pytestmark = pytest.mark.usefixtures("as_run")
every_experiment = pytest.mark.parametrize("name", NAMES)
finished = pytest.mark.exhaustive
"""Tests that need a finished run of each: some 15 seconds of compiling, by which the tests of one are cheaper."""


def is_timed(name: str) -> bool:
    """Whether rows hold times, which no two measurements share: some module of its folder imports `time`."""
    sources = (contract.ROOT / "experiments" / name).glob("*.py")
    nodes = [node for path in sources for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
    return any(alias.name == "time" for node in nodes if isinstance(node, ast.Import) for alias in node.names)


def results(directory: Path) -> dict[str, bytes]:
    return {name: (directory / name).read_bytes() for name in ("table.csv", "summary.json")}


@finished
@every_experiment
def test_a_run_has_one_complete_row_for_every_point(smoke: Callable[[str], Path], name: str) -> None:
    table, experiment = pandas.read_csv(smoke(name) / "table.csv"), registry.load(name)
    points = pandas.DataFrame(experiment.points(registry.options(name)(**few(name))))
    assert experiment.X_AXIS in table.columns
    found = table[list(points.columns)]
    assert not found.duplicated().any()
    asked = found.iloc[: len(points)]  # an experiment that refines has measured more
    pandas.testing.assert_frame_equal(asked, pandas.read_csv(_written(points, smoke(name))), check_exact=True)
    assert set(table.columns) > set(points.columns)
    assert not table.isna().all(axis=1).any()


def _written(points: pandas.DataFrame, directory: Path) -> Path:
    """Points as a table on disk, which knows 1 from 1.0 no better than theirs does."""
    path = directory / "points.csv"
    points.to_csv(path, index=False)
    return path


@finished
@every_experiment
def test_a_run_that_was_killed_ends_with_the_same_bytes(
    smoke: Callable[[str], Path], run_defaults: Callable[..., int], tmp_path: Path, name: str
) -> None:
    """Killed after half of its rows, in the middle of one; rows of times are all kept, as they come but once."""
    killed = tmp_path / "killed"
    shutil.copytree(smoke(name) / "ledger", killed / "ledger")
    if not is_timed(name):
        for path in (killed / "ledger").glob("*.jsonl"):
            lines = path.read_bytes().splitlines(keepends=True)
            path.write_bytes(b"".join(lines[: len(lines) // 2]) + lines[-1][:20])
    assert run_defaults(name, killed) == 0
    assert results(killed) == results(smoke(name))


@finished
@every_experiment
def test_the_figure_is_drawn_from_the_table_alone(smoke: Callable[[str], Path], tmp_path: Path, name: str) -> None:
    for kept in ("table.csv", "summary.json", "config.yaml"):
        shutil.copy(smoke(name) / kept, tmp_path / kept)
    assert plot.main([str(tmp_path)]) == 0
    for suffix in style.SUFFIXES:
        assert (tmp_path / f"figure.{suffix}").stat().st_size > 1000


@finished
@every_experiment
def test_a_summary_is_finite_numbers_or_null_and_its_errors_belong_to_one(
    smoke: Callable[[str], Path], name: str
) -> None:
    def refuse(word: str) -> float:
        raise AssertionError(f"{word} is not JSON")

    summary = json.loads((smoke(name) / "summary.json").read_text(), parse_constant=refuse)
    scalars = summary["scalars"]
    errors = {key.removesuffix("/stderr") for key in scalars if key.endswith("/stderr")}
    assert errors <= scalars.keys()


IMMATERIAL = {("training", "save_every")}
"""Options on which no number of a table depends: how often a run is saved."""


def others(value: Any) -> list[Any]:
    """Values near that of an option; none for what is no single number."""
    if type(value) is bool:
        return [not value]
    if type(value) is int:
        return [value + 1, 2 * value, value // 2]
    return [value + 1, value + 0.25, value / 2] if type(value) is float else []


@every_experiment
def test_another_value_of_any_option_is_other_science_or_other_points(name: str) -> None:
    """So that the ledger never takes a row that was measured with another value for one of this."""
    usual, experiment = registry.options(name)(), registry.load(name)
    before = provenance.constants(usual), experiment.points(usual)
    same, tried = [], 0
    for option in (entry.name for entry in dataclasses.fields(usual)):
        for value in others(getattr(usual, option)) if option not in ("overwrite", "dry") else []:
            with contextlib.suppress(ValueError):
                changed = dataclasses.replace(usual, **{option: value})
                contract.check(experiment, changed)
                tried += 1
                same += [option] if (provenance.constants(changed), experiment.points(changed)) == before else []
                break
    assert tried
    assert {(name, option) for option in same} <= IMMATERIAL


def out_of_bounds(name: str) -> Iterator[tuple[str, str]]:
    """One override of every option of an experiment whose least value is declared, with the option's name."""
    for entry in dataclasses.fields(registry.options(name)):
        bounds = entry.metadata.get("bounds", Bounds())
        least = bounds.above if bounds.least is None else bounds.least
        if least is not None and least > -math.inf:
            hint = str(entry.type)
            value = f"{math.floor(least) - 1}"
            if "dict" not in hint:
                yield entry.name, f"{entry.name}={f'[{value}]' if 'list' in hint else value}"


@every_experiment
def test_two_bad_options_are_one_sentence_each_and_leave_nothing(
    run_defaults: Callable[..., int], tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    for option, word in (("seed", "seed=abc"), list(out_of_bounds(name))[-1]):
        assert run_defaults(name, tmp_path / "run", word) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert re.fullmatch(rf"error: {option}[^\n]* must [^\n]+, got [^\n]+\n", err), err
    assert list(tmp_path.iterdir()) == []


def shrunk(value: Any, default: Any) -> Any:
    """An option at smoke scale: no number above its default, no more than FEW numbers in a list, all of its words."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = {entry.name for entry in dataclasses.fields(value)} - {"seed", "wandb", "output"}
        return dataclasses.replace(value, **{n: shrunk(getattr(value, n), getattr(default, n, None)) for n in names})
    if isinstance(value, dict):
        found = default if isinstance(default, dict) else {}
        return {key: shrunk(part, found.get(key)) for key, part in value.items()}
    if isinstance(value, list):
        if not all(type(part) in (int, float) for part in value):
            return value
        usual = default if isinstance(default, list) and len(default) == len(value) else [None] * len(value)
        kept = [shrunk(part, other) if other is not None else part for part, other in zip(value, usual, strict=True)]
        return kept[:FEW]
    if type(value) is int:
        return min(value, default if type(default) is int and default > 0 else FEW)
    return value


@pytest.fixture(scope="module")
def published() -> Iterator[dict[str, compose.Job]]:
    with compose.session():
        yield {conf: compose.jobs([f"conf={conf}"], sweep=False)[0] for conf in CONFS}


@finished
@pytest.mark.parametrize("conf", CONFS)
def test_every_published_configuration_runs(published: dict[str, compose.Job], tmp_path: Path, conf: str) -> None:
    """All its words with few and small numbers, to the figure; that of words with the numbers stands in its header."""
    job = published[conf]
    small = shrunk(job.config, registry.options(job.experiment)())
    text = OmegaConf.to_yaml(files.options(small))
    folder = tmp_path / "given" / "conf"
    folder.mkdir(parents=True)
    (folder / "small.yaml").write_text(
        f"# @package _global_\n# {conf}, small.\ndefaults:\n  - /schema/{job.experiment}\n  - _self_\n\n{text}"
    )
    words = ["--config-dir", str(folder.parent), "conf=small", f"output={tmp_path / 'run'}", "wandb.mode=disabled"]
    assert main(words) == 0
    assert len(pandas.read_csv(tmp_path / "run" / "table.csv")) >= len(registry.load(job.experiment).points(small))
    assert (tmp_path / "run" / "figure.svg").stat().st_size > 1000
