"""Overlaps in time: m(t) of classical and dense networks under synchronous steps, beside statistical neurodynamics.

A start is a pattern with (1 − m)/2 of its spins flipped, to the nearest whole number; labels and theory are of the
overlap that these leave. Columns: `final`, the mean overlap of the queries of a draw after `step` steps; `retained`,
how many of the `queries` have one above 0.8 then, the observation time of a load near the last one with retrieval. The
first step is known exactly at every N and M. For N → ∞ Amari & Maginu's theory of the classical network has noise that
forgets all steps but the last, the map of dense ones forgets them all; the generating functional, exact for N → ∞, is
drawn for the first twenty steps.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from experiments import contract
from experiments.columns import Column, shared
from experiments.contract import Cost, Point, Row, grid_axis, option
from experiments.overlap_dynamics import theory
from experiments.overlap_dynamics.results import panels, summarise
from experiments.shared import draws, grids, loads
from experiments.shared.axes import product_of
from experiments.shared.grids import Data, Draw, Each, Grid, Measured
from hopfield.memories import find
from hopfield.observables.overlaps import above, overlap
from hopfield.patterns import spins

__all__ = ["X_AXIS", "Config", "check", "cost", "measure", "panels", "points", "summarise"]

LARGEST = 2**23
"""Entries of all stored patterns at most; sizes at which a degree asks for more are left out."""
CUT = 0.8
"""Overlap above which a pattern is retained."""


@dataclass
class Config(contract.Config):
    """Options of overlaps in time; the defaults are smoke scale."""

    degrees: list[int] = grid_axis([2, 3], "degrees n of the energy; 2 is the classical network", least=2, most=4)
    neurons: list[int] = grid_axis([40], "numbers of neurons N", least=8, most=8192)
    around: list[float] = grid_axis([0.7], "loads in units of the last one with retrieval, N → ∞", above=0, most=3)
    overlaps: list[float] = grid_axis([0.4, 1.0], "overlaps m of the start", above=0, most=1)
    steps: list[int] = grid_axis([1, 2, 10], "numbers of synchronous steps after which m is taken", least=1, most=1000)
    samples: int = option(4, "draws of patterns", least=2, extends=True)
    queries: int = option(4, "patterns asked for in each sample", least=1, most=64)


COLUMNS = shared("neurons", "patterns", "load", "sample", "step", "queries") | {
    "degree": Column("degree of the memory; 2 is the classical network", kind=int),
    "around": Column("load over that of the last retrieval"),
    "overlap": Column("overlap asked for at the start, which whole spins meet to 1/N", "−1 to 1"),
    "final": Column("mean overlap of the queries after step steps", "−1 to 1"),
    "retained": Column("queries with an overlap above 0.8 after step steps", "count of queries", kind=int),
}


X_AXIS = "step"


def _curves(config: Config) -> list[Point]:
    """Degree, size, load and odd number of patterns of every network that is not too large."""
    networks = product_of(degree=config.degrees, neurons=config.neurons)
    last = lambda network: theory.critical_load(network["degree"])
    return loads.curves(networks, config.around, last, "degree {degree} at N={neurons}", least=3, largest=LARGEST)


def _overlaps(config: Config, neurons: int) -> list[float]:
    """Initial overlaps in the given order. Of overlaps with the same number of flipped spins, the first is kept."""
    number = partial(theory.flipped_spins, neurons)
    loads.counts(config.overlaps, number, f"N={neurons}", name="overlaps", counted="{} flipped spins")
    first = {number(overlap): overlap for overlap in reversed(config.overlaps)}
    return [overlap for overlap in config.overlaps if first[number(overlap)] == overlap]


def check(config: Config) -> None:
    """Check that a network of the options is small enough to be measured; else ValueError."""
    _curves(config)


def points(config: Config) -> list[Point]:
    """One point per network, overlap of the start, sample and number of steps."""
    return [
        curve | {"overlap": overlap, "sample": sample, "step": step}
        for curve in _curves(config)
        for overlap in _overlaps(config, curve["neurons"])
        for sample in range(config.samples)
        for step in config.steps
    ]


def cost(config: Config) -> Cost:
    """Cost of all draws of every network, from each initial overlap."""
    courses = [curve for curve in _curves(config) for _ in _overlaps(config, curve["neurons"])]
    return grids.cost(_grid(config), courses, config.samples)


def _grid(config: Config) -> grids.Grid:
    """Grid with one program of a network for all its loads."""
    padding = draws.largest(_curves(config), "degree", "neurons")
    longest, times = max(config.steps), len(config.steps)

    def program_of(point: Point) -> Program:
        queries = min(config.queries, point["patterns"])
        return Program(point["degree"], point["neurons"], padding(point), queries=queries, longest=longest, times=times)

    return _grid_of(program_of)


def measure(config: Config, wanted: Sequence[Point]) -> Iterator[Row]:
    """Rows of points."""
    known = lambda point: {"queries": min(config.queries, point["patterns"])}
    yield from grids.rows(_grid(config), config.seed, wanted, known_columns=known)


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


def _grid_of(program: Callable[[Point], Program]) -> Grid:
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
