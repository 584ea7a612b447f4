"""Traced numbers: the numbers of points as arrays that compiled measurements take."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from experiments.contract import InputError, Point

Traced = type | tuple[type, Callable[[dict], Any]]
"""Number of a point that is traced: its type, and what reads it off the point, else the column of its name."""


def values(columns: Mapping[str, Traced], point: Point) -> dict[str, Any]:
    """The traced numbers of a point."""
    return {name: point[name] if isinstance(column, type) else column[1](point) for name, column in columns.items()}


def arrays(columns: Mapping[str, Traced], points: Sequence[Point], shape: tuple[int, ...]) -> dict[str, Any]:
    """Numbers of points as arrays of their types. None for a number that the points lack."""
    rows = [values(columns, point) for point in points]
    kinds = {name: column if isinstance(column, type) else column[0] for name, column in columns.items()}
    return {name: _array(name, [row[name] for row in rows], kind, shape) for name, kind in kinds.items()}


def _array(name: str, numbers: list[Any], kind: type, shape: tuple[int, ...]) -> np.ndarray | None:
    """Numbers as an array of a type, None if none of them exists; InputError for some missing or cut to whole ones."""
    missing = [number is None for number in numbers]
    if all(missing):
        return None
    if any(missing):
        raise InputError(f"{name} must be a number of all points of a draw or of none, got None beside numbers")
    if issubclass(kind, np.integer):
        ends = np.iinfo(kind)
        if wrong := [number for number in numbers if number % 1 or not ends.min <= number <= ends.max]:
            raise InputError(f"{name} must be whole numbers from {ends.min} to {ends.max}, got {wrong[0]}")
    return np.asarray(numbers, kind).reshape(shape)
