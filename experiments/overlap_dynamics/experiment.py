"""Overlaps in time: m(t) of classical and dense networks under synchronous steps, beside statistical neurodynamics.

A start is a pattern with (1 − m)/2 of its spins flipped, to the nearest whole number; labels and theory are of the
overlap that these leave. Columns: `final`, the mean overlap of the queries of a draw after `step` steps; `retained`,
how many of the `queries` have one above 0.8 then, the observation time of a load near the last one with retrieval. The
first step is known exactly at every N and M. For N → ∞ Amari & Maginu's theory of the classical network has noise that
forgets all steps but the last, the map of dense ones forgets them all; the generating functional, exact for N → ∞, is
drawn for the first twenty steps.
"""

from collections.abc import Iterator, Sequence
from functools import partial

from experiments.contract import Cost, Point, Row
from experiments.overlap_dynamics import measurement, theory
from experiments.overlap_dynamics.config import LARGEST, Config
from experiments.overlap_dynamics.figure import panels
from experiments.overlap_dynamics.summary import summarise
from experiments.shared import draws, grids, loads
from experiments.shared.axes import product_of

__all__ = ["X_AXIS", "Config", "check", "cost", "measure", "panels", "points", "summarise"]

X_AXIS = "step"


def _curves(config: Config) -> list[Point]:
    """Degree, size, load and odd number of patterns of every network that is not too large."""
    networks = product_of(degree=config.degrees, neurons=config.neurons)
    last = lambda network: theory.critical_load(network["degree"])
    return loads.curves(networks, config.around, last, "degree {degree} at N={neurons}", least=3, largest=LARGEST)


def _overlaps(config: Config, neurons: int) -> list[float]:
    """Initial overlaps in the given order. Of overlaps with the same number of flipped spins, the first is kept."""
    number = partial(theory.flipped_spins, neurons)
    loads.counts(config.overlaps, number, f"N={neurons}", name="overlaps", counted="{} flipped spins")
    first = {number(overlap): overlap for overlap in reversed(config.overlaps)}
    return [overlap for overlap in config.overlaps if first[number(overlap)] == overlap]


def check(config: Config) -> None:
    """Check that a network of the options is small enough to be measured; else ValueError."""
    _curves(config)


def points(config: Config) -> list[Point]:
    """One point per network, overlap of the start, sample and number of steps."""
    return [
        curve | {"overlap": overlap, "sample": sample, "step": step}
        for curve in _curves(config)
        for overlap in _overlaps(config, curve["neurons"])
        for sample in range(config.samples)
        for step in config.steps
    ]


def cost(config: Config) -> Cost:
    """Cost of all draws of every network, from each initial overlap."""
    courses = [curve for curve in _curves(config) for _ in _overlaps(config, curve["neurons"])]
    return grids.cost(_grid(config), courses, config.samples)


def _grid(config: Config) -> grids.Grid:
    """Grid with one program of a network for all its loads."""
    padding = draws.largest(_curves(config), "degree", "neurons")
    longest, times = max(config.steps), len(config.steps)

    def program_of(point: Point) -> measurement.Program:
        queries = min(config.queries, point["patterns"])
        return measurement.Program(
            point["degree"], point["neurons"], padding(point), queries=queries, longest=longest, times=times
        )

    return measurement.grid(program_of)


def measure(config: Config, wanted: Sequence[Point]) -> Iterator[Row]:
    """Rows of points."""
    known = lambda point: {"queries": min(config.queries, point["patterns"])}
    yield from grids.rows(_grid(config), config.seed, wanted, known_columns=known)
