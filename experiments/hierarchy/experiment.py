"""Hierarchy: a memory of digits made of parts beside a flat one, by the numbers that each of them stores.

M digits are stored. The flat memory has a unit for each; the hierarchical one (Krotov 2021) has K parts for every
quadrant, learned by k-means from the stored digits, and a unit for each digit that is joined to its four parts. Both
are graphs of layers. Quadrants of a digit are hidden, start at the mean of the stored digits, and follow the descent.

    right, asked   stored digits whose own unit ends with the largest field, of those asked for
    error          root mean square of the hidden pixels' errors, of stored digits
    error_other    the same of digits that are not stored
    numbers        that the memory stores: 64 M pixels, or 64 K pixels and 4 M names of parts
"""

from collections.abc import Iterator, Sequence

from experiments import contract
from experiments.contract import Cost, Point, Row
from experiments.hierarchy import measurement, networks
from experiments.hierarchy.config import Config
from experiments.hierarchy.figure import panels
from experiments.hierarchy.summary import summarise
from experiments.shared import grids
from experiments.shared.axes import product_of

__all__ = ["X_AXIS", "Config", "cost", "measure", "panels", "points", "summarise"]

X_AXIS = "patterns"


def points(config: Config) -> list[Point]:
    """One point per number of parts, quadrants hidden, number of digits and sample."""
    return product_of(parts=config.parts, hidden=config.hidden, patterns=config.patterns, sample=range(config.samples))


def cost(config: Config) -> Cost:
    """Cost of all draws, one for each memory, number of digits, number of hidden quadrants and sample."""
    draws = len(config.patterns) * len(config.hidden) * config.samples
    kinds = [_program(config, parts) for parts in config.parts]
    elements = [kind.padding * 4 * max(16, kind.parts) * kind.queries for kind in kinds]
    return contract.total(Cost(draws, size, draws * kind.cost) for kind, size in zip(kinds, elements, strict=True))


def _program(config: Config, parts: int) -> measurement.Program:
    return measurement.Program(parts, max(*config.patterns, config.queries), config.queries)


def measure(config: Config, wanted: Sequence[Point]) -> Iterator[Row]:
    """Rows of points, each with the stored numbers before its measurement."""
    options = {"beta": config.beta, "coupling": config.coupling}
    grid = measurement.grid(lambda point: _program(config, point["parts"]))
    rows = grids.rows(grid, config.seed, [point | options for point in wanted], measurement.digits, _known_columns)
    for row in rows:
        yield {name: value for name, value in row.items() if name not in options}


def _known_columns(point: Point) -> Row:
    return {"numbers": networks.numbers(point["parts"], point["patterns"])}
