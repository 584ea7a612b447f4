"""Capacity for structured patterns: how many are retained against what they share, by ensemble and memory.

    manifold:R       x = sgn(Σ_k c_k f_k) of D = R·N Gaussian features f and Gaussian c: the hidden manifold
    features:R       the same with D features that are spins: the random-features network, which learns them
    features:R:A     each pattern of A features
    hierarchical:q   four children of each ancestor, with a mean overlap q with it
    random           independent spins

A pattern is retained if asynchronous sweeps from it end at an overlap above 0.8. `correlation` is the mean square
overlap of two patterns times N, 1 for independent ones, and `separation` 1 less the largest overlap with another:
both depend on M, of trees by the share of siblings, and beside a critical load both are taken at that load. Features
are asked the same as patterns, though none is stored: with Hebb's rule one of D has a field of 2M/(πD),
and beside it, in units of its square with δ = D/N and α = M/N, crosstalk δ from other features, (π/2) δ/α from
coefficients that M patterns do not average out, and (π²/4) δ²/α from the rest of the patterns. Where a crosstalk of a
is borne, features are retained from a load of (π/2) δ (1 + πδ/2)/(a − δ) on: a is 0.138 for N → ∞, and the critical
load of independent patterns at the measured size. It is an estimate by signal and noise, no replica theory.

Source: Goldt et al. 2020; Negri et al. 2023 (its learning transition); Parga & Virasoro 1986.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array

from experiments import contract
from experiments.capacity_structured.results import panels, summarise
from experiments.columns import Column, shared
from experiments.contract import Cost, Point, Row, grid_axis, option
from experiments.shared import draws, grids, loads
from experiments.shared.grids import Data, Draw, Each, Grid, Measured
from experiments.shared.retention import CUTS
from hopfield import retrieve
from hopfield.dynamics import STEP_LIMIT
from hopfield.memories import find
from hopfield.observables.overlaps import above
from hopfield.patterns import gaussian, hierarchical, spins, superpositions

__all__ = ["X_AXIS", "Config", "check", "cost", "measure", "panels", "points", "summarise"]

X_AXIS = "load"
CHILDREN = 4
PARITY = "odd"


@dataclass
class Config(contract.Config):
    """Options of the capacity for structured patterns; the defaults are smoke scale."""

    memories: list[str] = option(
        ["classical"],
        "memories on spins, as classical, projection, dense:3",
        meaning="memory",
        nonempty=True,
        axis=True,
    )
    ensembles: list[str] = grid_axis(
        ["random", "features:0.1"], "random, manifold:R, features:R, features:R:A, hierarchical:q"
    )
    neurons: list[int] = grid_axis([64], "numbers of neurons N", least=16, most=8192)
    loads: list[float] = grid_axis([0.05, 0.2], "loads, in the memory's own scaling", above=0)
    samples: int = option(4, "draws of patterns and features at each load", least=2, extends=True)
    queries: int = option(4, "patterns, and features, queried in each sample", least=1)
    max_steps: int = option(200, "sweeps of one query at most", least=1)


COLUMNS = shared("memory", "ensemble", "neurons", "patterns", "sample", "load", "queries", "overlap", "step_limit") | {
    "retained": Column("queries that end above an overlap of 0.8 with their pattern", "count of queries", kind=int),
    "features": Column("features D that patterns are made of, 0 without any", "count", kind=int),
    "features_asked": Column("features from which retrieval was begun", "count", kind=int),
    "features_retained": Column("of these, those that end above an overlap of 0.8", "count of features", kind=int),
    "correlation": Column("mean square overlap of two patterns times N, 1 for independent ones"),
    "separation": Column("1 less the largest overlap of a queried pattern with another, mean", "0 to 2"),
}


class Program(NamedTuple):
    """Structure of a compiled measurement."""

    memory: str
    ensemble: str
    neurons: int
    padding: int
    queries: int
    max_steps: int

    @property
    def cost(self) -> float:
        """Rough multiplications of one draw."""
        return self.neurons * self.padding * (self.neurons / 16 + self.padding / 16 + 40.0 * self.queries)


def parts(ensemble: str) -> tuple[str, list[float]]:
    """Word and numbers of an ensemble's name."""
    word, *numbers = ensemble.split(":")
    return word, [float(number) for number in numbers]


def num_features(ensemble: str, neurons: int) -> int:
    """Number D of features, 0 of an ensemble without any."""
    word, numbers = parts(ensemble)
    return max(1, round(numbers[0] * neurons)) if word in ("manifold", "features") else 0


def check(config: Config) -> None:
    """Check that ensembles are known and memories on spins; else ValueError."""
    known = {"random": (0,), "manifold": (1,), "features": (1, 2), "hierarchical": (1,)}
    for ensemble in config.ensembles:
        word, *numbers = ensemble.split(":")
        fits = len(numbers) in known.get(word, ()) and all(number.replace(".", "", 1).isdecimal() for number in numbers)
        if not fits or any(float(number) <= 0 for number in numbers[:1]):
            told = "random, manifold:R, features:R, features:R:A or hierarchical:q with numbers above 0"
            raise ValueError(f"ensembles must be {told}, got {ensemble!r}")
        if word == "hierarchical" and float(numbers[0]) > 1:
            raise ValueError(f"ensembles must have a q of at most 1 in hierarchical:q, got {ensemble!r}")
        for neurons in config.neurons if len(numbers) == 2 else ():
            if not 1 <= float(numbers[1]) <= num_features(ensemble, neurons):
                raise ValueError(f"ensembles must have an A from 1 to the D of features:R:A, got {ensemble!r}")
    for memory in config.memories:
        if find(memory).ensemble != "spins":
            raise ValueError(f"memories must be on spins, got {memory}")


def points(config: Config) -> list[Point]:
    """One point per memory, ensemble, size, load and draw."""
    grid = []
    for memory, ensemble, neurons in product(config.memories, dict.fromkeys(config.ensembles), config.neurons):
        number = partial(find(memory).rounded, neurons=neurons, parity=PARITY)
        for num_patterns in loads.counts(config.loads, number, f"{memory} at N={neurons}"):
            point = {"memory": memory, "ensemble": ensemble, "neurons": neurons, "patterns": num_patterns}
            grid += [point | {"sample": sample} for sample in range(config.samples)]
    return grid


def cost(config: Config) -> Cost:
    """Cost of all draws, by the programs of the largest load."""
    kinds = [
        _program(config, {"memory": memory, "ensemble": ensemble, "neurons": size})
        for memory, ensemble, size in product(config.memories, config.ensembles, config.neurons)
    ]
    drawn = len(config.loads) * config.samples
    most = max(max(k.padding, k.neurons) ** 2 for k in kinds)
    return Cost(drawn * len(kinds), most, drawn * sum(k.cost for k in kinds))


def measure(config: Config, wanted: Sequence[Point]) -> Iterator[Row]:
    """Rows of points. A draw depends on the seed, N, M and its number; its features serve all M."""
    grid = Grid(partial(_program, config), one, draws.TRACED, call_cost=2e9)
    yield from grids.rows(grid, config.seed, wanted, known_columns=_known_columns)


def _known_columns(point: Point) -> Row:
    return {
        "load": find(point["memory"]).scaling.load(point["patterns"], point["neurons"]),
        "features": num_features(point["ensemble"], point["neurons"]),
    }


def _program(config: Config, point: Point) -> Program:
    most = find(point["memory"]).rounded(max(config.loads), point["neurons"], PARITY)
    return Program(point["memory"], point["ensemble"], point["neurons"], most, config.queries, config.max_steps)


def drawn(ensemble: str, key: Array, rows: int, neurons: int) -> tuple[Array, Array | None]:
    """Patterns [M, N] of an ensemble, and its features [D, N] as spins, if any."""
    word, numbers = parts(ensemble)
    if word == "random":
        return spins(key, rows, neurons), None
    if word == "hierarchical":
        return hierarchical(key, rows, neurons, numbers[0], children=CHILDREN), None
    own, shared_key = jax.random.split(key)
    count, active = num_features(ensemble, neurons), int(numbers[1]) if len(numbers) == 2 else None
    features = (gaussian if word == "manifold" else spins)(shared_key, count, neurons)
    return superpositions(own, rows, features, active=active), jnp.where(features >= 0, 1.0, -1.0)


def one(program: Program, seed: Array, data: Data, draw: Draw, each: Each) -> Measured:
    """Retained patterns and features of one draw, and how alike its patterns are."""
    pattern_key, query_key = draws.keys(seed, program.neurons, draw["num_patterns"], draw["sample"])
    stored, features = drawn(program.ensemble, pattern_key, program.padding, program.neurons)
    used = draws.in_use(program, draw)
    memory = find(program.memory).build(stored, mask=used)
    network = draws.network(memory)
    pattern_keys, feature_keys = (jax.random.split(key, program.queries) for key in jax.random.split(query_key))

    def end(start: Array, key: Array) -> tuple[Array, Array]:
        found = retrieve(network, start, dynamics="asynchronous", key=key, max_steps=program.max_steps)
        return jnp.dot(found.state, start) / program.neurons, found.status == STEP_LIMIT

    cues = stored[: program.queries]
    (overlap, cut), valid = jax.vmap(end)(cues, pattern_keys[: len(cues)]), used[: len(cues)]
    between = jnp.where(used[None, :], cues @ stored.T / program.neurons, 0.0)
    between = between.at[jnp.arange(len(cues)), jnp.arange(len(cues))].set(0.0)
    others = jnp.sum(valid) * (draw["num_patterns"].astype(jnp.float32) - 1.0)
    count, asked = jnp.sum(valid), 0 if features is None else min(program.queries, len(features))
    held = 0 if features is None else jnp.sum(above(jax.vmap(end)(features[:asked], feature_keys[:asked])[0], 0.8))
    square = jnp.sum(jnp.where(valid[:, None], between**2, 0.0))
    return {
        "queries": count,
        "retained": jnp.sum(valid & above(overlap, CUTS["retained"])),
        "step_limit": jnp.sum(valid & cut),
        "overlap": jnp.sum(jnp.where(valid, overlap, 0.0)) / count,
        "features_asked": jnp.asarray(asked),
        "features_retained": jnp.asarray(held),
        "correlation": program.neurons * square / others,
        "separation": 1.0 - jnp.sum(jnp.where(valid, jnp.max(between, axis=1), 0.0)) / count,
    }
