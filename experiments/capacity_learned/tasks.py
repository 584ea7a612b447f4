"""Tasks: ensembles of correlated patterns, their second moments, and corrupted queries of them."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from experiments.capacity_learned.config import RANDOM
from experiments.shared import corruptions, draws, parallel, pattern_sets
from experiments.shared.pattern_sets import IMAGES
from hopfield import patterns
from hopfield.patterns import corrupt
from hopfield.theory.base import flips

FLOOR = 1e-3
"""Addition to a second moment before it is inverted, in units of its mean eigenvalue."""


class Task(NamedTuple):
    """Ensemble with its number (exponent, mean or length; 0 for images), width N, and kind and amount of corruption."""

    ensemble: str
    number: float
    neurons: int
    corruption: str
    amount: float

    @property
    def spins(self) -> bool:
        """True if patterns are spins, as an answer then is taken to be."""
        return self.ensemble in RANDOM[1:]


@lru_cache(maxsize=64)
def task(text: str, neurons: int) -> Task:
    """The task of "ensemble/corruption". Raises ValueError for any other text."""
    ensemble, slash, corruption = text.partition("/")
    name, colon, number = ensemble.partition(":")
    try:
        value = float(number) if colon else 0.0
    except ValueError:
        value = np.nan
    ranges = {"gaussian": 0 <= value <= 8, "biased": -1 < value < 1, "correlated": 0 <= value <= 1e4}
    if not slash or not (ranges.get(name, False) if colon else name in IMAGES):
        raise ValueError(
            "tasks must be ensemble/corruption of gaussian:EXPONENT from 0 to 8, biased:MEAN between -1 and 1,"
            f" correlated:LENGTH from 0 to 1e4, {', '.join(IMAGES)}, got {text!r}"
        )
    kind, amount = corruptions.parts(corruptions.name(corruption))
    spins = name in RANDOM[1:]
    if kind not in (("flip", "mask", "lower") if spins else ("noise", "mask", "lower")) or not amount:
        allowed = "flip:, mask: or lower:" if spins else "noise:, mask: or lower:"
        raise ValueError(f"tasks must corrupt {name} by {allowed} and more than nothing, got {text!r}")
    return Task(name, value, neurons if name in RANDOM else _images(name).shape[1], kind, amount)


def _images(name: str) -> Any:
    """Grey levels of digits; patches of photographs less their own mean brightness, of equal contrast."""
    return pattern_sets.pixels(name) if name == "digits" else pattern_sets.load(name, spins=False)


def rows(task: Task) -> int | None:
    """Images of either half. None for random patterns."""
    return _images(task.ensemble).shape[0] // 2 if task.ensemble in IMAGES else None


@lru_cache(maxsize=64)
def second_moment(task: Task) -> np.ndarray:
    """E ξξᵀ [N, N] of the patterns: exact for random ensembles, the mean over all images for images."""
    n = task.neurons
    if task.ensemble == "gaussian":
        axes, levels = _axes(n), _levels(n, task.number)
        return (axes * levels) @ axes.T
    if task.ensemble == "biased":
        return task.number**2 + (1.0 - task.number**2) * np.eye(n)
    if task.ensemble == "correlated":
        apart = np.abs(np.arange(n)[:, None] - np.arange(n))
        return 2.0 / np.pi * np.arcsin(np.exp(-np.minimum(apart, n - apart) / max(task.number, 1e-6)))
    images = np.asarray(_images(task.ensemble), np.float64)
    return images.T @ images / len(images)


def query_moment(task: Task) -> np.ndarray:
    """E xxᵀ [N, N] of the corrupted patterns x."""
    moment, n = second_moment(task), task.neurons
    own, count = np.diag(np.diag(moment)), int(flips(task.amount, n))  # as many units of every query, none twice
    if task.corruption == "noise":
        return moment + task.amount**2 * np.eye(n)
    if task.corruption == "lower":
        shown = np.arange(n) < n - count
        return moment * np.outer(shown, shown)
    if task.corruption == "flip":
        return ((n - 2.0 * count) ** 2 - n) / (n * (n - 1.0)) * (moment - own) + own
    kept = (n - count) / n
    return kept * ((n - count - 1.0) / (n - 1.0) * (moment - own) + own)


def inverse(moment: np.ndarray) -> np.ndarray:
    """The inverse g of a second moment S, its eigenvalues lifted by FLOOR, with tr gS = tr S as for the identity."""
    n, trace = len(moment), np.trace(moment)
    metric = np.linalg.inv(moment + FLOOR * trace / n * np.eye(n))
    return metric * trace / np.sum(metric * moment)


def error_unit(task: Task) -> float:
    """Half the mean squared distance of two patterns, the unit of squared errors."""
    if task.ensemble in IMAGES:
        return float(np.asarray(_images(task.ensemble), np.float64).var(axis=0).sum())
    return float(task.neurons * (1.0 - task.number**2 if task.ensemble == "biased" else 1.0))


@lru_cache(maxsize=8)
def _axes(neurons: int) -> np.ndarray:
    """Principal axes of Gaussian patterns [N, N], columns, the same for every seed."""
    return np.linalg.qr(np.random.default_rng(neurons).standard_normal((neurons, neurons)))[0]


def _levels(neurons: int, exponent: float) -> np.ndarray:
    """Eigenvalues k^−exponent with mean one."""
    found = np.arange(1.0, neurons + 1.0) ** -exponent
    return found / found.mean()


def draw_patterns(task: Task, key: jax.Array, number: int, num_patterns: int, *, learning: bool) -> jax.Array:
    """Draws [number, M, N] of patterns; images of one half to learn from, of the other half to be measured."""
    make = _draw_program(task._replace(corruption="", amount=0.0), number, num_patterns, learning)
    return make(key)


@parallel.locked_cache(64)
def _draw_program(task: Task, number: int, num_patterns: int, learning: bool) -> Callable:
    half: Any = None
    if task.ensemble in IMAGES:
        images = np.asarray(_images(task.ensemble), np.float32)
        order = np.random.default_rng(0).permutation(len(images))
        half = images[order[: len(images) // 2] if learning else order[len(images) // 2 :]]
    root = (_axes(task.neurons) * np.sqrt(_levels(task.neurons, task.number))).astype(np.float32)

    def draw_once(key: jax.Array) -> jax.Array:
        if half is not None:
            return draws.patterns("", key, num_patterns, task.neurons, jnp.asarray(half))
        if task.ensemble == "gaussian":
            return patterns.gaussian(key, num_patterns, task.neurons) @ root.T
        return getattr(patterns, task.ensemble)(key, num_patterns, task.neurons, task.number)

    return jax.jit(lambda key: jax.lax.map(draw_once, jax.random.split(key, number)))


def corrupted(task: Task, key: jax.Array, targets: jax.Array, strength: float = 1.0) -> jax.Array:
    """Queries of patterns [..., N], corrupted by `strength` times the amount of the task, a fraction by 1 at most."""
    amount = strength * task.amount
    return _corruption_program(task.corruption)(
        key, targets, np.float32(amount if task.corruption == "noise" else min(amount, 1))
    )


@parallel.locked_cache(8)
def _corruption_program(kind: str) -> Callable:
    def every(key: jax.Array, targets: jax.Array, amount: jax.Array) -> jax.Array:
        rows = targets.reshape(-1, targets.shape[-1])
        keys = jax.random.split(key, len(rows))
        found = jax.vmap(lambda k, row: corrupt(k, row, kind, amount).state)(keys, rows)
        return found.reshape(targets.shape)

    return jax.jit(every)
