"""Finite-size thresholds of the exponential memory, from sizes that can be enumerated to far beyond any computer.

A typical pattern among M = e^(αN) random ones is queried, clean or with flipped spins, by sampling how many others have
which overlap with it (`hopfield.large.overlap_sampling`), at any M. Two loads α = ln M / N are measured at every size:

    weight   half of the queries give their own pattern more than half of the softmax weight
    spin     a spin is wrong after one step in a quarter of the queries, half-way from memory to chance

At sizes where all patterns can be drawn and passed over they are (`method` enumerated), beside the sampled ones. All
loads of a draw (`sample`) share its patterns and its queries, so that errors of these thresholds are those over draws;
each of the sampled queries has patterns of its own.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby

import numpy as np

from experiments.capacity_asymptotic import measurement
from experiments.capacity_asymptotic.config import Config
from experiments.capacity_asymptotic.figure import panels
from experiments.capacity_asymptotic.summary import summarise
from experiments.capacity_asymptotic.theory import thresholds
from experiments.contract import Cost, Point, Row
from experiments.shared import corruptions
from experiments.shared.notes import note

__all__ = ["X_AXIS", "Config", "cost", "measure", "panels", "points", "summarise"]

X_AXIS = "load"
MOST = 2**24
"""Patterns that are enumerated at most."""


def all_enumerated(config: Config) -> bool:
    """Whether every size that is to be enumerated has a load at which it can be."""
    sizes = {point["neurons"] for point in points(config) if point["method"] == "enumerated"}
    return sizes == set(config.enumerated)


def cost(config: Config) -> Cost:
    """Cost of the sampled queries, and of counting all patterns of the enumerated draws by their overlaps."""
    most, loads = max(config.neurons), 2 * len(config.corruption) * len(config.around)
    sampled, drawn = loads * len(config.neurons), loads * len(config.enumerated) * config.samples
    queries = config.queries * len(config.corruption)
    counted = (max(config.enumerated, default=0) + 1) ** 2 * queries
    passes = config.samples * len(config.enumerated) * MOST * counted / 32
    return Cost(
        sampled + drawn,
        2 * max(config.sampled_queries * (most + 1), counted),
        50 * sampled * config.sampled_queries * most + passes,
    )


def points(config: Config) -> list[Point]:
    """One point per method, size, start and load near either threshold. Enumeration has one point for each sample."""
    grid = []
    for neurons in config.neurons:
        for flipped in config.corruption:
            centres = thresholds(config.beta, flipped).values()
            loads = {round(c + a * (1 + 16 / neurons), 6) for c in centres for a in config.around}
            few = sorted(load for load in loads if load * neurons <= np.log(2))
            many = sorted(load for load in loads if load * neurons > np.log(MOST) and neurons in config.enumerated)
            for left, why in (
                (few, "no two patterns: left out"),
                (many, "too many patterns to draw one by one: sampled alone"),
            ):
                if left:
                    note(f"loads {', '.join(map(str, left))} at N={neurons} have {why}")
            for load in sorted(loads - set(few)):
                point = {"neurons": neurons, "corruption": corruptions.name(flipped), "beta": config.beta, "load": load}
                grid.append({"method": "sampled", **point, "sample": 0})
                if neurons in config.enumerated and load not in many:
                    grid += [{"method": "enumerated", **point, "sample": i} for i in range(config.samples)]
    return grid


def measure(config: Config, wanted: Sequence[Point]) -> Iterator[Row]:
    """Rows of points. Enumerated points of a draw share one pass over all loads and starts."""
    for point in wanted:
        if point["method"] == "sampled":
            yield point | measurement.row_by_sampling(config, point)
    drawn = sorted((point for point in wanted if point["method"] == "enumerated"), key=_draw)
    for (neurons, sample), members in groupby(drawn, key=_draw):
        yield from measurement.rows_by_enumeration(config, neurons, sample, list(members))


def _draw(point: Point) -> tuple:
    return point["neurons"], point["sample"]
