"""Relaxation of retrieval states: correlation and escape times of the overlap near the spinodal load, at temperature T.

Heat-bath sweeps start at a stored pattern. Columns of a start: `observed`, the sweeps made; `exposure`, those until its
overlap falls below ½, or all of them, where `left` is 0; `time`, the integrated autocorrelation time in sweeps of the
overlap after `burn_in` sweeps, and the `window` it was summed to, and `mean`, its mean, of starts that never left. Both
times belong to the `sweeps` of observation: a slower fluctuation is not seen, and a later escape neither.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from experiments import contract
from experiments.columns import Column, shared
from experiments.contract import Cost, Point, Row, grid_axis, option
from experiments.relaxation import theory
from experiments.relaxation.results import panels, summarise
from experiments.shared import draws, grids, loads
from experiments.shared.axes import product_of
from experiments.shared.grids import Data, Draw, Each, Grid, Measured
from hopfield import glauber
from hopfield.memories import find
from hopfield.observables.correlations import correlation_time
from hopfield.observables.overlaps import above, overlap
from hopfield.patterns import spins

__all__ = ["X_AXIS", "Config", "check", "cost", "measure", "panels", "points", "summarise"]

CUT = 0.5
"""Overlap below which a state has left its pattern."""


@dataclass
class Config(contract.Config):
    """Options of relaxation; the defaults are smoke scale."""

    degrees: list[int] = grid_axis([2, 3], "degrees n of the energy; 2 is the classical network", least=2, most=4)
    temperatures: list[float] = grid_axis([0.4], "temperatures T", above=0, below=1)
    neurons: list[int] = grid_axis([40], "numbers of neurons N", least=8, most=4096)
    around: list[float] = grid_axis([0.3, 0.6], "loads in units of the spinodal one at T, N → ∞", above=0, most=2)
    samples: int = option(3, "draws of patterns", least=2, extends=True)
    queries: int = option(2, "patterns started from in each sample", least=1, extends=True)
    burn_in: int = option(20, "heat-bath sweeps before overlaps are kept", least=0)
    sweeps: int = option(200, "sweeps of which they are kept", least=20)


COLUMNS = shared("temperature", "neurons", "patterns", "load", "sample") | {
    "degree": Column("degree of the memory; 2 is the classical network", kind=int),
    "around": Column("load over the replica-symmetric spinodal one at T"),
    "query": Column("number of the pattern started from", kind=int),
    "observed": Column("heat-bath sweeps that were made", "sweeps", kind=int),
    "exposure": Column("sweeps until the overlap fell below ½, or all that were made", "sweeps", kind=int),
    "left": Column("1 if the overlap fell below ½, 0 otherwise", kind=int),
    "mean": Column("mean overlap after burn_in sweeps, of a start that never left", "−1 to 1"),
    "time": Column("integrated autocorrelation time of the overlap, of a start that never left", "sweeps"),
    "window": Column("lag that the autocorrelation was summed to", "sweeps"),
}


X_AXIS = "load"
LARGEST = 2**20
"""Entries of all stored patterns at most; sizes at which a degree asks for more are left out."""


def _curves(config: Config) -> list[Point]:
    """Degree, temperature, size, load and odd number of patterns of every network that is not too large."""
    networks = product_of(degree=config.degrees, temperature=config.temperatures, neurons=config.neurons)
    last = lambda network: theory.spinodal_load(network["degree"], network["temperature"])
    what = "degree {degree} at T={temperature:g}, N={neurons}"
    return loads.curves(networks, config.around, last, what, least=1, largest=LARGEST)


def check(config: Config) -> None:
    """Check that every temperature has a retrieval state and some network is small enough; else ValueError."""
    for degree, temperature in product(config.degrees, config.temperatures):
        if not theory.spinodal_load(degree, temperature) > 0:
            raise ValueError(f"temperatures must leave degree {degree} a retrieval state, got {temperature}")
    _curves(config)


def points(config: Config) -> list[Point]:
    """One point per network, sample and pattern started from."""
    return [
        curve | {"sample": sample, "query": query}
        for curve in _curves(config)
        for sample in range(config.samples)
        for query in range(min(config.queries, curve["patterns"]))
    ]


def cost(config: Config) -> Cost:
    """Cost of all draws of every network, each with the heat-bath sweeps of all its queries."""
    return grids.cost(_grid(config), _curves(config), config.samples)


def _grid(config: Config) -> grids.Grid:
    """Grid with one program of a network for all its loads and temperatures."""
    padding = draws.largest(_curves(config), "degree", "neurons")
    kept = config.queries, config.burn_in, config.sweeps
    return _grid_of(lambda at: Program(at["degree"], at["neurons"], padding(at), *kept))


def measure(config: Config, wanted: Sequence[Point]) -> Iterator[Row]:
    """Rows of points."""
    observed = {"observed": config.burn_in + config.sweeps}
    yield from grids.rows(_grid(config), config.seed, wanted, known_columns=lambda point: observed)


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


def _grid_of(program: Callable[[Point], Program]) -> Grid:
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
