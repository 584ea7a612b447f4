"""Overlap with a pattern after synchronous steps, from starts of given overlap, compiled."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from experiments.contract import Point
from experiments.overlap_dynamics import theory
from experiments.overlap_dynamics.config import CUT
from experiments.shared import draws
from experiments.shared.grids import Data, Draw, Each, Grid, Measured
from hopfield.memories import find
from hopfield.observables.overlaps import above, overlap
from hopfield.patterns import spins


class Program(NamedTuple):
    """Structure of a compiled measurement: the values that select its program. All others are traced."""

    degree: int
    neurons: int
    padding: int
    queries: int
    longest: int
    times: int

    @property
    def cost(self) -> float:
        """Rough multiplications of one draw: its couplings, if it has any, and the steps of the queries."""
        step = self.neurons**2 if self.degree == theory.CLASSICAL else 4 * self.padding * self.neurons
        return self.queries * self.longest * step + self.padding * self.neurons**2 * (self.degree == 2)


def grid(program: Callable[[Point], Program]) -> Grid:
    """Grid of draws and starts. Patterns and flips depend on the seed, N, M and the draw's number."""
    flips = (np.uint32, lambda point: theory.flipped_spins(point["neurons"], point["overlap"]))
    return Grid(
        program, one, {**draws.TRACED, "flips": flips}, {"step": np.uint32}, lambda kind: kind.times, call_cost=2e10
    )


def one(program: Program, seed: Array, data: Data, draw: Draw, each: Each) -> Measured:
    """Mean overlap [T] and number of retained patterns [T] by number of steps."""
    key, other = draws.keys(seed, program.neurons, draw["num_patterns"], draw["sample"])
    stored = spins(key, program.padding, program.neurons)
    used = draws.in_use(program, draw)
    network = draws.network(find(f"dense:{program.degree}").build(stored, mask=used))
    index, keys = draws.numbers_and_keys(other, program.queries)
    targets = stored[index]
    place = jax.vmap(lambda k: jax.random.permutation(k, program.neurons))(keys)
    start = jnp.where(place < draw["flips"].astype(jnp.int32), -targets, targets)

    def step(states: Array, _: None) -> tuple[Array, Array]:
        states = jax.vmap(network.update)(states)
        return states, jax.vmap(overlap)(states, targets)

    _, along = jax.lax.scan(step, start, length=program.longest)
    overlaps = along[each["step"].astype(jnp.int32) - 1]
    return {"final": jnp.mean(overlaps, axis=1), "retained": jnp.sum(above(overlaps, CUT), axis=1)}
