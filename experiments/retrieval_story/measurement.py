"""Retrievals of digits followed step by step."""

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import groupby
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from experiments.contract import Point, Row
from experiments.retrieval_story.states import PLANE, STORED, encode
from experiments.shared import corruptions, draws
from hopfield.dynamics import sweep, visiting_order
from hopfield.memories import find
from hopfield.observables.thermodynamics import entropy
from hopfield.patterns import corrupt, datasets

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
    start_key, order_key = jax.random.split(jax.random.fold_in(jax.random.key(seed), target))
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
