"""Hierarchy: a memory of digits made of parts beside a flat one, by the numbers that each of them stores.

M digits are stored. The flat memory has a unit for each; the hierarchical one (Krotov 2021) has K parts for every
quadrant, learned by k-means from the stored digits, and a unit for each digit that is joined to its four parts. Both
are graphs of layers. Quadrants of a digit are hidden, start at the mean of the stored digits, and follow the descent.

    right, asked   stored digits whose own unit ends with the largest field, of those asked for
    error          root mean square of the hidden pixels' errors, of stored digits
    error_other    the same of digits that are not stored
    numbers        that the memory stores: 64 M pixels, or 64 K pixels and 4 M names of parts
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from experiments import contract
from experiments.contract import Cost, Point, Row
from experiments.hierarchy import networks
from experiments.hierarchy.config import FLAT, Config
from experiments.hierarchy.networks import PIXELS, POSITIONS
from experiments.hierarchy.results import panels, summarise
from experiments.shared import draws, grids
from experiments.shared.axes import product_of
from experiments.shared.grids import Draw, Each, Grid, Measured
from hopfield import graphs
from hopfield.patterns import datasets

__all__ = ["X_AXIS", "Config", "cost", "measure", "panels", "points", "summarise"]

X_AXIS = "patterns"


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


def points(config: Config) -> list[Point]:
    """One point per number of parts, quadrants hidden, number of digits and sample."""
    return product_of(parts=config.parts, hidden=config.hidden, patterns=config.patterns, sample=range(config.samples))


def cost(config: Config) -> Cost:
    """Cost of all draws, one for each memory, number of digits, number of hidden quadrants and sample."""
    draws = len(config.patterns) * len(config.hidden) * config.samples
    kinds = [_program(config, parts) for parts in config.parts]
    elements = [kind.padding * 4 * max(16, kind.parts) * kind.queries for kind in kinds]
    return contract.total(Cost(draws, size, draws * kind.cost) for kind, size in zip(kinds, elements, strict=True))


def _program(config: Config, parts: int) -> Program:
    return Program(parts, max(*config.patterns, config.queries), config.queries)


def measure(config: Config, wanted: Sequence[Point]) -> Iterator[Row]:
    """Rows of points, each with the stored numbers before its measurement."""
    options = {"beta": config.beta, "coupling": config.coupling}
    grid = _grid(lambda point: _program(config, point["parts"]))
    rows = grids.rows(grid, config.seed, [point | options for point in wanted], digits, _known_columns)
    for row in rows:
        yield {name: value for name, value in row.items() if name not in options}


def _known_columns(point: Point) -> Row:
    return {"numbers": networks.numbers(point["parts"], point["patterns"])}


STEPS = 30


def digits(_: Program) -> np.ndarray:
    """All digits [rows, Q, P], every quadrant a row of pixels from 0 to 1."""
    squares = np.asarray(datasets.digits(), np.float32).reshape(-1, 2, 4, 2, 4)
    return squares.transpose(0, 1, 3, 2, 4).reshape(-1, POSITIONS, PIXELS)


def _grid(program: Callable[[Point], Program]) -> Grid:
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
        end = graphs.descend(graph, start, STEPS, clamped={"pixels": ~hidden}).state
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
