"""List of runs: what lies in the folders of results, read without the library."""

import json
import math
import os
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from experiments import contract
from experiments.runner import folders, locks

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
    headlines: dict[str, tuple[float | None, float | None]]
    """Value and error of every headline number, by name."""
    size: int
    """Bytes of all files."""
    state: str
    """complete, interrupted or running."""
    further: int
    science: str


def find(folder: Path) -> list[Run]:
    """Runs in a folder and its subfolders, newest first."""
    runs = [run for place in _folders(folder) if (run := _read_run(place)) is not None]
    return sorted(runs, key=lambda run: (-run.when, run.path))


def has_key(run: Run, key: str) -> bool:
    """Whether a condition on a key can be met: `state`, `conf`, `experiment` or the name of an option of the run."""
    return key in ("state", "conf", "experiment", *run.differs) or _option(run, key, missing=run) is not run


def is_selected(run: Run, conditions: dict[str, str]) -> bool:
    """Whether a run meets conditions: `state`, `conf`, `experiment` or the value of an option."""
    for key, wanted in conditions.items():
        known = {"state": run.state, "conf": run.conf, "experiment": run.experiment}
        value = known[key] if key in known else run.differs[key] if key in run.differs else _option(run, key)
        spelled = wanted in (folders.words(value), json.dumps(value), str(value)) or _means_value(wanted, value)
        if value is None or not spelled:
            return False
    return True


def _means_value(words: str, value: Any) -> bool:
    """Whether words of the command line mean a number or list of that value, as `[1,8]` does [1.0, 8.0]."""
    try:
        if isinstance(value, list):
            return yaml.safe_load(words) == value
        return isinstance(value, int | float) and not isinstance(value, bool) and float(words) == value
    except (ValueError, yaml.YAMLError):
        return False


def _option(run: Run, key: str, missing: Any = None) -> Any:
    """Value of an option in the configuration of a run, `missing` if the option is absent."""
    try:
        value = yaml.safe_load((Path(run.path) / "config.yaml").read_text(encoding="utf-8"))
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
    named = list(headlines(run))
    for line in named[:most]:
        yield f"    {line}"
    if len(named) > most:
        yield f"    ... and {len(named) - most} more"


def headlines(run: Run) -> Iterator[str]:
    """Headline numbers with their errors, as the run itself prints them."""
    for name, (value, error) in run.headlines.items():
        text = "unknown" if value is None else f"{value:.5g}"
        if value is not None and error is not None:
            text += f" ± {error:.2g}" if math.isfinite(error) else " (error unknown)"
        yield f"{name}: {text}"


def _folders(folder: Path) -> Iterator[Path]:
    for place, inner, names in os.walk(folder):
        inner[:] = sorted(name for name in inner if name not in ("ledger", "wandb", "checkpoints"))
        if folders.RECORD in names:
            yield Path(place)


def _read_run(place: Path) -> Run | None:
    record = folders.read(place)
    if record is None:
        return None
    state = "running" if locks.is_held(place) else "complete" if record.complete else "interrupted"
    done = record.points if record.complete else min(_count_rows(place), record.points)
    every = [path for path in place.rglob("*") if path.is_file()]
    when = max((path.stat().st_mtime for path in (*place.glob("ledger/*"), *place.glob("*.*"))), default=0.0)
    return Run(
        path=str(place),
        conf=record.conf,
        experiment=record.experiment,
        when=when,
        differs=record.differs,
        done=done,
        points=record.points,
        headlines=_scalars(place) if record.complete else {},
        size=sum(path.stat().st_size for path in every),
        state=state,
        further=record.further,
        science=record.science,
    )


def _count_rows(place: Path) -> int:
    """Number of rows of a ledger, each key once. Damaged rows count until they are measured again."""
    keys = set()
    for path in place.glob("ledger/*.jsonl"):
        with path.open("rb") as file:
            keys |= {match[1] for line in file if line.endswith(b"\n") and (match := _KEY.match(line))}
    return len(keys)


def _scalars(place: Path) -> dict[str, tuple[float | None, float | None]]:
    try:
        scalars = json.loads((place / "summary.json").read_text(encoding="utf-8")).get("scalars", {})
        scalars = {name: value for name, value in scalars.items() if value is None or isinstance(value, int | float)}
        values = {name: value for name, value in scalars.items() if not name.endswith(contract.ERROR)}
        return {name: (value, scalars.get(f"{name}{contract.ERROR}")) for name, value in values.items()}
    except (OSError, ValueError, AttributeError):
        return {}


def _bytes(size: float) -> str:
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.3g} {unit}"
        size /= 1000
    return f"{size:.3g} GB"
