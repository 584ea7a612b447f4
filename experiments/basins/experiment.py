"""Basins of attraction: where a query ends that starts at a given overlap with a stored pattern.

A query of a network of spins is the pattern with exactly (1 − m)/2 of its spins flipped; elsewhere it is m · pattern
plus a random vector across, of the pattern's norm. It may end

    right     near its own pattern: at an overlap with it above `near`
    some      near any pattern, its own or another
    reversed  near no pattern but near the negative of one

and the initial overlap from which half of the queries end right is the critical one at that load. An overlap of 0.8
(`overlaps.retained`) tells random patterns of many spins apart. Of M = e^(αN) patterns on a sphere the nearest
to any state, retrieved or not, lies at √(1 − e^(−2α)), which is 0.8 at α = 0.51; and where basins are narrow, as
for projection at high load, starts above 0.8 may rest there without being retrieved: `near` has to be well above.

Theory of the classical network is the statistical neurodynamics of Amari and Maginu. It follows the dynamics for a few
steps alone, so that its critical overlap is no prediction of theirs: 0.211 against 0.336(4) at N = 2000, M = 201.
With `max_steps=1` queries end after one update, and theory covers one step, for N → ∞, or none.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from experiments import contract
from experiments.basins.results import panels, summarise
from experiments.columns import Column, shared
from experiments.contract import Cost, Point, Row, grid_axis, option
from experiments.shared import draws, grids, loads, spellings
from experiments.shared.grids import Data, Draw, Each, Grid, Measured
from hopfield import Couplings, Memory, retrieve
from hopfield.dynamics import CYCLE, STEP_LIMIT
from hopfield.geometry.sphere import projection
from hopfield.memories import find
from hopfield.observables.overlaps import above
from hopfield.patterns import flip
from hopfield.spaces import Spins

__all__ = ["X_AXIS", "Config", "check", "cost", "measure", "panels", "points", "summarise"]

DYNAMICS = ("asynchronous", "synchronous")


@dataclass
class Scale:
    """Scale that one memory is measured at."""

    neurons: list[int] = grid_axis([64], "numbers of neurons N", least=2)
    loads: list[float] = grid_axis([0.05, 0.15], "loads, in the memory's own scaling", above=0)
    samples: int = option(6, "draws of patterns at each load", least=1, extends=True)
    queries: int = option(4, "patterns queried in each sample", least=1)
    dynamics: list[str] | None = option(
        None, "asynchronous or synchronous (null: asynchronous for spins, unless at ln M / N)", among=DYNAMICS
    )
    beta: float | None = option(None, "inverse temperature, where the memory has one", above=0)
    near: float = option(0.8, "overlap above which a state is near a pattern, from 0 to 1", above=0, below=1)
    max_steps: int = option(50, "updates or sweeps of one query at most", least=1)


@dataclass
class Config(contract.Config):
    """Options of the basins of attraction; the defaults are smoke scale."""

    memories: list[str] = option(
        ["classical", "modern"],
        "memories, each name or name:parameter as in dense:4, sparse:1.5",
        meaning="memory",
        nonempty=True,
        axis=True,
    )
    overlaps: list[float] = grid_axis([0.1, 0.3, 0.5, 0.7, 0.9], "initial overlaps, from 0 to 1", least=0, most=1)
    per_memory: dict[str, Scale] = option(
        {}, "scales of single memories", meaning="memory", entries_of="memories", axis=True
    )


COLUMNS = shared(
    "memory",
    "dynamics",
    "neurons",
    "patterns",
    "beta",
    "max_steps",
    "queries",
    "sample",
    "load",
    "cycles",
    "overlap",
    "step_limit",
    "steps",
) | {
    "near": Column("overlap above which an end counts as near a pattern", "−1 to 1"),
    "initial_overlap": Column("overlap with the pattern that was asked for at the start", "−1 to 1"),
    "start_overlap": Column("overlap at the start, which whole spins meet to 1/N", "−1 to 1"),
    "right": Column("queries that end near their own pattern", "count of queries", kind=int),
    "some": Column("queries that end near any pattern", "count of queries", kind=int),
    "reversed": Column("queries that end near no pattern but near the negative of one", "count of queries", kind=int),
}


X_AXIS = "start_overlap"
PARITY = "odd"
"""Parity of the numbers of patterns where fields are integers, the same at all sizes: no ties keep a spin."""


def check(config: Config) -> None:
    """Check that memories and scales can be measured; else ValueError."""
    for memory, scale in _scales(config, (*config.per_memory, *config.memories)).items():
        _check_scale(memory, scale)


def _scales(config: Config, memories: Iterable[str]) -> dict[str, Scale]:
    """Scale of each memory by its name: its own numbers, or smoke scale."""
    return {memory: spellings.entry(config.per_memory, memory) or Scale() for memory in memories}


def _check_scale(memory: str, scale: Scale) -> None:
    blueprint = find(memory)
    if blueprint.draw is not None:
        raise ValueError(f"memories must be of unbiased patterns, got {memory}, which conf=capacity measures")
    for neurons in scale.neurons:
        most = blueprint.scaling.num_patterns(max(scale.loads), neurons)
        if most * neurons > 2**28:
            raise ValueError(f"loads must give {memory} of N={neurons} fewer than 2^28 / N patterns, got {most:.3g}")
    draws.check(memory, _dynamics(memory, scale), scale.beta)


def _dynamics(memory: str, scale: Scale) -> list[str]:
    return scale.dynamics or [draws.usual_dynamics(memory)]


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


def cost(config: Config) -> Cost:
    """Cost of all queries of every memory: its load, size, initial overlap and sample."""
    scales = _scales(config, config.memories)
    return contract.total(_memory_cost(*entry, len(config.overlaps)) for entry in scales.items())


def _memory_cost(memory: str, scale: Scale, overlaps: int) -> Cost:
    parts = []
    for neurons in scale.neurons:
        counts = [find(memory).rounded(load, neurons) for load in scale.loads]
        queries, most = len(_dynamics(memory, scale)) * scale.samples * overlaps * scale.queries, max(counts)
        size = max(neurons**2, neurons * most, scale.queries * most)
        points = queries // scale.queries * len(counts)
        parts.append(Cost(points, size, 20 * queries * sum(counts) * neurons + 20 * queries * neurons**2))
    return contract.total(parts)


def points(config: Config) -> list[Point]:
    """One point per memory, dynamics, size, load, initial overlap and sample."""
    grid = []
    for memory, scale in _scales(config, config.memories).items():
        blueprint = find(memory)
        beta = blueprint.beta if scale.beta is None else scale.beta
        for dynamics in _dynamics(memory, scale):
            for neurons in scale.neurons:
                number = partial(blueprint.rounded, neurons=neurons, parity=PARITY)
                for num_patterns in loads.counts(scale.loads, number, f"{memory} at N={neurons}"):
                    shared = {"memory": memory, "dynamics": dynamics, "neurons": neurons, "patterns": num_patterns}
                    shared |= {"beta": beta, "near": scale.near, "max_steps": scale.max_steps}
                    shared |= {"queries": _queries_per_draw(scale, num_patterns)}
                    grid += [
                        shared | {"initial_overlap": overlap, "sample": sample}
                        for overlap in sorted(config.overlaps)
                        for sample in range(scale.samples)
                    ]
    return grid


def _queries_per_draw(scale: Scale, num_patterns: int) -> int:
    """Number of patterns that are queried in one draw."""
    return min(scale.queries, num_patterns)


def measure(config: Config, wanted: Sequence[Point]) -> Iterator[Row]:
    """Rows of points. A draw depends on the seed, N, M and its number, and serves all initial overlaps."""
    scales = _scales(config, config.memories)
    program = lambda point: _program(config, scales[point["memory"]], point)
    draw, each = {**draws.TRACED, "beta": np.float32, "near": np.float32}, {"initial_overlap": np.float32}
    grid = Grid(program, one, draw, each, lambda program: program.overlaps, most=8, call_cost=1e10, whole=True)
    for row in grids.rows(grid, config.seed, wanted, known_columns=_load):
        yield row | {"start_overlap": round(row["start_overlap"], 6)}  # one place for queries of one overlap


def _load(point: Point) -> dict[str, float]:
    return {"load": find(point["memory"]).scaling.load(point["patterns"], point["neurons"])}


def _program(config: Config, scale: Scale, point: Point) -> Program:
    largest = find(point["memory"]).rounded(max(scale.loads), point["neurons"], PARITY)
    padding = draws.rows_to_draw(point["patterns"], largest, point["neurons"])
    return Program(
        memory=point["memory"],
        dynamics=point["dynamics"],
        neurons=point["neurons"],
        padding=padding,
        queries=_queries_per_draw(scale, padding),
        overlaps=len(config.overlaps),
        max_steps=point["max_steps"],
    )


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
    return flip(key, target, 0.5 * (1.0 - overlap))


def _vector_of_overlap(key: Array, target: Array, overlap: Array) -> Array:
    """A state of the target's norm: overlap · target, the rest in a random direction across."""
    direction = projection(target)
    noise = jax.random.normal(key, target.shape, target.dtype)
    across = projection(noise - jnp.dot(noise, direction) * direction)
    norm = jnp.linalg.norm(target)
    return overlap * target + jnp.sqrt(jnp.maximum(1.0 - overlap**2, 0.0)) * norm * across
