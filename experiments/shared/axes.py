"""Axes of a grid: points from the values of every axis, and whether all of them have the same names."""

from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any


def product_of(**axes: Iterable[Any]) -> list[dict[str, Any]]:
    """One point for each combination of values. The last axis varies fastest."""
    return [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]


def differing(entries: Sequence[dict]) -> list[str]:
    """Names that some of the points or rows have and others have not, in alphabetical order."""
    return sorted(set().union(*(entry.keys() ^ entries[0].keys() for entry in entries)))
