"""One draw of digits that are stored and queried with hidden quadrants, compiled."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from experiments.contract import Point
from experiments.hierarchy import networks
from experiments.hierarchy.config import FLAT
from experiments.hierarchy.networks import PIXELS, POSITIONS
from experiments.shared import draws
from experiments.shared.grids import Draw, Each, Grid, Measured
from hopfield import graphs
from hopfield.patterns import datasets

STEPS = 30


class Program(NamedTuple):
    """Structure of a compiled measurement: the values that select its program. All others are traced."""

    parts: int
    padding: int
    queries: int

    @property
    def cost(self) -> float:
        """Rough multiplications of one draw: steps of the queries, and the learning of parts."""
        each = POSITIONS * PIXELS * (self.parts or self.padding) + 10 * self.padding
        learning = 2 * networks.ROUNDS * POSITIONS * PIXELS * self.parts * self.padding
        return 6.0 * STEPS * 2 * self.queries * each + learning


def digits(_: Program) -> np.ndarray:
    """All digits [rows, Q, P], every quadrant a row of pixels from 0 to 1."""
    squares = np.asarray(datasets.digits(), np.float32).reshape(-1, 2, 4, 2, 4)
    return squares.transpose(0, 1, 3, 2, 4).reshape(-1, POSITIONS, PIXELS)


def grid(program: Callable[[Point], Program]) -> Grid:
    """Grid of draws. A draw depends on the seed, M and its number, so that all memories share their digits."""
    draw = {**draws.TRACED, "hidden": np.uint32, "beta": np.float32, "coupling": np.float32}
    return Grid(program, one, draw, call_cost=2e9)


def one(program: Program, seed: Array, data: Array, draw: Draw, each: Each) -> Measured:
    """Number of stored digits that are found, and the errors of the hidden pixels of stored digits and of others."""
    key, _ = draws.keys(seed, POSITIONS * PIXELS, draw["num_patterns"], draw["sample"])
    order = jax.random.permutation(key, data.shape[0])
    stored = data[order[: program.padding]]
    used = draws.in_use(program, draw)
    mean = jnp.sum(stored * used[:, None, None], axis=0) / jnp.sum(used)
    hidden = jnp.broadcast_to(jnp.arange(POSITIONS)[:, None] >= POSITIONS - draw["hidden"], (POSITIONS, PIXELS))
    if program.parts == FLAT:
        graph = networks.flat(stored, used, draw["beta"])
    else:
        graph = networks.hierarchical(stored, used, program.parts, draw["beta"], draw["coupling"])

    def retrieve_digit(digit: Array) -> tuple[Array, Array]:
        start = networks.rest(graph, used) | {"pixels": jnp.where(hidden, mean, digit)}
        end = graphs.descend(graph, start, STEPS, clamped={"pixels": ~hidden}).states
        squared = jnp.sum((end["pixels"] - digit) ** 2) / jnp.sum(hidden)
        return jnp.argmax(end["wholes"]), squared

    index = jnp.arange(program.queries)
    valid = index < draw["num_patterns"]
    nearest, squared = jax.vmap(retrieve_digit)(stored[: program.queries])
    _, other = jax.vmap(retrieve_digit)(data[order[-program.queries :]])
    return {
        "right": jnp.sum(valid & (nearest == index)),
        "asked": jnp.sum(valid),
        "error": jnp.sqrt(jnp.sum(jnp.where(valid, squared, 0.0)) / jnp.sum(valid)),
        "error_other": jnp.sqrt(jnp.mean(other)),
    }
