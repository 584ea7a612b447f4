"""Refinement of a measurement: cells of a map and places of a curve are halved where what was found there changes.

A map starts as a coarse grid of cells, each measured at its centre. A cell whose finding differs from a
neighbour's is cut into four, so that a boundary is traced with the finest cells and nothing else is.
"""

from collections.abc import Hashable, Iterable, Mapping
from itertools import pairwise
from typing import NamedTuple


class Cell(NamedTuple):
    """A cell of a map: how often halved, and its place among cells of that size, counted from the lower left."""

    level: int
    column: int
    row: int

    def bounds(self, columns: int, rows: int) -> tuple[float, float, float, float]:
        """Left, right, lower and upper edge in units of the whole map, which has that many coarse cells."""
        across, up = columns << self.level, rows << self.level
        return self.column / across, (self.column + 1) / across, self.row / up, (self.row + 1) / up

    def parent(self) -> "Cell":
        """The cell that this one is a quarter of."""
        return Cell(self.level - 1, self.column >> 1, self.row >> 1)

    def quarters(self) -> list["Cell"]:
        """The four cells it is cut into."""
        return [Cell(self.level + 1, 2 * self.column + i, 2 * self.row + j) for j in (0, 1) for i in (0, 1)]


def coarse(columns: int, rows: int) -> list[Cell]:
    """The cells that every map starts from, row by row."""
    return [Cell(0, column, row) for row in range(rows) for column in range(columns)]


def leaves(cells: Iterable[Cell]) -> list[Cell]:
    """Cells that were not cut, in the given order: together they cover the map once."""
    cells = list(cells)
    parents = {cell.parent() for cell in cells if cell.level}
    return [cell for cell in cells if cell not in parents]


def further_cells(kinds: Mapping[Cell, Hashable], levels: int) -> list[Cell]:
    """The quarters of all leaves, halved fewer than `levels` times, beside which something else was found."""
    used = leaves(kinds)
    leaf = set(used)
    marked = set()
    for cell in used:
        for step in ((1, 0), (-1, 0), (0, 1), (0, -1)):
            other = Cell(cell.level, cell.column + step[0], cell.row + step[1])
            while other not in leaf and other.level:
                other = other.parent()
            if other in leaf and kinds[other] != kinds[cell]:  # a finer neighbour sees this cell from its own side
                marked |= {cell, other}
    return [quarter for cell in used if cell in marked and cell.level < levels for quarter in cell.quarters()]


def further_places(
    shares: Mapping[tuple[float, int], float], levels: int, tail: float = 0.02
) -> list[tuple[float, int]]:
    """Middles of the intervals of a curve in which the share of successes changes, with their levels.

    Args:
        shares: share of successes at each (place, level), places all different; level 0 for those given from outside.
        levels: how often an interval may be halved.
        tail: an interval is left alone where the shares at both ends lie within this of 0, or of 1.
    """
    middles = []
    ordered = sorted(shares.items())
    for ((left, left_level), left_share), ((right, right_level), right_share) in pairwise(ordered):
        level = max(left_level, right_level) + 1
        low, high = sorted((left_share, right_share))
        if level <= levels and high > tail and low < 1 - tail:
            middles.append(((left + right) / 2, level))
    return middles
