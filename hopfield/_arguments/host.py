"""Checks of numbers and truth values on the host, in numpy and float64. No traced array can pass one."""

import contextlib
import operator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from hopfield._arguments.words import in_line, shown

Float = NDArray[np.float64]


def native(value: Any) -> Any:
    """The value, an array in this machine's byte order, which JAX requires. Files may have another."""
    return value.astype(value.dtype.newbyteorder("="), copy=False) if isinstance(value, np.ndarray) else value


def plain(result: Any) -> Any:
    """A zero-dimensional array as a float64 scalar, any other array unchanged."""
    return np.asarray(result, dtype=np.float64)[()]


def flag(name: str, value: Any) -> bool:
    """A truth value. ValueError for any other, as the text "False", which would count as true."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {shown(value)}")
    return bool(value)


def _index(value: Any) -> int | None:
    """An integer by its type, numpy's and JAX's included. None for anything else, as True, 2.0 and traced ones."""
    try:
        return None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        return None


def integer(name: str, value: Any, least: int = 1) -> int:
    """An integer, numpy's and JAX's included. ValueError for any other number, a traced one, or one below `least`."""
    number = _index(value)
    if number is None or number < least:
        raise ValueError(f"{name} must be an integer of at least {least}, got {shown(value)}")
    return number


def axis_of(name: str, value: Any, rank: int, of: str) -> int:
    """One of the axes of an array of a rank, called `of`, from the end below 0. ValueError for anything else."""
    axis = _index(value)
    if axis is None or not -rank <= axis < rank:
        raise ValueError(f"{name} must be one of the {rank} axes of the {of}, got {shown(value)}")
    return axis


def as_float64(name: str, value: Any, contract: str = "real numbers") -> Float:
    """Real numbers as float64, masked entries as NaN. ValueError for others: truth values and text that spells some."""
    with contextlib.suppress(TypeError, ValueError, OverflowError):  # rows of different lengths, no numbers
        array = np.ma.asarray(value)
        entries = array.ravel().tolist() if array.dtype == object else ()
        real = array.dtype != bool and np.can_cast(array.dtype, np.float64, "same_kind")
        if real or (array.dtype == object and not any(isinstance(entry, bool | str | bytes) for entry in entries)):
            return np.ma.filled(array.astype(np.float64), np.nan)
    raise ValueError(f"{name} must be {contract}, got {shown(value)}")


def reals(
    name: str,
    value: ArrayLike,
    *,
    above: float = -np.inf,
    least: float = -np.inf,
    below: float = np.inf,
    most: float = np.inf,
) -> Float:
    """Finite real numbers as float64, `above < value < below`, `least <= value <= most`. ValueError for any other."""
    found = as_float64(name, value)
    inside = (found > above) & (found >= least) & (found < below) & (found <= most)
    if not np.all(inside & np.isfinite(found)):
        limits = [f"> {above:g}"] * (above > -np.inf) + [f">= {least:g}"] * (least > -np.inf)
        limits += [f"< {below:g}"] * (below < np.inf) + [f"<= {most:g}"] * (most < np.inf)
        raise ValueError(f"{name} must be finite{''.join(f' and {limit}' for limit in limits)}, got {in_line(value)}")
    return found


def whole_numbers(name: str, value: ArrayLike, *, least: int) -> Float:
    """Whole numbers of at least `least` as float64, 2.0 included. ValueError for any other number."""
    found = reals(name, value)
    if not np.all((found == np.floor(found)) & (found >= least)):
        raise ValueError(f"{name} must be an integer of at least {least}, got {in_line(value)}")
    return found


def real(name: str, value: ArrayLike, **limits: float) -> float:
    """One finite real number within its limits, as in `reals`. ValueError otherwise."""
    return float(_one(name, reals(name, value, **limits)))


def whole_number(name: str, value: ArrayLike, *, least: int) -> int:
    """One whole number of at least `least`, 2.0 included. ValueError otherwise."""
    return int(_one(name, whole_numbers(name, value, least=least)))


def _one(name: str, found: Float) -> Float:
    if found.shape != ():
        raise ValueError(f"{name} must be one number, got an array of shape {found.shape}")
    return found
