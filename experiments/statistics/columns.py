"""Columns of numbers, as every function of statistics takes them."""

import contextlib
from typing import Any

import numpy as np
import pandas
from numpy.typing import ArrayLike, NDArray
from pandas.api.types import infer_dtype

Array = NDArray[Any]
LARGEST = 1e100
"""Size of the numbers that are fitted at most: their squares are finite."""
NUMBERS = ("boolean", "decimal", "empty", "floating", "integer", "mixed-integer-float")
"""Kinds of real numbers, as pandas calls them."""


def numbers(name: str, value: Any) -> Array:
    """Real numbers as float64, masked entries as NaN. ValueError for others, text that spells some included."""
    with contextlib.suppress(TypeError, ValueError, OverflowError):  # rows of different lengths, no numbers
        array = np.ma.asarray(value)
        if infer_dtype(array.data.ravel()) in NUMBERS:
            return np.ma.filled(array.astype(np.float64), np.nan)
    raise ValueError(f"{name} must be real numbers, got {' '.join(repr(value).split()):.60}")


def flag(name: str, value: Any) -> bool:
    """A truth value. ValueError for any other."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {value!r:.60}")
    return bool(value)


def columns(**named: ArrayLike) -> list[Array]:
    """Columns of one length of real numbers that can be fitted, masked entries as NaN. ValueError for others."""
    arrays = [numbers(name, column) for name, column in named.items()]
    check_length(**dict(zip(named, arrays, strict=True)))
    for name, column in zip(named, arrays, strict=True):
        size = np.abs(column[np.isfinite(column)]).max(initial=0.0)
        if size > LARGEST:
            raise ValueError(f"{name} must be at most {LARGEST:g} in size, got {size:g}")
    return arrays


def check_length(**named: Array) -> None:
    """Check that arrays are columns of one length; else ValueError."""
    if len(named) == 1 and any(column.ndim != 1 for column in named.values()):
        raise ValueError(f"{next(iter(named))} must be a column, got shape {next(iter(named.values())).shape}")
    if len({column.shape for column in named.values()}) > 1 or any(column.ndim != 1 for column in named.values()):
        shapes = ", ".join(str(column.shape) for column in named.values())
        raise ValueError(f"{', '.join(named)} must be columns of one length, got shapes {shapes}")


def single(name: str, value: Any, contract: str, low: float = -LARGEST, high: float = LARGEST) -> float:
    """One number above `low` and at most `high`. ValueError, in the words of `contract`, otherwise."""
    number = numbers(name, value)
    if number.ndim or not low < number <= high:
        raise ValueError(f"{name} must be {contract}, got {value!r:.60}")
    return float(number)


def common_value(column: pandas.Series) -> Any:
    """Value that all rows of a column share, or the list of distinct values, in the order of the rows."""
    values = column.unique().tolist()
    return values[0] if len(values) == 1 else values


def magnitude(column: Array) -> float:
    """The power of two above the size of all finite entries: dividing by it rounds nothing, and squares are finite."""
    return float(np.ldexp(0.5, int(np.frexp(np.abs(column[np.isfinite(column)]).max(initial=0.0))[1])))
