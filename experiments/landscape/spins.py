"""Ends of random starts in memories on spins: heat-bath sweeps, then asynchronous descent; compiled."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from experiments.contract import Point
from experiments.landscape.config import KINDS, LARGEST, RETRIEVED
from experiments.shared import draws
from experiments.shared.grids import Data, Draw, Each, Grid, Measured
from hopfield import glauber, retrieve
from hopfield.dynamics import CONVERGED
from hopfield.memories import find
from hopfield.observables.overlaps import above
from hopfield.patterns import spins

MAX_SWEEPS = 500


class Program(NamedTuple):
    """Structure of a compiled measurement: the values that select its program. All others are traced."""

    memory: str
    neurons: int
    num_patterns: int
    starts: int
    sweeps: int
    warm: bool

    @property
    def cost(self) -> float:
        """Rough multiplications of one draw."""
        sweep = self.neurons * (self.neurons if self.memory == "classical" else 4 * self.num_patterns)
        return self.starts * sweep * (20.0 + self.warm * self.sweeps)


def grid(starts: int, sweeps: int) -> Grid:
    """Grid of draws. A draw depends on the seed, N, M and its number."""

    def program(point: Point) -> Program:
        shape = point["neurons"], point["patterns"]
        return Program(point["memory"], *shape, starts, sweeps, point["temperature"] > 0)

    traced = {"sample": np.uint32, "temperature": np.float32}
    return Grid(program, one, traced, each={"start": np.uint32}, together=lambda program: program.starts, call_cost=5e9)


def one(program: Program, seed: Array, data: Data, draw: Draw, each: Each) -> Measured:
    """Kind, energy and stability of the end of every start of a draw."""
    key, other = draws.keys(seed, program.neurons, program.num_patterns, draw["sample"])
    patterns = spins(key, program.num_patterns, program.neurons)
    memory = find(program.memory).build(patterns)
    network = draws.network(memory)

    def follow(start: Array) -> dict[str, Array]:
        own = jax.random.fold_in(other, start)
        state = spins(own, 1, program.neurons)[0]
        if program.warm:
            temperature: Any = draw["temperature"]
            state = glauber(network, state, own, temperature, sweeps=program.sweeps).state
        end = retrieve(network, state, dynamics="asynchronous", key=own, max_steps=MAX_SWEEPS)
        x = end.state
        overlaps = patterns @ x / program.neurons
        return {
            "kind": kind(overlaps, patterns, x),
            "overlap": jnp.max(jnp.abs(overlaps)),
            "energy": memory.energy(x) / program.neurons,
            "stability": jnp.min(x * memory.local_field(x)),
            "gradient": jnp.asarray(jnp.nan),
            "settled": (end.status == CONVERGED).astype(int),
            "mark": mark(x),
        }

    return jax.lax.map(follow, each["start"])


def mark(state: Array) -> Array:
    """A state in 32 bits, the same on every machine: two that differ share it by a chance of 2⁻³²."""
    bits = jax.random.bits(jax.random.key(0), state.shape, jnp.uint32)
    return jnp.sum(jnp.where(state > 0, bits, 0), dtype=jnp.uint32)


def kind(overlaps: Array, patterns: Array, state: Array) -> Array:
    """Index in KINDS of a state, by its overlaps with all patterns."""
    size, index = jax.lax.top_k(jnp.abs(overlaps), min(LARGEST, overlaps.shape[0]))
    weight = overlaps[index]

    def overlap_with(weights: Array) -> Array:
        return jnp.mean(state * jnp.sign(weights @ patterns[index]))

    three = overlap_with(jnp.where(jnp.arange(len(index)) < 3, jnp.sign(weight), 0.0))
    names = {name: number for number, name in enumerate(KINDS)}
    ending = jnp.where(above(overlap_with(weight), RETRIEVED), names["asymmetric"], names["glassy"])
    ending = jnp.where(above(three, RETRIEVED), names["mixture"], ending)
    alone = jnp.where(weight[0] > 0, names["pattern"], names["reversed"])
    return jnp.where(above(size[0], RETRIEVED), alone, ending)
