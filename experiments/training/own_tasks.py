"""User-defined tasks: labelled vectors in a file of data.

FILE.npz holds the arrays

    inputs     [N, F], or [N, T, F] where each example is T vectors: finite numbers of single precision
    targets    [N], the class of each example: whole numbers, each of them 5 times or more

and FILE.csv one example in each line, its class in the last column. Inputs are standardised, and split with the classes
in proportion, as scikit-learn's sets are.
"""

import os
import stat
from collections.abc import Callable
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from experiments.bounds import suggestion
from experiments.training.config import TASKS
from hopfield.patterns import datasets

LEAST = 5
"""Examples of a class at least, so that each of three parts has one."""


class Task(NamedTuple):
    """Task of real measurements.

    Attributes:
        examples, numbers, vectors: examples, numbers of each, and vectors that they make up.
        load: inputs and classes of `load(return_X_y=True)`.
        one_unit: whether all features share one unit.
    """

    examples: int
    numbers: int
    vectors: int
    load: Callable[..., Any]
    one_unit: bool = False


def task(name: str) -> Task:
    """The task of a file.

    Raises:
        ValueError: it is no such file, in one sentence that begins with tasks.
    """
    path = Path(os.path.expanduser(name))
    if path.suffix.lower() not in (".npz", ".csv"):
        known = f"any of {', '.join(TASKS)} or a file FILE.npz or FILE.csv"
        raise ValueError(f"tasks must be {known}, got {name!r}{suggestion(name, TASKS)}")
    try:
        state = path.stat()
    except OSError as error:
        raise ValueError(f"tasks must name a readable file, got {name} ({error.strerror})") from None
    if not stat.S_ISREG(state.st_mode):  # a pipe would be waited for
        raise ValueError(f"tasks must name a file of data, got {name}, which is none")
    return _task(name, path.absolute(), (state.st_size, state.st_mtime_ns))


@lru_cache(maxsize=8)
def _task(name: str, path: Path, state: tuple[int, int]) -> Task:
    inputs, targets = _arrays(name, path)
    if inputs.dtype.kind not in "biuf" or inputs.ndim not in (2, 3) or inputs.size == 0:
        got = f"{inputs.dtype} of shape {inputs.shape}"
        raise ValueError(f"tasks must hold inputs that are numbers [N, F] or [N, T, F], got {got} in {name}")
    if targets.ndim != 1 or len(targets) != len(inputs):
        raise ValueError(
            f"tasks must hold one class for each of the {len(inputs)} inputs, got targets {targets.shape} in {name}"
        )
    inputs = (inputs if inputs.ndim == 3 else inputs[:, None]).astype(np.float64)
    with np.errstate(over="ignore"):
        rows = np.flatnonzero(~np.isfinite(inputs.astype(np.float32)).all(axis=(1, 2)))
    if rows.size:
        raise ValueError(
            f"tasks must hold, in single precision, finite numbers, got others in row {rows[0]} of the inputs of {name}"
        )
    both = inputs, _classes(name, targets)
    return Task(len(inputs), inputs[0].size, inputs.shape[1], load=lambda return_X_y: both)


def _classes(name: str, targets: np.ndarray) -> np.ndarray:
    """Classes 0, 1, ... of targets [N]: the place of each among the distinct values."""
    numbers = targets.dtype.kind in "biuf"
    wrong = np.flatnonzero(~np.isfinite(targets) | (targets != np.rint(targets))) if numbers else np.zeros(1, int)
    if wrong.size:
        raise ValueError(f"tasks must hold whole numbers as targets, got {targets[wrong[0]]} in {name}")
    classes, places, counts = np.unique(targets, return_inverse=True, return_counts=True)
    if len(classes) < 2:
        raise ValueError(f"tasks must hold two classes at least, got {len(classes)} in {name}")
    if counts.min() < LEAST:
        rare = int(classes[counts.argmin()])
        raise ValueError(f"tasks must hold {LEAST} examples of every class, got {counts.min()} of {rare} in {name}")
    return places


def _arrays(name: str, path: Path) -> tuple[np.ndarray, np.ndarray]:
    """Inputs and targets of a file, unchanged."""
    try:
        if path.suffix.lower() == ".csv":
            table = np.asarray(datasets.from_file(path), np.float64)
            return table[:, :-1], table[:, -1]
        datasets.check_archive(path)
        with path.open("rb") as file, np.load(file, allow_pickle=False) as held:
            if not {"inputs", "targets"} <= set(held.files):
                names = ", ".join(held.files) or "nothing"
                raise ValueError(f"tasks must hold the arrays inputs and targets, got {names} in {name}")
            return held["inputs"], held["targets"]
    except datasets.UNSOUND as error:
        text = str(error)
        if text.startswith(("path ", "tasks ")):
            raise ValueError(text.replace("path ", "tasks ", 1)) from None
        raise ValueError(f"tasks must be a sound .npz file without pickled data, got {name}") from None
