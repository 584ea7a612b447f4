"""Columns of numbers, as every function of statistics takes them."""

from collections.abc import Collection
from typing import Any

import numpy as np
import pandas
from numpy.typing import ArrayLike, NDArray

from experiments.contract import ERROR
from hopfield.arguments import numbers as numbers

Array = NDArray[Any]
LARGEST = 1e100
"""Size of the numbers that are fitted at most: their squares are finite."""


def columns(**given: ArrayLike) -> list[Array]:
    """Columns of one length of real numbers that can be fitted, masked entries as NaN; ValueError for others."""
    found = [numbers(name, column) for name, column in given.items()]
    check_length(**dict(zip(given, found, strict=True)))
    for name, column in zip(given, found, strict=True):
        size = np.abs(column[np.isfinite(column)]).max(initial=0.0)
        if size > LARGEST:
            raise ValueError(f"{name} must be at most {LARGEST:g} in size, got {size:g}")
    return found


def check_length(**given: Array) -> None:
    """Raise ValueError unless arrays are columns of one length."""
    if len(given) == 1 and any(column.ndim != 1 for column in given.values()):
        raise ValueError(f"{next(iter(given))} must be a column, got shape {next(iter(given.values())).shape}")
    if len({column.shape for column in given.values()}) > 1 or any(column.ndim != 1 for column in given.values()):
        shapes = ", ".join(str(column.shape) for column in given.values())
        raise ValueError(f"{', '.join(given)} must be columns of one length, got shapes {shapes}")


def single(name: str, value: Any, contract: str, low: float = -LARGEST, high: float = LARGEST) -> float:
    """One number above `low` and at most `high`; ValueError, in the words of `contract`, otherwise."""
    found = numbers(name, value)
    if found.ndim or not low < found <= high:
        raise ValueError(f"{name} must be {contract}, got {value!r:.60}")
    return float(found)


def agreed(column: pandas.Series) -> Any:
    """The value that all rows of a column have; where they differ, the list of all values, in the order of the rows."""
    found = column.unique().tolist()
    return found[0] if len(found) == 1 else found


def untaken(taken: Collection[str], name: str, load: float, digits: int) -> str:
    """Name with `{}` where its load stands, of so many significant digits, or of as many as no other name has."""
    while (found := name.format(f"{load:.{digits}g}")) in taken and digits < 17:
        digits += 1
    return found


def headline(name: str, value: Any, stderr: Any, **beside: Any) -> dict[str, Any]:
    """Scalars of one headline: `<name>` with its `/stderr`, and `/theory` or what else stands beside it, by keyword."""
    return {name: value, f"{name}{ERROR}": stderr} | {f"{name}/{key}": known for key, known in beside.items()}


def magnitude(column: Array) -> float:
    """The power of two above the size of all finite entries: dividing by it rounds nothing, and squares are finite."""
    return float(np.ldexp(0.5, int(np.frexp(np.abs(column[np.isfinite(column)]).max(initial=0.0))[1])))
