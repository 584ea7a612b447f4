"""Checks of plain numbers and names at the boundary, in numpy and float64. `_checks` holds the checks of JAX arrays."""

import difflib
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = [
    "flag",
    "in_line",
    "native",
    "nearest",
    "numbers",
    "one_of",
    "one_real",
    "one_whole",
    "plain",
    "real",
    "shown",
    "whole_numbers",
]

Float = NDArray[np.float64]
Member = TypeVar("Member", bound=str)


def shown(value: Any) -> str:
    """The beginning of an object's text, on one line, for a sentence about it."""
    return " ".join(f"{value!r:.200}".split())[:60]


def in_line(value: Any) -> str:
    """The beginning of a number's or an array's text on one line, without its type, for a sentence about it."""
    return " ".join(f"{value!s:.200}".split())[:60]


def nearest(spec: Any, names: Iterable[str]) -> str:
    """Hint at the name that an unknown one may stand for, with which a sentence ends; empty where none is near."""
    name, colon, text = spec.partition(":") if isinstance(spec, str) else ("", "", "")
    begun = [each for each in names if len(name) > 2 and each.startswith(name)]
    near = begun or difflib.get_close_matches(name, tuple(names), 1)
    return f" (write {near[0]}{colon}{text})" if near and near[0] != name else ""


def native(value: Any) -> Any:
    """Return the value, an array in this machine's byte order, which JAX requires. Files may have another."""
    return value.astype(value.dtype.newbyteorder("="), copy=False) if isinstance(value, np.ndarray) else value


def numbers(name: str, value: Any) -> Float:
    """Return real numbers as float64, masked entries as NaN. ValueError for others, text that spells some included."""
    masked = isinstance(value, np.ma.MaskedArray)
    try:
        array = np.asarray(value)
        entries = array.ravel().tolist() if array.dtype == object else ()
        reals = None if array.dtype.kind not in "biufO" else np.array(array, np.float64)
    except (TypeError, ValueError, OverflowError):  # rows of different lengths, or things that are no numbers
        entries, reals = (), None
    if reals is None or any(isinstance(entry, str | bytes) for entry in entries):
        raise ValueError(f"{name} must be real numbers, got {shown(value)}")
    return np.where(np.ma.getmaskarray(value), np.nan, reals) if masked else reals


def real(
    name: str,
    value: ArrayLike,
    *,
    above: float = -np.inf,
    least: float = -np.inf,
    below: float = np.inf,
    most: float = np.inf,
) -> Float:
    """Return `value` as float64, or say which of `above < value < below`, `least <= value <= most` it breaks."""
    reals = numbers(name, value)
    if np.asarray(value).dtype == np.bool_:
        raise ValueError(f"{name} must be real numbers, got {shown(value)}")
    inside = (reals > above) & (reals >= least) & (reals < below) & (reals <= most)
    if not np.all(inside & np.isfinite(reals)):
        limits = [f"> {above:g}"] * (above > -np.inf) + [f">= {least:g}"] * (least > -np.inf)
        limits += [f"< {below:g}"] * (below < np.inf) + [f"<= {most:g}"] * (most < np.inf)
        raise ValueError(f"{name} must be finite{''.join(f' and {limit}' for limit in limits)}, got {in_line(value)}")
    return reals


def whole_numbers(name: str, value: ArrayLike, *, least: int) -> Float:
    """Return integers of at least `least` as float64. Raises ValueError for any other number."""
    reals = real(name, value)
    if not np.all((reals == np.floor(reals)) & (reals >= least)):
        raise ValueError(f"{name} must be an integer of at least {least}, got {in_line(value)}")
    return reals


def one_real(name: str, value: ArrayLike, **limits: float) -> float:
    """Return one real number within its limits, which are as of `real`. Raises ValueError otherwise."""
    return float(_one_number(name, real(name, value, **limits)))


def one_whole(name: str, value: ArrayLike, *, least: int) -> int:
    """Return one integer of at least `least`. Raises ValueError otherwise."""
    return int(_one_number(name, whole_numbers(name, value, least=least)))


def _one_number(name: str, reals: Float) -> Float:
    if reals.shape != ():
        raise ValueError(f"{name} must be one number, got an array of shape {reals.shape}")
    return reals


def flag(name: str, value: Any) -> bool:
    """Return a truth value. ValueError for any other, as the text "False", which would count as true."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {shown(value)}")
    return bool(value)


def one_of(name: str, value: Any, members: Sequence[Member]) -> Member:
    """A member of a closed set. ValueError, listing them and the nearest one, for any other."""
    found = next((member for member in members if isinstance(value, str) and value == member), None)
    if found is None:
        raise ValueError(f"{name} must be one of {', '.join(members)}, got {shown(value)}{nearest(value, members)}")
    return found


def plain(result: Any) -> Any:
    """Turn a zero-dimensional array into a float64 scalar and leave every other array unchanged."""
    return np.asarray(result, dtype=np.float64)[()]
