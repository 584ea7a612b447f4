"""Capacity of the classical network by the dynamics that look for its states, and the energies at which these end.

    asynchronous  random-sequential sweeps, the reference of capacity
    sequential    sweeps in one fixed order
    greedy        among spins against their field, the one with the largest flips first
    reluctant     the one with the smallest field flips first
    synchronous   all spins at once; it may end in a 2-cycle
    cooling       heat-bath sweeps at temperatures that fall from `hottest` to zero, then sweeps at zero

A query starts at a given overlap with its pattern and is retained if it ends above 0.8, as in capacity. Where a
retrieval state exists in theory is one question, where dynamics from the pattern stop near it another: descents stop in
the first state from which no single flip leads down; they are more than the states of lowest energy near the
pattern, and heat at the beginning leads out of them. Energies are per spin, beside the replica-symmetric one at T = 0.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from experiments import contract
from experiments.bounds import includes
from experiments.capacity_dynamics.results import panels, summarise
from experiments.columns import Column, shared
from experiments.contract import Cost, Point, Row, grid_axis, option
from experiments.shared import draws, grids, loads
from experiments.shared.grids import Data, Draw, Each, Grid, Measured
from experiments.shared.retention import CUTS
from hopfield import Couplings, Memory, hebb_couplings, retrieve
from hopfield.dynamics import anneal
from hopfield.dynamics.settling import CYCLE
from hopfield.memories import find
from hopfield.observables.overlaps import above
from hopfield.patterns import flip, spins

__all__ = ["X_AXIS", "Config", "cost", "measure", "panels", "points", "summarise"]

X_AXIS = "load"
ORDERS = ("asynchronous", "sequential", "greedy", "reluctant", "synchronous", "cooling")
PARITY = "odd"
"""Parity of M, at which no field of a spin vanishes."""
STAGES = 20
"""Temperatures of a cooling."""


@dataclass
class Config(contract.Config):
    """Options of the capacity by dynamics; the defaults are smoke scale."""

    orders: list[str] = option(
        ["asynchronous", "greedy", "cooling"], "dynamics, any of " + ", ".join(ORDERS), among=ORDERS, nonempty=True
    )
    neurons: list[int] = grid_axis([64], "numbers of neurons N", least=16, most=8192)
    loads: list[float] = grid_axis([0.1, 0.25], "loads M / N, rounded to odd M", above=0, most=1)
    starts: list[float] = grid_axis([1.0], "overlaps with its pattern at which a query starts", above=0, most=1)
    between: Any = option(
        {}, "{size: [lowest, highest]}, the loads that are measured from that size on (empty: all)", extends=True
    )
    samples: Any = option(4, "draws of patterns at each load, or {size: samples} from that size on", extends=True)
    queries: int = option(2, "patterns queried in each sample", least=1)
    hottest: float = option(
        0.06, "temperature at which a cooling begins", above=0, used_when=includes("orders", "cooling")
    )
    sweeps: int = option(
        100, f"sweeps of a cooling, in {STAGES} stages", least=STAGES, used_when=includes("orders", "cooling")
    )
    max_steps: int = option(1000, "sweeps or updates of one query at most", least=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        loads.check_by_size(self.samples, self.between)


COLUMNS = shared("neurons", "patterns", "sample", "load", "queries", "overlap", "cycles") | {
    "order": Column("dynamics: " + ", ".join(ORDERS), kind=str),
    "start": Column("overlap with the pattern at the start", "−1 to 1"),
    "retained": Column("queries that end with an overlap above 0.8", "count of queries", kind=int),
    "energy_retained": Column("mean energy per spin where the retained end, −½ Σ W x x / N"),
    "energy_lost": Column("mean energy per spin where the others end"),
    "overlap_retained": Column("mean overlap of the retained", "−1 to 1"),
}


class Program(NamedTuple):
    """Structure of a compiled measurement."""

    order: str
    neurons: int
    padding: int
    queries: int
    sweeps: int
    max_steps: int

    @property
    def cost(self) -> float:
        """Rough multiplications of one draw."""
        heat = self.sweeps if self.order == "cooling" else 0
        return self.neurons**2 * (self.padding / 16 + (20 + heat) * self.queries)


def points(config: Config) -> list[Point]:
    """One point per order, size, load, start and draw."""
    grid = []
    for order, neurons in product(dict.fromkeys(config.orders), config.neurons):
        number = partial(find("classical").rounded, neurons=neurons, parity=PARITY)
        for num_patterns in loads.counts(_asked(config, neurons), number, f"classical at N={neurons}"):
            for start, sample in product(config.starts, range(loads.samples_at(config.samples, neurons))):
                point = {"order": order, "neurons": neurons, "patterns": num_patterns, "start": start}
                grid.append(point | {"sample": sample})
    return grid


def _asked(config: Config, neurons: int) -> list[float]:
    """The loads that one size is measured at."""
    return loads.loads_at(config.loads, config.between, neurons)


def cost(config: Config) -> Cost:
    """Cost of all draws, by the programs of the largest load."""
    several = []
    for order, size in product(dict.fromkeys(config.orders), config.neurons):
        drawn = len(_asked(config, size)) * len(config.starts) * loads.samples_at(config.samples, size)
        kind = _program(config, {"order": order, "neurons": size})
        several.append(Cost(drawn, size**2, drawn * kind.cost))
    return contract.total(several)


def measure(config: Config, wanted: Sequence[Point]) -> Iterator[Row]:
    """Rows of points. All orders and starts see the same draws of patterns."""
    hottest = (np.float32, lambda point: config.hottest)
    grid = Grid(
        partial(_program, config), one, {**draws.TRACED, "start": np.float32, "hottest": hottest}, call_cost=2e9
    )
    known = lambda point: {
        "load": point["patterns"] / point["neurons"],
        "queries": min(config.queries, point["patterns"]),
    }
    yield from grids.rows(grid, config.seed, wanted, known_columns=known)


def _program(config: Config, point: Point) -> Program:
    most = find("classical").rounded(max(_asked(config, point["neurons"])), point["neurons"], PARITY)
    return Program(point["order"], point["neurons"], most, min(config.queries, most), config.sweeps, config.max_steps)


def one(program: Program, seed: Array, data: Data, draw: Draw, each: Each) -> Measured:
    """Retained queries of one draw of patterns, and the energies and overlaps where they end."""
    pattern_key, query_key = draws.keys(seed, program.neurons, draw["num_patterns"], draw["sample"])
    stored = spins(pattern_key, program.padding, program.neurons)
    network = hebb_couplings(cast(Memory, find("classical").build(stored, mask=draws.in_use(program, draw))))
    index, keys = draws.numbers_and_keys(query_key, program.queries)

    def query(number: Array, key: Array) -> tuple[Array, Array, Array]:
        start_key, order_key = jax.random.split(key)
        start = flip(start_key, stored[number], 0.5 * (1.0 - draw["start"]))
        end, cycle = _end(program, network, start, order_key, draw["hottest"])
        return jnp.dot(end, stored[number]) / program.neurons, network.energy(end) / program.neurons, cycle

    overlap, energy, cycles = jax.vmap(query)(index, keys)
    valid = index < draw["num_patterns"]
    kept = valid & above(overlap, CUTS["retained"])
    mean = lambda values, used: jnp.sum(jnp.where(used, values, 0.0)) / jnp.sum(used)
    return {
        "retained": jnp.sum(kept),
        "overlap": mean(overlap, valid),
        "overlap_retained": mean(overlap, kept),
        "energy_retained": mean(energy, kept),
        "energy_lost": mean(energy, valid & ~kept),
        "cycles": jnp.sum(valid & cycles),
    }


def _end(program: Program, network: Couplings, start: Array, key: Array, hottest: Array) -> tuple[Array, Array]:
    """End of the dynamics of a program, and whether in a 2-cycle."""
    if program.order in ("greedy", "reluctant"):
        first = jnp.max if program.order == "greedy" else jnp.min
        # One query after the other: each pays for its own flips, of which a lost one makes N²/40.
        by_field = jax.custom_batching.sequential_vmap(partial(_by_field, first=first))
        return by_field(network, start), jnp.array(False)
    if program.order == "cooling":
        return _cooled(program, network, start, key, hottest), jnp.array(False)
    found = retrieve(network, start, dynamics=program.order, key=key, max_steps=program.max_steps)
    return found.state, found.status == CYCLE


def _by_field(network: Couplings, start: Array, first: Callable[[Array], Array]) -> Array:
    """The state after spins against their field have flipped one at a time, by the size of the field, until none is."""
    none, places = -jnp.inf if first is jnp.max else jnp.inf, jnp.arange(len(start))
    against = lambda state, field: jnp.where(field * state < 0, jnp.abs(field), none)

    def step(carry: tuple[Array, Array]) -> tuple[Array, Array]:
        state, field = carry
        each = against(state, field)
        i = jnp.min(jnp.where(each == first(each), places, len(state)))  # argmin reads one number at a time on a CPU
        return state.at[i].multiply(-1.0), field - 2 * state[i] * network.matrix[i]

    moving = lambda carry: jnp.any(carry[0] * carry[1] < 0)
    return jax.lax.while_loop(moving, step, (start, network.cache(start)))[0]


def _cooled(program: Program, network: Couplings, start: Array, key: Array, hottest: Array) -> Array:
    """The state after heat-bath sweeps at temperatures that fall in equal steps, and sweeps at zero to the end."""
    heats = hottest * (1.0 - jnp.arange(STAGES) / STAGES)
    state = anneal(network, start, key, heats, sweeps=program.sweeps // STAGES).state
    return retrieve(network, state, dynamics="asynchronous", key=key, max_steps=program.max_steps).state
