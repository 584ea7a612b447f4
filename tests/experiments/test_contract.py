"""The contract of every experiment, found by its folder.

Nothing here names an experiment or an option: a new one is held to all of it without an edit of this file.
"""

import ast
import contextlib
import dataclasses
import json
import math
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas
import pytest

from experiments import contract, plot
from experiments.bounds import Bounds
from experiments.runner import registry
from experiments.system import provenance
from tests.experiments.smoke import few

NAMES = registry.names()

pytestmark = pytest.mark.usefixtures("as_run")
every_experiment = pytest.mark.parametrize("name", NAMES)
finished = pytest.mark.exhaustive
"""Tests that need a finished run of each: some 15 seconds of compiling, by which the tests of one are cheaper."""


def is_timed(name: str) -> bool:
    """True if rows hold times, which no two measurements share: a module of its folder imports `time` or `timing`."""
    sources = (contract.ROOT / "experiments" / name).glob("*.py")
    nodes = [node for path in sources for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
    imports = [node for node in nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    return any(alias.name in ("time", "timing") for node in imports for alias in node.names)


def results(directory: Path) -> dict[str, bytes]:
    return {name: (directory / name).read_bytes() for name in ("table.csv", "summary.json", "estimates.csv")}


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


@finished
@every_experiment
def test_every_declared_column_is_in_the_table_or_written_by_the_code(smoke: Callable[[str], Path], name: str) -> None:
    """Rows with columns that are not declared are refused, so that a smoke run shows the other half."""
    declared, table = registry.columns(name), pandas.read_csv(smoke(name) / "table.csv")
    assert declared is not None
    sources = (contract.ROOT / "experiments" / name).glob("*.py")
    told = "".join(path.read_text(encoding="utf-8") for path in sources)
    written = lambda column: told.count(f'"{column.removesuffix("_*")}') > 1  # beside its declaration
    assert [column for column in declared if column not in table and not written(column)] == []


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
    assert plot.main([str(tmp_path), f"figure.format=[{','.join(contract.FORMATS)}]"]) == 0
    for suffix in contract.FORMATS:
        assert (tmp_path / f"figure.{suffix}").stat().st_size > 1000


@finished
@every_experiment
def test_a_summary_is_rows_of_finite_numbers_that_are_told_apart(smoke: Callable[[str], Path], name: str) -> None:
    def refuse(word: str) -> float:
        raise AssertionError(f"{word} is not JSON")

    held = json.loads((smoke(name) / "summary.json").read_text(), parse_constant=refuse)
    rows = held["estimates"]
    assert any(row["headline"] for row in rows)
    named = [tuple((key, str(value)) for key, value in row.items() if key not in contract.NUMBERS) for row in rows]
    assert len(set(named)) == len(named), "two rows of one quantity with the same columns"
    assert len(pandas.read_csv(smoke(name) / "estimates.csv")) == len(rows)
    for line in held["lines"]:
        assert {"quantity", "x", "y"} <= {*line}
    nameless = {row["quantity"] for row in rows if {"theory", "limit"} & {*row} and "kind" not in row}
    assert nameless == set(), "theory that does not say its kind"


IMMATERIAL = {("training", "save_every")}
"""Options on which no number of a table depends: how often a run is saved."""


def others(value: Any) -> list[Any]:
    """Values near an option's; none for what is no single number."""
    if type(value) is bool:
        return [not value]
    if type(value) is int:
        return [value + 1, 2 * value, value // 2]
    return [value + 1, value + 0.25, value / 2] if type(value) is float else []


@every_experiment
def test_another_value_of_any_option_is_other_science_or_other_points(name: str) -> None:
    """The ledger must never take a row that was measured with another value for one of this."""
    usual, experiment = registry.options(name)(), registry.load(name)
    before = provenance.constants(usual), experiment.points(usual)
    same, tried = [], 0
    for option in (entry.name for entry in dataclasses.fields(usual)):
        for value in others(getattr(usual, option)) if option not in ("overwrite", "dry", "shard") else []:
            with contextlib.suppress(ValueError):
                changed = dataclasses.replace(usual, **{option: value})
                contract.check(experiment, changed)
                tried += 1
                same += [option] if (provenance.constants(changed), experiment.points(changed)) == before else []
                break
    assert tried
    assert {(name, option) for option in same} <= IMMATERIAL


def out_of_bounds(name: str) -> Iterator[tuple[str, Any]]:
    """Every option of an experiment whose least value is declared, with a value below it."""
    for entry in dataclasses.fields(registry.options(name)):
        bounds = entry.metadata.get("bounds", Bounds())
        least = bounds.above if bounds.least is None else bounds.least
        if least is not None and least > -math.inf and "dict" not in str(entry.type):
            value = math.floor(least) - 1
            yield entry.name, [value] if "list" in str(entry.type) else value


@every_experiment
def test_a_value_beyond_its_bounds_is_refused_by_its_name(name: str) -> None:
    for option, value in out_of_bounds(name):
        with pytest.raises(ValueError, match=f"^{option} must "):
            registry.options(name)(**{option: value})
