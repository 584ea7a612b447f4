"""Capacity of random features: how well a memory of fixed size Y approximates one of M stored patterns.

Patterns are points of a sphere of norm 1 in N dimensions, E(x) = −ln Σ exp(−β‖x−ξ‖²/2)/β. Queries are patterns with
noise. Columns, means over the queries of a draw:

    squared_error       of the sum of kernels, relative to it
    squared_log_error   of β E; none where a query's energy is not a number
    squared_distance    between the ends of the descents on both energies; none where one is lost
    predicted           relative error that the memory itself predicts, without the patterns
    failed, lost        queries whose energy, or whose end, is not a number: the predicted error is above one half
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from experiments import contract
from experiments.capacity_features.results import panels, summarise
from experiments.columns import Column, shared
from experiments.contract import Cost, Point, Row, grid_axis, option
from experiments.shared import draws, grids
from experiments.shared.axes import product_of
from experiments.shared.grids import Data, Draw, Each, Grid, Measured
from hopfield import Memory, retrieve, spaces
from hopfield.networks import random_features
from hopfield.networks.random_features import FeatureMemory
from hopfield.patterns import sphere
from hopfield.similarities import SquaredDistance

__all__ = ["X_AXIS", "Config", "cost", "measure", "panels", "points", "summarise"]

MAPS = ("trigonometric", "orthogonal", "positive")
"""Sin-cos features, the same with projections at right angles, and positive exponentials."""


@dataclass
class Config(contract.Config):
    """Options of the capacity of random features; the defaults are smoke scale."""

    maps: list[str] = grid_axis(["trigonometric"], among=MAPS)
    neurons: list[int] = grid_axis([8], "components N of a pattern", least=2, most=1024)
    patterns: list[int] = grid_axis([8], "patterns M, of norm 1", least=1, most=100_000)
    betas: list[float] = grid_axis([2.0], "inverse temperatures β", above=0, most=1e4)
    features: list[int] = grid_axis([64, 256], "sizes Y of the memory, even numbers", least=4, most=2**20)
    samples: int = option(6, "draws of patterns and of features", least=2, extends=True)
    queries: int = option(4, "patterns that are asked for, each with noise", least=1, most=256)
    noise: float = option(0.3, "norm of the noise of a query", least=0, most=10)

    def __post_init__(self) -> None:
        super().__post_init__()
        for size in self.features:
            if size % 2:
                raise ValueError(f"features must be even numbers, got {size}")


COLUMNS = shared("neurons", "patterns", "beta", "sample") | {
    "map": Column("kind of random features", kind=str),
    "features": Column("number Y of random features", "count", kind=int),
    "squared_error": Column("squared error of the sum of kernels, relative to it, mean over queries"),
    "squared_log_error": Column(
        "squared error of βE, mean over queries; empty where the energy of one is not a number"
    ),
    "squared_distance": Column(
        "squared distance between the ends of the descents on both energies; empty where one is lost"
    ),
    "predicted": Column("relative error that the memory predicts of itself, without the patterns"),
    "failed": Column("share of queries whose energy is not a number", "0 to 1"),
    "lost": Column("share of queries whose end is not a number", "0 to 1"),
}


X_AXIS = "features"


def points(config: Config) -> list[Point]:
    """One point per map, size, number of patterns, β, Y and sample."""
    return product_of(
        map=config.maps,
        neurons=config.neurons,
        patterns=config.patterns,
        beta=config.betas,
        features=config.features,
        sample=range(config.samples),
    )


def cost(config: Config) -> Cost:
    """Cost of all draws: Y random features of the queries, and the exact kernels of M patterns."""
    parts = []
    for neurons, num_patterns, features in product(config.neurons, config.patterns, config.features):
        number = len(config.maps) * len(config.betas) * config.samples
        each = Program("trigonometric", neurons, num_patterns, features, config.queries).cost
        elements = max(features * neurons, num_patterns * neurons, features * 256)
        parts.append(Cost(number, elements, number * each))
    return contract.total(parts)


def measure(config: Config, wanted: Sequence[Point]) -> Iterator[Row]:
    """Rows of points."""
    noisy = [point | {"noise": config.noise} for point in wanted]
    for row in grids.rows(grid(config.queries), config.seed, noisy):
        yield {name: value for name, value in row.items() if name != "noise"}


STEPS = 40


class Program(NamedTuple):
    """Structure of a compiled measurement: the values that select its program. All others are traced."""

    map: str
    neurons: int
    num_patterns: int
    features: int
    queries: int

    @property
    def cost(self) -> float:
        """Rough multiplications of one draw."""
        each = self.features * (self.neurons + 20.0)
        return each * (self.num_patterns + 3 * STEPS * self.queries) + 20.0 * self.num_patterns * self.queries * STEPS


def grid(queries: int) -> Grid:
    """Grid of draws. A draw depends on the seed, N, M, Y and its number, and the size of its noise on the option."""

    def program(point: Point) -> Program:
        return Program(point["map"], point["neurons"], point["patterns"], point["features"], queries)

    return Grid(program, one, {"beta": np.float32, "sample": np.uint32, "noise": np.float32}, call_cost=2e9)


def one(program: Program, seed: Array, data: Data, draw: Draw, each: Each) -> Measured:
    """Errors of sums, of energies and of the ends of descents, over queries near stored patterns."""
    key, other = draws.keys(seed, program.neurons, program.num_patterns, draw["sample"])
    patterns = sphere(key, program.num_patterns, program.neurons, 1.0)
    feature_key, noise_key = jax.random.split(jax.random.fold_in(other, program.features))
    queries = patterns[jnp.arange(program.queries) % program.num_patterns]
    queries = queries + draw["noise"] * sphere(noise_key, program.queries, program.neurons, 1.0)
    kind = "positive" if program.map == "positive" else "trigonometric"
    shape = program.neurons, program.features
    orthogonal = program.map == "orthogonal"
    empty = FeatureMemory(feature_key, *shape, beta=draw["beta"], kind=kind, orthogonal=orthogonal)
    memory = empty.add(patterns)
    exact = Memory(patterns, draw["beta"], similarity=SquaredDistance(), space=spaces.Euclidean(confined=False))

    def errors_of_query(x: Array) -> tuple[Array, Array, Array, Array]:
        log_sum = -draw["beta"] * exact.energy(x)
        value, _ = memory.kernel_sum(x)
        energy = memory.energy(x)
        end = random_features.descend(memory, x, max_steps=STEPS).state
        distance = jnp.linalg.norm(end - retrieve(exact, x, max_steps=STEPS).state)
        relative = value * jnp.exp(-log_sum) - 1.0
        return relative, -draw["beta"] * energy - log_sum, distance, memory.predicted_error(x)

    relative, log_error, distance, predicted = jax.vmap(errors_of_query)(queries)
    return {
        "squared_error": jnp.mean(relative**2),
        "squared_log_error": jnp.mean(log_error**2),  # not a number where any query is out of reach
        "squared_distance": jnp.mean(distance**2),
        "predicted": jnp.mean(jnp.minimum(predicted, 1e6)),
        "failed": jnp.mean(jnp.isnan(log_error).astype(jnp.float32)),
        "lost": jnp.mean(jnp.isnan(distance).astype(jnp.float32)),
    }
