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
from itertools import product

from experiments import contract
from experiments.capacity_features import measurement
from experiments.capacity_features.config import Config
from experiments.capacity_features.figure import panels
from experiments.capacity_features.summary import summarise
from experiments.contract import Cost, Point, Row
from experiments.shared import grids
from experiments.shared.axes import product_of

__all__ = ["X_AXIS", "Config", "cost", "measure", "panels", "points", "summarise"]

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
        each = measurement.Program("trigonometric", neurons, num_patterns, features, config.queries).cost
        elements = max(features * neurons, num_patterns * neurons, features * 256)
        parts.append(Cost(number, elements, number * each))
    return contract.total(parts)


def measure(config: Config, wanted: Sequence[Point]) -> Iterator[Row]:
    """Rows of points."""
    noisy = [point | {"noise": config.noise} for point in wanted]
    for row in grids.rows(measurement.grid(config.queries), config.seed, noisy):
        yield {name: value for name, value in row.items() if name != "noise"}
