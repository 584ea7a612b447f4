"""Overlaps with a pattern along heat-bath sweeps that start at it: how long they are remembered, and kept; compiled."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from experiments.contract import Point
from experiments.relaxation.config import CUT
from experiments.shared import draws
from experiments.shared.grids import Data, Draw, Each, Grid, Measured
from hopfield import glauber
from hopfield.memories import find
from hopfield.observables.correlations import correlation_time
from hopfield.observables.overlaps import above, overlap
from hopfield.patterns import spins


class Program(NamedTuple):
    """Structure of a compiled measurement: the values that select its program. All others are traced."""

    degree: int
    neurons: int
    padding: int
    queries: int
    burn_in: int
    sweeps: int

    @property
    def cost(self) -> float:
        """Rough multiplications of one draw."""
        sweep = (self.neurons + 500) ** 2 if self.degree == 2 else 4 * self.padding * self.neurons
        return self.queries * (self.burn_in + self.sweeps) * sweep


def grid(program: Callable[[Point], Program]) -> Grid:
    """Grid of draws, all patterns started from in one go. A draw depends on the seed, N, M and its number."""
    draw = {**draws.TRACED, "temperature": np.float32}
    return Grid(program, one, draw, {"query": np.uint32}, lambda kind: kind.queries, call_cost=2e10)


def one(program: Program, seed: Array, data: Data, draw: Draw, each: Each) -> Measured:
    """Times of every start [T] in one draw of patterns."""
    key, other = draws.keys(seed, program.neurons, draw["num_patterns"], draw["sample"])
    stored = spins(key, program.padding, program.neurons)
    used = draws.in_use(program, draw)
    network = draws.network(find(f"dense:{program.degree}").build(stored, mask=used))
    query = each["query"].astype(jnp.int32)
    order_key, chain_key = jax.random.split(other)
    keys = jax.vmap(lambda i: jax.random.fold_in(chain_key, i))(query)

    def swept(states: Array, number: Array) -> tuple[Array, Array]:
        orders = jax.random.fold_in(order_key, number)

        def chain(state: Array, key: Array) -> Array:
            own = jax.random.fold_in(key, number)
            return glauber(network, state, own, draw["temperature"], sweeps=1, order_key=orders).state

        states = jax.vmap(chain)(states, keys)
        return states, jax.vmap(overlap)(states, stored[query])

    _, along = jax.lax.scan(swept, stored[query], jnp.arange(program.burn_in + program.sweeps))
    return jax.vmap(lambda overlaps: _times(overlaps, program.burn_in), 1)(along)


def _times(overlaps: Array, burn_in: int) -> dict[str, Array]:
    """Escape of one start and, if it never left, correlation time and mean of its overlap."""
    gone = above(CUT, overlaps)
    left = jnp.any(gone)
    found = correlation_time(overlaps[burn_in:])
    kept = {"time": found.time, "window": found.window, "mean": jnp.mean(overlaps[burn_in:])}
    escape = {"left": left.astype(jnp.int32), "exposure": jnp.where(left, jnp.argmax(gone) + 1, overlaps.size)}
    return escape | {name: jnp.where(left, jnp.nan, value) for name, value in kept.items()}
