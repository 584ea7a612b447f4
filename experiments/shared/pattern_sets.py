"""Pattern sets of the experiments: a random ensemble, images that ship with scikit-learn, or a file."""

import os
import re
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from experiments.bounds import check_code, suggestion
from experiments.shared.parallel import locked_cache
from experiments.system import terminal
from hopfield import outside
from hopfield.patterns import datasets, sources

RANDOM = "random"
GENERATED = "generated"
"""Random spins that are drawn again whenever they are read, and never stored."""
DRAWN = (RANDOM, GENERATED)
UNIT_NORM = ("sphere", "gaussian", "spins")
"""Random ensembles of patterns of norm 1, for experiments against κ."""
MAPPED = "mapped:"
"""Prefix of the path of a .npy file whose spins stay in the file."""
IMAGES: dict[str, tuple[Callable, Callable]] = {
    "digits": (datasets.digits, datasets.digits),
    "photographs": (
        partial(datasets.photograph_patches, count=2000),
        partial(datasets.photograph_patches, count=10_000),
    ),
}
"""Images that ship, by name: those that are stored as patterns, which may be binary, and those to take pixels from."""


def is_streamed(ensemble: str) -> bool:
    """True if patterns are passed over block by block instead of being stored."""
    return ensemble == GENERATED or ensemble.startswith(MAPPED)


def stream(ensemble: str, key: Array, num_patterns: int, neurons: int) -> sources.Source:
    """The source that hands out `num_patterns` spins of width `neurons`, see `hopfield.patterns.sources`."""
    if ensemble == GENERATED:
        return sources.Generated(key, "spins", num_patterns, neurons)
    return _mapped(ensemble)


def _mapped(ensemble: str) -> sources.Mapped:
    return sources.Mapped(os.path.expanduser(ensemble.removeprefix(MAPPED)))


def shape(ensemble: str, spins: bool = False) -> tuple[int, int]:
    """M and N, the numbers of patterns and of neurons of an ensemble that is not random."""
    mapped = ensemble.startswith(MAPPED)
    patterns = _mapped(ensemble) if mapped else _load(ensemble, spins, _state(ensemble))
    return patterns.shape[0], patterns.shape[1]


def check_spins(ensemble: str) -> None:
    """Check that every number of a mapped file, read block by block, is +1 or −1; else ValueError."""
    _check_spins(ensemble, _state(ensemble.removeprefix(MAPPED)))


@locked_cache(8)
def _check_spins(ensemble: str, state: tuple[int, ...] | None) -> None:
    file = _mapped(ensemble).file
    size = max(1, 2**24 // file.shape[1])
    blocks = (file[first : first + size] for first in range(0, len(file), size))
    _say_repeated(ensemble, len(file), _count_repeated(blocks), state)
    for first in range(0, len(file), size):
        wrong = np.abs(file[first : first + size]) != 1
        if np.any(wrong):
            row, column = np.argwhere(wrong)[0]
            value = file[first + row, column]
            raise ValueError(f"ensembles must hold spins, +1 or -1, got {value:g} in row {first + row} of {ensemble}")


def load(ensemble: str, spins: bool) -> Array:
    """Real patterns [M, N]: as spins, or each centred and scaled to the norm √N of spins.

    Spins are cut at half of full grey for digits, else at the own median of a pattern.

    Args:
        ensemble: digits (1797 of 8 × 8), photographs (2000 patches of 8 × 8), or the path of an .npy or .npz file.
        spins: whether the memory lives on spins.
    Raises:
        ValueError: the file is not a matrix of finite numbers, in one sentence.
    """
    return _load(ensemble, spins, _state(ensemble))


def load_to_measure(ensemble: str, spins: bool) -> Array:
    """Patterns as `load` gives them, for a measurement. Prints once that real patterns are centred."""
    if not spins and ensemble not in IMAGES:
        _say_centred(ensemble, _state(ensemble))
    return load(ensemble, spins)


def _read(ensemble: str) -> Array:
    """Patterns of a data file, or the return value of a user's function."""
    outer = None if Path(os.path.expanduser(ensemble)).is_file() else outside.find("datasets", ensemble)
    if outer is None:
        check_code("ensembles", ensemble)
        if ensemble.isidentifier() and not Path(ensemble).exists():
            known, near = f"{', '.join(IMAGES)} or a file", suggestion(ensemble, (*IMAGES, *DRAWN, *UNIT_NORM))
            raise ValueError(f"ensembles must be a name that --help lists, as {known}, got {ensemble!r}{near}")
        return datasets.from_file(ensemble)
    patterns = outer.value
    patterns = outside.called(ensemble, ensemble, patterns) if callable(patterns) else patterns
    if np.ma.is_masked(patterns):
        raise ValueError(f"{ensemble} must return finite numbers [M, N], got masked ones")
    patterns = np.asarray(patterns)
    if patterns.ndim != 2 or patterns.dtype.kind not in "biuf" or not np.isfinite(patterns).all():
        got = f"{patterns.dtype} of shape {patterns.shape}"
        raise ValueError(f"{ensemble} must return finite numbers [M, N], got {got}")
    kind = jnp.result_type(float)
    if not (np.abs(patterns.astype(np.float64)) <= float(jnp.finfo(kind).max)).all():
        raise ValueError(f"{ensemble} must return numbers that {kind} can hold, got {np.abs(patterns).max():g}")
    return jnp.asarray(patterns, kind)


def _state(ensemble: str) -> tuple[int, ...] | None:
    """State of a file, part of the key of cached arrays. None for images of the package."""
    try:
        status = os.stat(os.path.expanduser(re.sub(r"(\.py):.*", r"\1", ensemble)))
    except (OSError, ValueError):
        return None
    return status.st_ino, status.st_size, status.st_mtime_ns


@locked_cache(8)
def _load(ensemble: str, spins: bool, state: tuple[int, ...] | None) -> Array:
    if ensemble in IMAGES:
        images = IMAGES[ensemble][0](binary=spins)
        used = images if spins else datasets.standardise(images)
    else:
        used = patterns = _read(ensemble)
        if not (spins and np.isin(patterns, (-1, 1)).all()):
            used = datasets.to_spins(patterns) if spins else datasets.standardise(patterns)
            _check_contrast(ensemble, patterns, used)
            if spins:
                _say_cut(ensemble, np.asarray(patterns, np.float64))
    repeated = _count_repeated([used])
    lost = spins and ensemble not in IMAGES and repeated != _count_repeated([patterns])
    _say_repeated(f"{ensemble} as spins" if lost else ensemble, len(used), repeated, state)
    return used


def _say_cut(ensemble: str, patterns: np.ndarray) -> None:
    """Print the range of real patterns and the thresholds at which they were cut to spins."""
    cuts = np.median(patterns, axis=1)
    terminal.say(
        f"{ensemble} holds numbers from {patterns.min():g} to {patterns.max():g}: for memories of spins each pattern is"
        f" cut at its own median ({cuts.min():.3g} to {cuts.max():.3g}), +1 at or above it, its least number always -1"
    )


@locked_cache(64)
def _say_centred(ensemble: str, state: tuple[int, ...] | None) -> None:
    patterns = np.asarray(_read(ensemble), np.float64)
    means = patterns.mean(axis=1)
    if np.abs(means).max() > 1e-5 * np.abs(patterns).max():
        taken = f"its own mean ({means.min():.3g} to {means.max():.3g}) is taken off"
        terminal.say(f"of each pattern of {ensemble} {taken} before it is scaled")


def _count_repeated(blocks: Iterable) -> int:
    """Number of patterns that are equal to others before them."""
    codes = []
    for block in blocks:
        rows = np.asarray(block) + 0  # of both zeros one
        data, width = rows.tobytes(), rows.shape[1] * rows.itemsize
        codes += [np.fromiter((hash(data[i : i + width]) for i in range(0, len(data), width)), np.int64, len(rows))]
    whole = np.concatenate(codes)
    return len(whole) - len(np.unique(whole))


@locked_cache(64)  # once for all memories, on spins or not, and whatever precision they are read in
def _say_repeated(ensemble: str, count: int, repeated: int, state: tuple[int, ...] | None) -> None:
    """Say how many patterns are equal to others: one that is stored twice has twice its weight, and counts twice.

    Args:
        ensemble: its name.
        count: number of its patterns.
        repeated: of them, those that are equal to others before them.
        state: its file's state; a changed file is reported again.
    """
    if repeated:
        terminal.say(
            f"warning: of the {count} patterns of {ensemble} {repeated} are equal to others before them;"
            " one that is stored twice has twice the weight, and counts twice in the load"
        )


def _check_contrast(ensemble: str, patterns: Array, used: Array) -> None:
    """Check that no pattern is used as one number everywhere, as zero or as spins that say nothing; else ValueError."""
    flat = np.flatnonzero(np.ptp(used, axis=1) == 0)
    if flat.size:
        value, others = float(patterns[flat[0], 0]), f" and {flat.size - 1} more" if flat.size > 1 else ""
        raise ValueError(f"{ensemble} must hold patterns with contrast, got {value:g} all over row {flat[0]}{others}")


def pixels(ensemble: str) -> Array:
    """Images [M, N] with their grey levels in [0, 1]. Numbers of a file are scaled from least to largest.

    Args:
        ensemble: digits (1797 of 8 × 8), photographs (10 000 patches of 8 × 8), or the path of an .npy or .npz file.
    Raises:
        ValueError: the file is not a matrix of finite numbers that differ, in one sentence.
    """
    return _pixels(ensemble, _state(ensemble))


@locked_cache(8)
def _pixels(ensemble: str, state: tuple[int, ...] | None) -> Array:
    if ensemble in IMAGES:
        return IMAGES[ensemble][1]()
    levels = _read(ensemble)
    grey = np.asarray(levels, np.float64)  # in which no difference of single precision overflows
    low, high = grey.min(), grey.max()
    if not high > low:
        raise ValueError(f"{ensemble} must hold images, got numbers that are all {low:g}")
    _say_repeated(ensemble, len(grey), _count_repeated([grey]), state)
    if (low, high) != (0.0, 1.0):
        terminal.say(f"{ensemble} holds numbers from {low:g} to {high:g}, which are scaled to grey levels from 0 to 1")
    return jnp.asarray((grey - low) / (high - low), levels.dtype)
