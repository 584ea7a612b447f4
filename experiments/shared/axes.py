"""Axes of a grid: points from the values of every axis."""

from collections.abc import Iterable
from itertools import product
from typing import Any


def product_of(**axes: Iterable[Any]) -> list[dict[str, Any]]:
    """One point for each combination of values. The last axis varies fastest."""
    return [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]
