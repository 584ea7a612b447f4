"""What every experiment shares: its configuration, how it is found, and how its files are written.

An experiment is one module `experiments/<name>.py` with

    @dataclass
    class Config(base.Config)                      smoke-scale defaults; __post_init__ raises ValueError for bad values
    def points(config) -> list[dict]               every point to measure, in the order of the table; flat, JSON scalars
    def science(config) -> dict                    all else that a point's numbers depend on (seed, probes, sweeps ...)
    def measure(config, points) -> Iterator[dict]  one row per given point, holding the point's keys; any order
    def summarise(table) -> dict                   summary.json; its "scalars" are printed and go to W&B as well
    def plot(table, summary) -> Figure             reads nothing but these two
    X_AXIS: str                                    the column of the table that is the physical x-axis

and one `conf/<name>.yaml` per published scale, with `defaults: [/schema/<experiment>, _self_]`.

Such a module imports jax, hopfield, pandas, scipy and matplotlib inside its functions, never at its top: the command
reads `Config` of every experiment before it knows what is asked of it, and `--help` has to answer at once.
"""

import dataclasses
import hashlib
import importlib
import json
import os
import pkgutil
import re
from collections.abc import Iterator, Sequence
from enum import Enum
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import experiments

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

ROOT = Path(__file__).resolve().parent.parent
SEED_LIMIT = 2**32
_CONTRACT = tuple(re.compile(rf"^{opening}", re.M) for opening in (r"class Config\b", r"def points\(", r"def measure\("))


class InputError(ValueError):
    """What the caller asked for cannot be done; the message is the one sentence that says why."""


def option(default: Any, help: str) -> Any:
    """A field of a Config with the line that `--help` shows for it (mutable defaults are copied per instance)."""
    if isinstance(default, list | dict) or dataclasses.is_dataclass(default):
        return dataclasses.field(default_factory=lambda: dataclasses_copy(default), metadata={"help": help})
    return dataclasses.field(default=default, metadata={"help": help})


def dataclasses_copy(value: Any) -> Any:
    """An independent copy of a default value."""
    if isinstance(value, list):
        return [dataclasses_copy(item) for item in value]
    if isinstance(value, dict):
        return {key: dataclasses_copy(item) for key, item in value.items()}
    return dataclasses.replace(value) if dataclasses.is_dataclass(value) and not isinstance(value, type) else value
