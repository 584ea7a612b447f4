"""Read-outs of stored images from corrupted ones, compiled: the measurement behind the comparison of separations."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import NamedTuple, cast

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from experiments.separation import memories
from experiments.separation.config import BOUND
from experiments.shared import pattern_sets
from experiments.shared.draws import keys, numbers_and_keys, patterns
from hopfield import Memory, retrieve
from hopfield.patterns import corrupt

TOGETHER = 8
"""Number of readings, of a draw at a β each, that one call to the device does."""
SETTLED = 1e-3
"""Relative step that ends a repeated read-out."""


class Task(NamedTuple):
    """Task: patterns stored and how they are asked for. A draw depends on the seed, N, M and its own number alone."""

    ensemble: str
    num_patterns: int
    padding: int
    queries: int
    kind: str
    amount: float


class Reader(NamedTuple):
    """Structure that is compiled for a pair. Everything else is traced."""

    similarity: str
    separation: str
    iterated: bool
    max_steps: int


class Scale(NamedTuple):
    """The units of an ensemble: of β for a similarity, and of squared errors."""

    gap: float
    distance: float
    """Mean squared distance between two images."""


class Draws(NamedTuple):
    """Stored images [K, M, N] in use [M], queries [K, Q, N] of the first of them, pixels shown [K, Q, N]."""

    stored: jax.Array
    used: jax.Array
    queries: jax.Array
    visible: jax.Array


@lru_cache(maxsize=64)
def scale(ensemble: str, similarity: str) -> Scale:
    """Units from up to 300 images of an ensemble, the same in every run."""
    images = np.asarray(pattern_sets.pixels(ensemble), np.float64)
    some = images[np.random.default_rng(0).permutation(len(images))[:300]]
    spread = 2.0 * images.var(axis=0).sum() * len(images) / max(1, len(images) - 1)
    return Scale(1.0 if similarity == BOUND[0] else memories.gap(similarity, some.astype(np.float32)), float(spread))


@lru_cache(maxsize=2)
def draws(task: Task, seed: int, samples: tuple[int, ...]) -> Draws:
    """Draws of a task by their numbers."""
    images = np.asarray(pattern_sets.pixels(task.ensemble), np.float32)
    numbers = np.asarray(samples, np.uint32)
    made = _draw_program(task.padding, task.queries, task.kind)
    return made(images, np.uint32(seed), np.uint32(task.num_patterns), np.float32(task.amount), numbers)


@lru_cache(maxsize=64)
def _draw_program(padding: int, queries: int, kind: str) -> Callable:
    def draw_sample(
        images: Array, seed: Array, num_patterns: Array, amount: Array, sample: Array
    ) -> tuple[Array, Array, Array]:
        pattern_key, query_key = keys(seed, images.shape[1], num_patterns, sample)
        stored = patterns("", pattern_key, padding, images.shape[1], images)
        _, each = numbers_and_keys(query_key, queries)
        asked = jax.vmap(lambda key, image: corrupt(key, image, kind, amount))(each, stored[:queries])
        return stored, asked.state, asked.known

    def several(images: Array, seed: Array, num_patterns: Array, amount: Array, samples: Array) -> Draws:
        made = jax.lax.map(lambda sample: draw_sample(images, seed, num_patterns, amount, sample), samples)
        return Draws(made[0], jnp.arange(padding) < num_patterns, *made[1:])

    return jax.jit(several)


def read(
    reader: Reader,
    task: Task,
    draws: Draws,
    which: Sequence[int] | np.ndarray,
    units: Scale,
    betas: Sequence[float] | np.ndarray,
    threshold: float,
) -> dict[str, np.ndarray]:
    """Read every query of some draws, at one β per entry of `which`, and judge the results.

    Args:
        reader: the pair and how often it is read; `BOUND` for the best possible read-out.
        task: what was drawn.
        draws: those that are read [K].
        which: places in `found` of those to read [R], any number of times each.
        units: from `scale`.
        betas: inverse temperatures [R], in units of 1/gap.
        threshold: squared error, in units of the mean squared distance between images, that counts as close.
    Returns:
        Counts `identified` (nearer to the image asked for than to any other stored), `close`, `retrieved` (both), and
        the mean `error`, arrays [R].
    """
    bound = (reader.similarity, reader.separation) == BOUND
    program = _best_possible_reader(task.kind, task.queries) if bound else _reader(reader, task.queries)
    count = len(betas)
    filled = np.resize(np.arange(count), -(-count // TOGETHER) * TOGETHER)  # one program, whatever the number
    places = np.asarray(which, np.int32)[filled]
    levels = (np.asarray(betas, np.float32) * np.float32(1.0 if bound else 1.0 / units.gap))[filled]
    shared = np.float32(units.gap), np.float32(units.distance), np.float32(threshold), np.float32(task.amount)
    parts = []
    for i in range(0, len(levels), TOGETHER):
        parts.append(jax.device_get(program(draws, *shared, places[i : i + TOGETHER], levels[i : i + TOGETHER])))
    return {name: np.concatenate([part[name] for part in parts])[:count] for name in parts[0]}


@lru_cache(maxsize=256)
def _reader(reader: Reader, queries: int) -> Callable:
    def outcome(
        stored: Array, used: Array, query: Array, visible: Array, beta: Array, unit: Array, amount: Array
    ) -> tuple[Array, Array]:
        memory = memories.build(reader.similarity, reader.separation, stored, used, beta, unit)
        answer = _answer(memory, query, reader)
        return answer, answer

    return _compile_reader(outcome, queries)


def _answer(memory: Memory, query: Array, reader: Reader) -> Array:
    """Read-out Σ p ξ with weights that sum to one, or where reading again and again ends."""
    if reader.iterated:
        return retrieve(memory, query, max_steps=reader.max_steps, rtol=SETTLED).state
    if memory.separation.normalised:
        return memory.read(query)
    return memory.shares(query) @ cast(Array, memory.patterns)


@lru_cache(maxsize=64)
def _best_possible_reader(kind: str, queries: int) -> Callable:
    def outcome(
        stored: Array, used: Array, query: Array, visible: Array, beta: Array, unit: Array, amount: Array
    ) -> tuple[Array, Array]:
        shown = visible | (kind == "noise")
        distance = jnp.sum(jnp.where(shown[None, :], (stored - query[None, :]) ** 2, 0.0), axis=1)
        sharpness = 0.5 / jnp.maximum(amount, 1e-4) ** 2 if kind == "noise" else 1e8
        posterior = jax.nn.softmax(jnp.where(used, -sharpness * distance, -jnp.inf))
        likeliest = stored[jnp.argmax(jnp.where(used, -distance, -jnp.inf))]
        return likeliest, posterior @ stored

    return _compile_reader(outcome, queries)


def _compile_reader(outcome: Callable, queries: int) -> Callable:
    """Compile a read-out with its judgement. `outcome` gives the image recognised and the image of least squares."""

    def program(
        found: Draws, unit: Array, spread: Array, threshold: Array, amount: Array, places: Array, betas: Array
    ) -> dict[str, Array]:
        used = found.used

        def draw(column: tuple[Array, Array]) -> dict[str, Array]:
            place, beta = column
            stored, asked, visible = found.stored[place], found.queries[place], found.visible[place]

            def query(i: Array, state: Array, shown: Array) -> tuple[Array, Array, Array]:
                answer, smooth = outcome(stored, used, state, shown, beta, unit, amount)
                square = jnp.where(used, jnp.sum((stored - answer[None, :]) ** 2, axis=1), jnp.inf)
                close, identified = square[i] <= threshold * spread, square[i] <= 1.000001 * jnp.min(square)
                return close, identified, jnp.sum((smooth - stored[i]) ** 2) / spread

            close, identified, error = jax.vmap(query)(jnp.arange(queries), asked, visible)
            valid = used[:queries]
            counted = {"retrieved": close & identified, "identified": identified, "close": close}
            mean = jnp.sum(jnp.where(valid, error, 0.0)) / jnp.sum(valid)
            return {name: jnp.sum(valid & each) for name, each in counted.items()} | {"error": mean}

        return jax.lax.map(draw, (places, betas))

    return jax.jit(program)
