"""Ends of queries of a given overlap with their pattern: the compiled measurement behind basins of attraction."""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from experiments.shared import draws, pattern_sets
from hopfield import retrieve
from hopfield._numerics import unit
from hopfield.dynamics import CYCLE, STEP_LIMIT
from hopfield.memories import find
from hopfield.patterns import flip
from hopfield.spaces import Spins


class Program(NamedTuple):
    """What a compiled measurement depends on; everything else is traced."""

    memory: str
    dynamics: str
    neurons: int
    padding: int
    probes: int
    overlaps: int
    """How many initial overlaps one draw of patterns is queried at."""
    max_steps: int
    has_beta: bool

    @property
    def cost(self) -> float:
        """Rough multiplications of one draw: the couplings, some ten updates or sweeps of every query."""
        sweep = self.neurons if self.dynamics != "synchronous" else 1
        queries = self.probes * self.overlaps * 20 * min(self.padding, self.neurons * 4) * self.neurons
        return self.padding * self.neurons * (20 + self.neurons) + queries * min(sweep, 40)


def run(program: Program, seed: int, beta: float | None, near: float, patterns, samples, overlaps) -> dict[str, list]:
    """Counts and means over the queries of a chunk of draws, for every column of the table a list [S][O].

    Args:
        program: what is compiled.
        seed: seed of all randomness; a draw depends on it, on N, M and its own number, and on nothing else.
        beta: inverse temperature, for memories that have one.
        near: overlap above which a state counts as near a pattern.
        patterns, samples: patterns stored and number of every draw [S].
        overlaps: initial overlaps [S, O]. All share the draw's random numbers: a query of lower overlap is one of
            higher overlap, disturbed further.
    """
    columns = (np.asarray(patterns, np.uint32), np.asarray(samples, np.uint32), np.asarray(overlaps, np.float32))
    result = _compiled(program)(np.uint32(seed), np.float32(beta or 1.0), np.float32(near), *columns)
    return {name: values.tolist() for name, values in jax.device_get(result).items()}


@lru_cache(maxsize=256)
def _compiled(program: Program) -> Callable:
    def measured(seed, beta, near, *columns):
        return jax.lax.map(lambda column: _draw(program, seed, beta, near, *column), columns)

    return jax.jit(measured)


def _draw(program: Program, seed, beta, near, patterns, sample, overlaps) -> dict:
    """Store one draw of patterns and query some of them at every initial overlap."""
    pattern_key, query_key = draws.keys(seed, program.neurons, patterns, sample)
    blueprint = find(program.memory)
    stored = pattern_sets.draw(blueprint.ensemble, pattern_key, program.padding, program.neurons)
    used = jnp.arange(program.padding) < patterns
    model = draws.network(blueprint.build(stored, mask=used, **({"beta": beta} if program.has_beta else {})))
    rows = jnp.where(used[:, None], stored, 0.0)
    index, keys = draws.numbered(query_key, program.probes)
    query = lambda i, key, overlap: _query(program, model, rows, near, i, key, overlap)  # noqa: E731
    ends = jax.vmap(jax.vmap(query, (0, 0, None)), (None, None, 0))(index, keys, overlaps)
    valid = jnp.broadcast_to(index < patterns, ends["overlap"].shape)
    counted = ("right", "some", "reversed", "cycles", "step_limit")
    counts = {name: jnp.sum(valid & ends[name], axis=1) for name in counted}
    averaged = ("start_overlap", "overlap", "steps")
    means = {name: jnp.sum(jnp.where(valid, ends[name], 0), axis=1) / jnp.sum(valid, axis=1) for name in averaged}
    return counts | means


def _query(program: Program, model, rows, near, index, key, overlap) -> dict:
    """One query, and which patterns it ends near."""
    target = rows[index]
    start_key, order_key = jax.random.split(key)
    start = _flipped if isinstance(model.space, Spins) else _tilted
    query = start(start_key, target, overlap)
    end = retrieve(model, query, dynamics=program.dynamics, key=order_key, max_steps=program.max_steps)
    # Divided last: sums of spins are whole numbers, and a state that is exactly near is one thing or the other.
    reached = jnp.matmul(rows, end.state, precision=jax.lax.Precision.HIGHEST) / program.neurons
    return {
        "right": reached[index] > near,
        "some": jnp.max(reached) > near,
        "reversed": (jnp.min(reached) < -near) & (jnp.max(reached) <= near),
        "start_overlap": jnp.dot(target, query) / program.neurons,
        "overlap": reached[index],
        "steps": end.steps,
        "cycles": end.status == CYCLE,
        "step_limit": end.status == STEP_LIMIT,
    }


def _flipped(key, target, overlap):
    """Spins of the nearest possible overlap, 1 − 2k/N."""
    return flip(key, target, 0.5 * (1.0 - overlap)).state


def _tilted(key, target, overlap):
    """A state of the target's norm: overlap · target, the rest in a random direction across."""
    direction = unit(target)
    noise = jax.random.normal(key, target.shape, target.dtype)
    across = unit(noise - jnp.dot(noise, direction) * direction)
    norm = jnp.linalg.norm(target)
    return overlap * target + jnp.sqrt(jnp.maximum(1.0 - overlap**2, 0.0)) * norm * across
