"""Ends of queries of a given overlap with their pattern: the compiled measurement behind basins of attraction."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from experiments.contract import Point
from experiments.shared import draws
from experiments.shared.grids import Data, Draw, Each, Grid, Measured
from hopfield import Couplings, Memory, retrieve
from hopfield.dynamics import CYCLE, STEP_LIMIT
from hopfield.geometry.sphere import projection
from hopfield.memories import find
from hopfield.observables.overlaps import above
from hopfield.patterns import flip
from hopfield.spaces import Spins

CALL_COST = 1e10
"""Multiplications one call to the device should cost: under a second, so that a kill loses little."""


class Program(NamedTuple):
    """Structure of a compiled measurement: the values that select its program. All others are traced."""

    memory: str
    dynamics: str
    neurons: int
    padding: int
    queries: int
    overlaps: int
    """How many initial overlaps one draw of patterns is queried at."""
    max_steps: int

    @property
    def cost(self) -> float:
        """Rough multiplications of one draw: the couplings, some ten updates or sweeps of every query."""
        sweep = self.neurons if self.dynamics != "synchronous" else 1
        queries = self.queries * self.overlaps * 20 * min(self.padding, self.neurons * 4) * self.neurons
        return self.padding * self.neurons * (20 + self.neurons) + queries * min(sweep, 40)


def grid(program: Callable[[Point], Program]) -> Grid:
    """The grid of draws, each queried at several initial overlaps. A draw depends on the seed, N, M and its number."""
    draw = {**draws.TRACED, "beta": np.float32, "near": np.float32}
    each = {"initial_overlap": np.float32}
    return Grid(program, one, draw, each, lambda program: program.overlaps, most=8, call_cost=CALL_COST, whole=True)


def one(program: Program, seed: Array, data: Data, draw: Draw, each: Each) -> Measured:
    """Columns [O] of one draw of patterns: counts and means over its queries, by initial overlap.

    All overlaps share the draw's random numbers: a query of lower overlap is one of higher overlap, disturbed further.
    """
    pattern_key, query_key = draws.keys(seed, program.neurons, draw["num_patterns"], draw["sample"])
    blueprint = find(program.memory)
    stored = draws.patterns(blueprint.ensemble, pattern_key, program.padding, program.neurons)
    used = draws.in_use(program, draw)
    network = draws.network(blueprint.build(stored, mask=used, beta=draw["beta"]))
    rows = jnp.where(used[:, None], stored, 0.0)
    index, keys = draws.numbers_and_keys(query_key, program.queries)
    query = lambda i, key, overlap: _query(program, network, rows, draw["near"], i, key, overlap)
    ends = jax.vmap(jax.vmap(query, (0, 0, None)), (None, None, 0))(index, keys, each["initial_overlap"])
    valid = jnp.broadcast_to(index < draw["num_patterns"], ends["overlap"].shape)
    counted = ("right", "some", "reversed", "cycles", "step_limit")
    counts = {name: jnp.sum(valid & ends[name], axis=1) for name in counted}
    averaged = ("start_overlap", "overlap", "steps")
    means = {name: jnp.sum(jnp.where(valid, ends[name], 0), axis=1) / jnp.sum(valid, axis=1) for name in averaged}
    return counts | means


def _query(
    program: Program, network: Memory | Couplings, rows: Array, near: Array, index: Array, key: Array, overlap: Array
) -> dict:
    """Outcome of one query: its overlaps, its steps, and flags for the patterns that it ends near."""
    target = rows[index]
    start_key, order_key = jax.random.split(key)
    start = _spins_of_overlap if isinstance(network.space, Spins) else _vector_of_overlap
    query = start(start_key, target, overlap)
    end = retrieve(network, query, dynamics=program.dynamics, key=order_key, max_steps=program.max_steps)
    reached = jnp.matmul(rows, end.state, precision=jax.lax.Precision.HIGHEST) / program.neurons
    return {
        "right": above(reached[index], near),
        "some": above(jnp.max(reached), near),
        "reversed": above(-jnp.min(reached), near) & ~above(jnp.max(reached), near),
        "start_overlap": jnp.dot(target, query) / program.neurons,
        "overlap": reached[index],
        "steps": end.steps,
        "cycles": end.status == CYCLE,
        "step_limit": end.status == STEP_LIMIT,
    }


def _spins_of_overlap(key: Array, target: Array, overlap: Array) -> Array:
    """Spins of the nearest possible overlap, 1 − 2k/N."""
    return flip(key, target, 0.5 * (1.0 - overlap)).state


def _vector_of_overlap(key: Array, target: Array, overlap: Array) -> Array:
    """A state of the target's norm: overlap · target, the rest in a random direction across."""
    direction = projection(target)
    noise = jax.random.normal(key, target.shape, target.dtype)
    across = projection(noise - jnp.dot(noise, direction) * direction)
    norm = jnp.linalg.norm(target)
    return overlap * target + jnp.sqrt(jnp.maximum(1.0 - overlap**2, 0.0)) * norm * across
