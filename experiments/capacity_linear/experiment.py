"""Capacity of fast-weight memories: the share of keys that find their value, by rule and number of pairs.

n pairs of random unit vectors of D components are written into a matrix S of D × D numbers (`attention.FastWeights`),
one after the other. A key is found if no other stored value has a larger product with what it reads.

    outer            S = Σ k vᵀ: linear attention; half of the keys at n ln n / D² of about ½, the scaling of the figure
    outer:a          the same with every older pair faded by a at each write
    delta            what a key reads is written over: the newest few times D pairs, however many there were
    delta:a          the gated delta rule with a constant gate
    pseudo_inverse   the best matrix in least squares: all keys up to n = D

Typical keys are beside `hopfield.theory.linear`, exact up to 1/D² for the outer product.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache, partial
from itertools import product
from typing import Any

import numpy as np
from scipy.optimize import brentq

from experiments.bounds import name_and_number
from experiments.capacity_linear import measurement
from experiments.capacity_linear.config import Config
from experiments.capacity_linear.figure import panels
from experiments.capacity_linear.summary import summarise
from experiments.contract import Cost, Point, Row
from experiments.shared import draws, grids, loads
from hopfield.theory import linear

__all__ = ["X_AXIS", "Config", "cost", "measure", "panels", "points", "summarise"]
X_AXIS = "load"


def pairs(load: float, neurons: int) -> int:
    """The number n ≥ 2 of pairs nearest to n ln n = load · D²."""
    excess = lambda n: n * np.log(n) - load * neurons**2
    number: Any = brentq(excess, 1.0, 10.0 + 20.0 * load * neurons**2)
    return max(2, round(number))


def cost(config: Config) -> Cost:
    """Cost of all draws: n pairs written into a D × D matrix, and the queries read from it."""
    most, wide = pairs(max(config.loads), max(config.neurons)), max(config.neurons)
    points = len(config.rules) * len(config.neurons) * len(config.loads) * config.samples
    each = most * wide * (3 * wide + config.queries)
    return Cost(points, most * max(wide, config.queries), points * each / 4)


def points(config: Config) -> list[Point]:
    """One point per rule, size, number of pairs and sample."""
    grid = []
    for rule, neurons in product(config.rules, config.neurons):
        number = partial(pairs, neurons=neurons)
        for num_patterns in loads.counts(config.loads, number, f"{rule} at D={neurons}"):
            point = {"rule": rule, "neurons": neurons, "patterns": num_patterns}
            grid += [point | {"sample": sample} for sample in range(config.samples)]
    return grid


def measure(config: Config, wanted: Sequence[Point]) -> Iterator[Row]:
    """Rows of points, theory beside them."""
    grid = measurement.grid(lambda point: _program(config, point))
    yield from grids.rows(grid, config.seed, wanted, known_columns=lambda point: _known_columns(config, point))


def _program(config: Config, point: Point) -> draws.Rule:
    neurons = point["neurons"]
    padding = draws.rows_to_draw(point["patterns"], pairs(max(config.loads), neurons), neurons)
    queries = min(config.queries, padding)
    cost = padding * neurons * (3.0 * neurons + 2 * measurement.CHUNK + queries)
    return draws.Rule(name_and_number(point["rule"])[0], neurons, padding, queries, cost)


def _known_columns(config: Config, point: Point) -> Row:
    num_patterns, neurons = point["patterns"], point["neurons"]
    about = {
        "load": num_patterns * np.log(num_patterns) / neurons**2,
        "theory": _theory(point["rule"], neurons, num_patterns),
    }
    return about | {"asked": min(config.queries, num_patterns)}


@lru_cache(maxsize=4096)
def _theory(rule: str, neurons: int, num_patterns: int) -> float:
    name, decay = name_and_number(rule)
    return float(linear.key_found(neurons, num_patterns, name, decay=1.0 if decay is None else decay))
