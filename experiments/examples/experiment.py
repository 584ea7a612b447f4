"""Patterns learned from noisy examples: how many it takes, with a teacher and without, at a quality and a load.

Hebb's couplings of A examples of each of M patterns; every state starts in a pattern, which was never shown, and makes
asynchronous sweeps at zero temperature. Theory is replica symmetric, `hopfield.theory.examples`.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from experiments.contract import Cost, Point, Row
from experiments.examples.config import KEPT, RULES, Config
from experiments.examples.figure import panels
from experiments.examples.summary import summarise
from experiments.shared import draws, grids, loads
from experiments.shared.axes import product_of
from experiments.shared.grids import Data, Draw, Each, Grid, Measured
from hopfield import patterns, retrieve
from hopfield.networks import examples_network
from hopfield.observables.overlaps import above

__all__ = ["X_AXIS", "Config", "cost", "measure", "panels", "points", "summarise"]
X_AXIS = "examples"


class Program(NamedTuple):
    """Structure of a compiled measurement: the values that select its program. All others are traced."""

    rule: str
    neurons: int
    num_patterns: int
    most_examples: int
    queries: int
    max_steps: int

    @property
    def cost(self) -> float:
        """Rough multiplications of one draw: the couplings, and some ten sweeps of each query."""
        rows = self.num_patterns * (1 if self.rule == RULES[0] else self.most_examples)
        return self.neurons**2 * (rows + 10.0 * self.queries)


def points(config: Config) -> list[Point]:
    """One point per rule, size, load, quality, number of examples and draw."""
    grid: list[Point] = []
    for rule, neurons in product(config.rules, config.neurons):
        number = lambda load, neurons=neurons: loads.odd(load * neurons, 1)
        for stored in loads.counts(config.loads, number, f"{rule} at N={neurons}"):
            place = {"rule": [rule], "neurons": [neurons], "patterns": [stored], "quality": config.qualities}
            grid += product_of(**place, examples=config.examples, sample=range(config.samples))
    return grid


def cost(config: Config) -> Cost:
    """Cost of all draws."""
    programs = [_program(config, point) for point in points(config)]
    most = max(p.neurons * max(p.neurons, p.num_patterns * p.most_examples) for p in programs)
    return Cost(len(programs), most, sum(p.cost for p in programs))


def measure(config: Config, wanted: Sequence[Point]) -> Iterator[Row]:
    """Rows of points. A draw depends on the seed, N, M and its number; fewer examples are the first of more."""
    traced = {"sample": np.uint32, "quality": np.float32, "examples": np.uint32}
    known = lambda point: {"load": point["patterns"] / point["neurons"]}
    grid = Grid(partial(_program, config), one, traced, most=16, call_cost=5e9)
    yield from grids.rows(grid, config.seed, wanted, known_columns=known)


def _program(config: Config, point: Point) -> Program:
    queries = min(config.queries, point["patterns"])
    shape = point["neurons"], point["patterns"], max(config.examples)
    return Program(point["rule"], *shape, queries, config.max_steps)


def one(program: Program, seed: Array, data: Data, draw: Draw, each: Each) -> Measured:
    """Overlaps with the patterns of a draw of states that start in them, and the share that is retained."""
    pattern_key, key = draws.keys(seed, program.neurons, program.num_patterns, draw["sample"])
    example_key, query_key = jax.random.split(key)
    archetypes = patterns.spins(pattern_key, program.num_patterns, program.neurons)
    each_key = jax.vmap(lambda a: jax.random.fold_in(example_key, a))(jnp.arange(program.most_examples))
    shown = jax.vmap(lambda k: patterns.examples(k, archetypes, 1, draw["quality"])[:, 0], out_axes=1)(each_key)
    used = jnp.arange(program.most_examples) < draw["examples"]
    network = examples_network(jnp.where(used[None, :, None], shown, 0.0), supervised=program.rule == RULES[0])
    index, keys = draws.numbers_and_keys(query_key, program.queries)

    def overlap(i: Array, key: Array) -> Array:
        end = retrieve(network, archetypes[i], dynamics="asynchronous", key=key, max_steps=program.max_steps)
        return jnp.dot(end.state, archetypes[i]) / program.neurons

    overlaps = jax.vmap(overlap)(index, keys)
    return {"overlap": jnp.mean(overlaps), "retained": jnp.mean(above(overlaps, KEPT))}
