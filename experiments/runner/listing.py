"""List of runs: what lies in the folders of results, read without the library."""

import contextlib
import json
import os
import re
import stat
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from experiments.contract import Row
from experiments.figures.sentences import sentences
from experiments.runner import boundary, folders, locks, yaml_files
from experiments.system import files

LARGEST = 2**28
"""Bytes of a summary at most."""
STATES = ("complete", "interrupted", "running")
_KEY = re.compile(rb'^\{"key":"?([^",]+)')


class Run(NamedTuple):
    """Run that a folder holds results of."""

    path: str
    conf: str
    experiment: str
    when: float
    """Time of the last change, in seconds since 1970."""
    differs: dict[str, Any]
    done: int
    points: int
    estimates: list[Row]
    """The headlines of its estimates."""
    said: list[str]
    """The same as the run itself prints them."""
    size: int
    """Bytes of all files."""
    state: str
    """complete, interrupted or running."""
    further: int
    science: str


def find(folder: Path) -> tuple[list[Run], list[str]]:
    """Runs in a folder and its subfolders, newest first, and a line for each that cannot be read."""
    runs, bad = [], []
    for place in _folders(folder):
        try:
            run = _read_run(place)
            list(lines(run))  # whatever is of another type is told here
            runs.append(run)
        except (OSError, ValueError, TypeError, AttributeError, RecursionError, OverflowError) as error:
            bad.append(f"{folders.shown(place)}: cannot be read ({boundary.one_line(error)})")
    return sorted(runs, key=lambda run: (-run.when, run.path)), bad


def has_key(run: Run, key: str) -> bool:
    """True if a condition on a key can be met: `state`, `conf`, `experiment` or the name of an option of the run."""
    return key in ("state", "conf", "experiment", *run.differs) or _option(run, key, missing=run) is not run


def is_selected(run: Run, conditions: dict[str, str]) -> bool:
    """True if a run meets conditions: `state`, `conf`, `experiment` or the value of an option."""
    for key, wanted in conditions.items():
        known = {"state": run.state, "conf": run.conf, "experiment": run.experiment}
        value = known[key] if key in known else run.differs[key] if key in run.differs else _option(run, key)
        spelled = wanted in (folders.words(value), json.dumps(value), str(value)) or _means_value(wanted, value)
        if value is None or not spelled:
            return False
    return True


def _means_value(words: str, value: Any) -> bool:
    """True if words of the command line mean a number or list of that value, as `[1,8]` does [1.0, 8.0]."""
    try:
        if isinstance(value, list):
            return yaml.safe_load(words) == value
        return isinstance(value, int | float) and not isinstance(value, bool) and float(words) == value
    except (ValueError, yaml.YAMLError):
        return False


def _option(run: Run, key: str, missing: Any = None) -> Any:
    """Value of an option in the configuration of a run, `missing` if the option is absent."""
    try:
        value = yaml_files.data(Path(run.path) / "config.yaml")
        for part in key.split("."):
            value = value[part]
    except (OSError, ValueError, yaml.YAMLError, TypeError, KeyError, RecursionError):
        return missing
    return value


def lines(run: Run, most: int = 3) -> Iterator[str]:
    """A run in words: where and in what state, options that differ, the first of its headline numbers."""
    when = datetime.fromtimestamp(run.when).strftime("%Y-%m-%d %H:%M")
    yield f"{run.path}: {run.state}, {run.done} of {run.points} points, {_bytes(run.size)}, {when}"
    options = " ".join(f"{name}={folders.words(value)}" for name, value in run.differs.items())
    yield f"    {run.conf}: {options or 'no option differs'}"
    for line in run.said[:most]:
        yield f"    {line}"
    if len(run.said) > most:
        yield f"    ... and {len(run.said) - most} more"


def _folders(folder: Path) -> Iterator[Path]:
    for place, inner, names in os.walk(folder):
        inner[:] = sorted(name for name in inner if name not in ("ledger", "wandb", "checkpoints"))
        if folders.RECORD in names:
            yield Path(place)


def _read_run(place: Path) -> Run:
    record = folders.load(place)
    state = "running" if locks.is_held(place) else "complete" if record.complete else "interrupted"
    done = record.points if record.complete else min(_count_rows(place), record.points)
    sizes, times = [0], [0.0]
    for path in place.rglob("*"):
        with contextlib.suppress(FileNotFoundError):  # of a run that goes on meanwhile; a link to nothing
            status = path.stat()
            sizes.append(status.st_size if stat.S_ISREG(status.st_mode) else 0)
            if path.parent == place / "ledger" or (path.parent == place and "." in path.name[1:]):
                times.append(status.st_mtime)
    estimates = _headlines(place) if record.complete else []
    return Run(
        path=folders.shown(place),
        conf=record.conf,
        experiment=record.experiment,
        when=max(times),
        differs=record.differs,
        done=done,
        points=record.points,
        estimates=estimates,
        said=sentences(estimates),
        size=sum(sizes),
        state=state,
        further=record.further,
        science=record.science,
    )


def _count_rows(place: Path) -> int:
    """Number of rows of a ledger, each key once. Damaged rows count until they are measured again."""
    keys = set()
    for path in (path for path in place.glob("ledger/*.jsonl") if path.is_file()):
        with path.open("rb") as file:
            keys |= {match[1] for line in file if line.endswith(b"\n") and (match := _KEY.match(line))}
    return len(keys)


def _headlines(place: Path) -> list[Row]:
    try:
        held = files.read_json(place / "summary.json", LARGEST).get("estimates", [])
        return [dict(row) for row in held if row["headline"]]
    except (OSError, ValueError, AttributeError, TypeError, KeyError):
        return []


def _bytes(size: float) -> str:
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} GB"
