"""Weight left over for known and for novel queries of two memories: the compiled measurement."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from experiments.contract import Point
from experiments.shared import draws
from experiments.shared.grids import Data, Draw, Each, Grid, Measured
from hopfield import Memory
from hopfield.patterns import sphere


class Program(NamedTuple):
    """Structure of a compiled measurement: the values that select its program. All others are traced."""

    neurons: int
    num_patterns: int
    queries: int
    together: int

    @property
    def cost(self) -> float:
        """Rough multiplications of one pair of memories."""
        return 2.0 * self.num_patterns * self.neurons * (10 + self.queries * self.together)


def grid(program: Callable[[Point], Program]) -> Grid:
    """Grid of pairs of memories. A pair depends on the seed, D, M and its number, and serves all κ and overlaps."""
    each = {"kappa": np.float32, "overlap": np.float32}
    return Grid(program, one, {"sample": np.uint32}, each, lambda program: program.together, most=64, call_cost=1e9)


def one(program: Program, seed: Array, data: Data, draw: Draw, each: Each) -> Measured:
    """Columns [T] at each κ and overlap, of one memory asked with corrupted patterns, one with random vectors."""
    pattern_key, query_key = draws.keys(seed, program.neurons, program.num_patterns, draw["sample"])
    known, novel = (_unit(key, program.num_patterns, program) for key in jax.random.split(pattern_key))
    noise, random = (_unit(key, program.queries, program) for key in jax.random.split(query_key))
    target = known[jnp.arange(program.queries) % program.num_patterns]
    across = noise - jnp.sum(noise * target, axis=1, keepdims=True) * target
    across = across / jnp.linalg.norm(across, axis=1, keepdims=True)

    def measure_cell(kappa: Array, overlap: Array) -> dict[str, Array]:
        query = overlap * target + jnp.sqrt(1.0 - overlap**2) * across
        left, none = (_log_left(m, q, kappa) for m, q in ((known, query), (novel, random)))
        higher = (none[None, :] > left[:, None]) + 0.5 * (none[None, :] == left[:, None])
        return {"auc": jnp.mean(higher), "left_known": jnp.mean(jnp.exp(left)), "left_novel": jnp.mean(jnp.exp(none))}

    return jax.vmap(measure_cell)(each["kappa"], each["overlap"])


def _unit(key: Array, rows: int, program: Program) -> Array:
    return sphere(key, rows, program.neurons) / program.neurons**0.5


def _log_left(patterns: Array, queries: Array, kappa: Array) -> Array:
    """ln of the weight left over, −F, which keeps apart what rounds to the same weight."""
    memory = Memory.create(patterns, separation="softmax1").replace(beta=kappa)
    return -jax.vmap(lambda state: memory.separation.potential(kappa * memory.scores(state)))(queries)
