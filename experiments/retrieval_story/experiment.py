"""Retrieval step by step: stored digits, corrupted starts, and the final state of each memory.

Every memory holds the same digits and gets the same corrupted ones. A step is one update; of a memory on spins it is
one sweep over all neurons, one at a time in random order, along which the energy never rises. Rows by `part`:

    story   the state of one step with its energy, the weights of the patterns in its next field, |w| / Σ|w|, their
            entropy in nats, the overlap with the pattern the start was made from, the largest other overlap and the
            length of the step that follows, both in units of a pattern's length
    stored  the patterns, as spins and as real vectors of the same length √N
    plane   where the modern memory is told of, its retrievals with two digits alone, in the plane that both span

A start is retrieved if it ends at an overlap of at least 0.95 with its own digit. Other ends are named: another digit,
a mixture, which is sign(±ξ_a ± ξ_b ± ξ_c) on spins and several patterns with weight on real states, or spurious.
States and weights are base64 of half-precision numbers.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import groupby, product
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from experiments.contract import Cost, Point, Row
from experiments.retrieval_story.config import MODERN, PLANE, SIDE, STORED, STORY, Config, encode
from experiments.retrieval_story.figure import frames, panels
from experiments.retrieval_story.summary import summarise
from experiments.shared import corruptions, draws
from hopfield import Memory
from hopfield.dynamics import sweep, visiting_order
from hopfield.memories import find
from hopfield.observables.thermodynamics import entropy
from hopfield.patterns import corrupt, datasets

__all__ = ["X_AXIS", "Config", "check", "cost", "frames", "measure", "panels", "points", "summarise"]

X_AXIS = "step"
KEYS = ("part", "memory", "beta", "target", "corruption", "step")


def points(config: Config) -> list[Point]:
    """One point per stored digit and kind, then per step of every story, then per step in the plane."""
    kinds = dict.fromkeys(find(memory).ensemble for memory in config.memories)
    keys: list[tuple] = [
        (STORED, kind, None, number, corruptions.CLEAN, 0) for kind in kinds for number in range(config.patterns)
    ]
    steps = range(config.steps + 1)
    for memory in config.memories:
        betas = config.betas if find(memory).takes_beta else [None]
        starts = map(corruptions.name, config.corruption)
        keys += [(STORY, memory, *rest) for rest in product(betas, config.targets, starts, steps)]
    pair = ",".join(map(str, config.plane))
    starts = range(config.starts if MODERN in config.memories else 0)
    keys += [(PLANE, MODERN, *rest) for rest in product(config.betas, starts, [pair], steps)]
    return [dict(zip(KEYS, values, strict=True)) for values in keys]


def has_beta(config: Config) -> bool:
    """True if a memory that is shown has an inverse temperature."""
    return any(find(memory).takes_beta for memory in config.memories)


def check(config: Config) -> None:
    """Check that every memory weighs its patterns; else ValueError."""
    for memory in config.memories:
        if not isinstance(find(memory).sample, Memory):
            raise ValueError(f"memories must weigh their patterns, got {memory}, which is one matrix")


def cost(config: Config) -> Cost:
    """Cost of all states that are shown: each step of every story and of the retrievals in the plane."""
    stories = len(config.memories) * len(config.betas) * len(config.targets) * len(config.corruption)
    courses = stories + len(config.betas) * config.starts * (MODERN in config.memories)
    rows = courses * (config.steps + 1) + 2 * config.patterns
    return Cost(rows, config.patterns * SIDE**2, 4 * rows * config.patterns * SIDE**4)


def measure(config: Config, wanted: Sequence[Point]) -> Iterator[Row]:
    """Rows of points. All steps of a retrieval are measured together."""
    yield from rows(config.seed, config.patterns, wanted)


SPINS = "spins"
TURN, RADIUS = 2.399963, 0.8
"""Starts in the plane: the golden angle from one to the next, and how far they lie from the middle of both patterns."""


def rows(seed: int, num_patterns: int, points: Sequence[Point]) -> Iterator[Row]:
    """Rows of points. Points of one retrieval are measured together."""
    course = lambda point: tuple(value for key, value in point.items() if key != "step")
    for _, together in groupby(points, course):
        members = list(together)
        first, last = members[0], max(point["step"] for point in members)
        if first["part"] == STORED:
            state = stored_digits(first["memory"], num_patterns)[first["target"]]
            yield first | {"state": encode(state)}
            continue
        follow = _in_plane if first["part"] == PLANE else _story
        courses = follow(seed, num_patterns, first, last)
        yield from (point | courses[point["step"]] for point in members)


@lru_cache(maxsize=8)
def stored_digits(kind: str, num_patterns: int) -> jax.Array:
    """The digits that are stored [M, N]: spins, or real vectors of mean 0 and length √N."""
    digits = datasets.digits(binary=True) if kind == SPINS else datasets.standardise(datasets.digits())
    return jnp.asarray(digits[:num_patterns], jnp.float32)


def _story(seed: int, num_patterns: int, point: Point, last_step: int) -> list[Row]:
    memory, target = find(point["memory"]), point["target"]
    held = stored_digits(memory.ensemble, num_patterns)
    start_key, order_key = draws.keys(seed, target)
    start = corrupt(start_key, held[target], *corruptions.parts(point["corruption"])).state
    start = jnp.sign(start) if memory.ensemble == SPINS else start
    key = order_key if memory.ensemble == SPINS else None
    return _rows_of_retrieval(memory.build(held, beta=point["beta"]), target, start, last_step, key)


def _in_plane(seed: int, num_patterns: int, point: Point, last_step: int) -> list[Row]:
    held = stored_digits("sphere", num_patterns)[
        jnp.asarray([int(number) for number in point["corruption"].split(",")])
    ]
    angle = TURN * point["target"]
    start = (0.5 + RADIUS * np.array([np.cos(angle), np.sin(angle)])) @ held
    return _rows_of_retrieval(find("modern").build(held, beta=point["beta"]), 0, jnp.asarray(start), last_step, None)


def _rows_of_retrieval(memory: Any, target: int, state: jax.Array, last_step: int, key: jax.Array | None) -> list[Row]:
    """Columns of every state of a retrieval, the start first. A key gives the orders of sweeps over spins."""
    model = memory if key is None else draws.network(memory)
    found = []
    for step in range(last_step + 1):
        if key is None:
            following = memory.update(state)
        else:
            following = sweep(model, state, visiting_order(key, step, state.size, "asynchronous"))
        seen = {
            name: float(value) for name, value in _state_columns(memory, model.energy, target, state, following).items()
        }
        found.append(seen | {"state": encode(state), "weights": encode(memory.shares(state))})
        state = following
    return found


def _state_columns(
    memory: Any, energy: Callable, target: int, state: jax.Array, following: jax.Array
) -> dict[str, Any]:
    overlaps = memory.patterns @ state / state.size
    return {
        "energy": energy(state),
        "entropy": entropy(memory.shares(state)),
        "overlap": overlaps[target],
        "other": jnp.max(jnp.delete(overlaps, target)),
        "step_size": jnp.linalg.norm(following - state) / state.size**0.5,
    }
