"""The command `python -m experiments.check [NAME or ./FOLDER ...]`: holds experiments to their contract."""

import contextlib
import copy
import io
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields, replace
from pathlib import Path
from types import ModuleType
from typing import Any
from unittest import mock

import pandas

from experiments import contract, run
from experiments.contract import InputError, Point, Row
from experiments.figures import saving
from experiments.runner import boundary, compose, planning, registry, results, session, tables
from experiments.runner.job import Job
from experiments.runner.words import split
from experiments.shared import axes
from experiments.system import files, provenance

USAGE = """\
usage: python -m experiments.check [NAME or ./FOLDER ...]

Holds experiments (default: the folder here) to their contract: options that are read at once, points and rows that fit
together, a table that is the same however often the run is stopped, no option that nothing reads, a summary of numbers,
a figure with named axes."""
MEASURING = ("points", "refine", "inputs", "pieces", "measure_piece", "measure")
"""Functions of an experiment on which rows depend."""
RUNS = "it runs"
"""Claim without which no later one can be told."""
HEAVY = ("jax", "pandas", "matplotlib", "scipy", "sklearn")


class UnmetError(Exception):
    """Error of an experiment that does not keep a part of its contract; the message says what is wrong."""


class DoubtError(UnmetError):
    """Error of an experiment in which a contract may be kept and a slip would look the same; the message says where."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run `experiments.check` on the given words, by default the command line's. Returns the exit code."""
    return boundary.run_command(lambda: _check_all(sys.argv[1:] if argv is None else list(argv)))


def process() -> int:
    """Run the command line of this process, which ends with the exit code returned."""
    return boundary.run_command(lambda: _check_all(sys.argv[1:]), final=True)


def _check_all(words: Sequence[str]) -> int:
    if set(words) & {"-h", "--help"}:
        print(USAGE)
        return 0
    failures = 0
    for word in words or ["./"]:
        folder = Path(os.path.expanduser(word)).absolute() if os.sep in word else None
        if folder is not None and not (folder / "conf").is_dir():
            raise InputError(f"FOLDER must hold the folders conf and experiments, got {folder}")
        with registry.outside(folder), tempfile.TemporaryDirectory() as scratch:
            failures += _check(f"conf={word}", Path(scratch))
    return 1 if failures else 0


def _check(conf: str, scratch: Path) -> int:
    """Say of every claim whether it holds; returns how many do not."""
    words, flags = split([conf])
    with session.opened(Path(flags["folder"]) if "folder" in flags else None):
        job = compose.jobs(words, sweep=False)[0]
    experiment = registry.load(job.experiment)
    whole, halves = scratch / "whole", scratch / "halves"
    claims: list[tuple[str, Callable[[], Any]]] = [
        ("config.py imports nothing heavy", lambda: _light(job.experiment)),
        ("experiment.py defines what the runner calls", lambda: _defines(experiment)),
        ("points are flat and different from each other", lambda: _flat(experiment.points(job.config))),
        ("science is JSON", lambda: files.encode(provenance.constants(job.config))),
        (RUNS, lambda: _run(conf, whole)),
        ("all rows have the same columns", lambda: _even(job, whole)),
        ("columns.py declares every column", lambda: _declared(job.experiment, whole)),
        ("every option is read", lambda: _read(conf, experiment, job, scratch / "read")),
        ("a run that was stopped ends with the same table", lambda: _stopped(conf, experiment, job, whole, halves)),
        ("the table has the x-axis, the summary numbers", lambda: _sound(job.experiment, experiment, whole)),
        ("the figure names its axes", lambda: _figure(experiment, whole)),
    ]
    failed = 0
    for claim, hold in claims:
        try:
            hold()
            print(f"{job.experiment}: {claim}: yes")
        except DoubtError as doubt:
            print(f"{job.experiment}: {claim}: not all of them ({doubt})")
        except Exception as error:  # noqa: BLE001 - a user-defined experiment may raise anything
            failed += 1
            why = error if isinstance(error, UnmetError) else boundary.one_line(error)
            print(f"{job.experiment}: {claim}: no ({why})")
            if claim == RUNS or not isinstance(error, UnmetError | AttributeError):
                break
    return failed


def _require(condition: Any, otherwise: str) -> None:
    """Check that a condition holds, also under `python -O`; else UnmetError with the message `otherwise`."""
    if not condition:
        raise UnmetError(otherwise)


def _light(name: str) -> None:
    program = f"import sys; from experiments.runner import registry; registry.options({name!r}); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise UnmetError(done.stderr.strip().splitlines()[-1])
    heavy = sorted(set(HEAVY) & set(done.stdout.split()))
    _require(not heavy, f"it imports {', '.join(heavy)}")


def _defines(experiment: ModuleType) -> None:
    _require(experiment.__doc__, "experiment.py has no docstring, which is what its report says it measures")
    for name in contract.REQUIRED:
        _require(hasattr(experiment, name), f"{name} is missing")


def _flat(points: Sequence[Point]) -> None:
    _require(points, "there are none")
    texts = [json.dumps(point, sort_keys=True) for point in points]
    _require(len(set(texts)) == len(texts), "two are equal")
    _require(not (names := axes.differing(points)), f"only some have {', '.join(names)}")
    for name, value in (entry for point in points for entry in point.items()):
        _require(isinstance(value, str | int | float | bool | None), f"{name} is neither a number nor a text")


def _run(conf: str, target: Path) -> None:
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = run.main([conf, f"output={target}", "wandb.mode=disabled"])
    if code != 0:
        raise UnmetError(said.getvalue().strip().splitlines()[-1])


def _even(job: Job, whole: Path) -> None:
    """Check that all rows have the same columns; else DoubtError: a name is misspelt, or rows are of several kinds."""
    plan = planning.plan(replace(job, config=replace(job.config, output=str(whole))))
    if names := axes.differing(plan.ledger.rows(plan.points)):
        raise DoubtError(f"only some have {', '.join(names)}; a name may be misspelt")


def _declared(name: str, whole: Path) -> None:
    """Check that columns.py is there, and the table has all that it declares; else DoubtError. Runs refuse others."""
    declared = registry.columns(name)
    if declared is None:
        raise DoubtError("columns.py is missing, so that no report says what they mean")
    table = pandas.read_csv(whole / "table.csv", nrows=1)
    if unused := [column for column in declared if "*" not in column and column not in table]:
        raise DoubtError(f"this run has none of {', '.join(unused)}")


def _stopped(conf: str, experiment: Any, job: Job, whole: Path, halves: Path) -> None:
    measure, half = experiment.measure, max(1, len(experiment.points(job.config)) // 2)

    def torn(config: Any, points: Sequence[Point]) -> Iterator[Row]:
        for number, row in enumerate(measure(config, points)):
            if number == half:
                raise KeyboardInterrupt
            yield row

    experiment.measure = torn
    try:
        with contextlib.suppress(UnmetError):
            _run(conf, halves)
    finally:
        experiment.measure = measure
    _run(conf, halves)
    whole_table, other = ((folder / "table.csv").read_bytes() for folder in (whole, halves))
    _require(whole_table == other, "it is another one")


def _read(conf: str, experiment: ModuleType, job: Job, target: Path) -> None:
    """Measure with a configuration that knows which of its options were read."""
    kind, read = type(job.config), set()

    class Watched(kind):
        def __getattribute__(self, name: str) -> Any:
            read.add(name)
            return super().__getattribute__(name)

        def __reduce__(self) -> Any:  # another process gets the options
            return copy.copy, (_of_class(kind, self),)

    def watching(function: Callable) -> Callable:
        return lambda config, *others: function(_of_class(Watched, config), *others)

    functions: dict[str, Any] = {
        name: watching(function) for name in MEASURING if (function := getattr(experiment, name, None))
    }
    with mock.patch.multiple(experiment, **functions):
        _run(conf, target)
    read |= {common.name for common in fields(contract.Config)}
    used = {entry.name: entry.metadata.get("used_when") for entry in fields(kind) if entry.name not in read}
    unread = [name for name, use in used.items() if use is None or use.met(job.config, experiment)]
    _require(not unread, f"nothing that measures reads {', '.join(unread)}")


def _of_class(kind: type, config: Any) -> Any:
    """A copy of a configuration that is an instance of a related class."""
    other = object.__new__(kind)
    vars(other).update(vars(config))
    return other


def _sound(name: str, experiment: ModuleType, whole: Path) -> None:
    table = tables.read(whole, name)
    _require(experiment.X_AXIS in table, f"X_AXIS {experiment.X_AXIS} is no column")
    scalars = json.loads((whole / "summary.json").read_text(encoding="utf-8")).get("scalars", {})
    for scalar, value in scalars.items():
        fits = value is None or isinstance(value, str) or (isinstance(value, int | float) and math.isfinite(value))
        _require(fits, f"scalar {scalar} is {value!r}")


def _figure(experiment: ModuleType, whole: Path) -> None:
    _, figure = saving.build_figure(experiment.panels, *results.read(whole, experiment), contract.Figure())
    shown = [ax for ax in figure.axes if ax.axison and ax.get_label() != "<colorbar>" and ax.has_data()]
    for ax in shown:
        _require(ax.get_xlabel() or ax.get_title(loc="left") or ax.get_title(), "an axis has no name")


if __name__ == "__main__":
    sys.exit(process())
