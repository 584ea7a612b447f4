"""Random features compared with exact kernels, for one draw of patterns and of features, compiled."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from experiments.contract import Point
from experiments.shared import draws
from experiments.shared.grids import Data, Draw, Each, Grid, Measured
from hopfield import Memory, retrieve, spaces
from hopfield.networks import random_features
from hopfield.networks.random_features import FeatureMemory
from hopfield.patterns import sphere
from hopfield.similarities import SquaredDistance

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
    empty = FeatureMemory.create(feature_key, *shape, beta=draw["beta"], kind=kind, orthogonal=orthogonal)
    memory = empty.add(patterns)
    exact = Memory.create(patterns, draw["beta"], similarity=SquaredDistance(), space=spaces.Euclidean(confined=False))

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
