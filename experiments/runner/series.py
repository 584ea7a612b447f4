"""Series of a run for a live chart: means over samples, under names that distinguish curves.

A value is reported once all samples of its place on its curve are measured, so that no chart runs back and forth.
Counts of successes among queries become shares.
"""

import math
import re
from collections.abc import Collection, Sequence
from typing import Any

from experiments.contract import Point, Row

DRAWS = ("sample", "seed_index")
"""Columns that number independent samples of one seed."""
_SHORT = {"neurons": "N", "patterns": "M", "length": "T"}
_HEAD = re.compile(r"(.+)_(\d+)")


class Series:
    """Curves of a table as it is measured.

    Args:
        x_axis: the quantity that curves are drawn against.
    """

    def __init__(self, x_axis: str) -> None:
        self._x = x_axis
        self._names: list[str] = []
        self._wanted: dict[tuple, int] = {}
        self._collected: dict[tuple, list[Row]] = {}
        self.done = 0
        self.curves: dict[str, dict[str, list[tuple[Any, float]]]] = {}
        """Places (x, mean) of every curve, by the measured column and the label that identifies it."""

    def expect(self, points: Sequence[Point]) -> None:
        """Announce the points to come. A place is complete when all of its points have a row."""
        self._names = self._names or _telling(points, self._x)
        self._wanted.clear()
        for point in points:
            key = _place(point)
            self._wanted[key] = self._wanted.get(key, 0) + 1

    def add(self, point: Point, row: Row) -> dict[str, float]:
        """Numbers by name after one more row: x and means of its place once that has all rows, else none."""
        key = _place(point)
        rows = self._collected.setdefault(key, [])
        rows.append(row)
        numbers: dict[str, float] = {}
        if self._x == "epoch" and "seed_index" in point:  # a curve of learning belongs to one seed as well
            name = "/".join(filter(None, (self._label(point), f"seed {point['seed_index']}")))
            numbers |= {
                f"{name}/{column}": values[0] for column, values in _measured_numbers([row], {*point, self._x}).items()
            }
        if len(rows) >= self._wanted.get(key, 1):
            del self._collected[key]
            numbers |= self._means(point, rows)
        if not numbers:
            return {}
        self.done += 1
        return {self._x: row[self._x]} | numbers

    def _means(self, point: Point, rows: Sequence[Row]) -> dict[str, float]:
        label, numbers = self._label(point), {}
        for column, values in _measured_numbers(rows, {*point, self._x}).items():
            mean = sum(values) / len(values)
            numbers[f"{label}/{column}" if label else column] = mean
            self.curves.setdefault(column, {}).setdefault(label, []).append((rows[0][self._x], mean))
        return numbers

    def _label(self, point: Point) -> str:
        return ", ".join(_word(name, point[name]) for name in self._names if point[name] is not None)


def _place(point: Point) -> tuple:
    return tuple((name, value) for name, value in point.items() if name not in DRAWS)


def _word(name: str, value: Any) -> str:
    return value if isinstance(value, str) else f"{_SHORT.get(name, name)}={value:g}"


def _telling(points: Sequence[Point], x_axis: str) -> list[str]:
    """Columns that identify a curve: without samples, x-axis and derived columns."""
    left_out = {*DRAWS, x_axis, "queries", *(("patterns",) if x_axis == "load" else ())}
    known = [name for name in points[0] if name not in left_out and len({point.get(name) for point in points}) > 1]
    for name in sorted(known, key=lambda name: isinstance(points[0][name], str)):
        rest = [other for other in known if other != name]
        pairs = {(tuple(point.get(other) for other in rest), point.get(name)) for point in points}
        if len(pairs) == len({pair[0] for pair in pairs}):
            known = rest
    return known


def _measured_numbers(rows: Sequence[Row], known: Collection[str]) -> dict[str, list[float]]:
    """Finite measured numbers by name. Numbers of single heads are also averaged over heads."""
    columns: dict[str, list[float]] = {}
    for row in rows:
        queries: Any = row.get("queries")
        heads: dict[str, list[float]] = {}
        for name, value in row.items():
            if name in known or isinstance(value, str | bool) or value is None or not math.isfinite(value):
                continue
            counts = isinstance(value, int) and isinstance(queries, int) and name != "steps"
            if counts and 0 <= value <= queries:
                value = value / queries
            if head := _HEAD.fullmatch(name):
                heads.setdefault(head[1], []).append(value)
                name = f"{head[1]}/head {head[2]}"
            columns.setdefault(name, []).append(value)
        for name, values in heads.items():
            columns.setdefault(name, []).append(sum(values) / len(values))
    return columns
