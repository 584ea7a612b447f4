"""Checks of the arguments of the theory functions, at the boundary and with one sentence each."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Float = NDArray[np.float64]


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
    try:
        numbers = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        numbers = None
    if numbers is None or np.asarray(value).dtype == np.bool_:
        raise ValueError(f"{name} must be a real number or an array of them, got {value!r}")
    inside = (numbers > above) & (numbers >= least) & (numbers < below) & (numbers <= most)
    if not np.all(inside & np.isfinite(numbers)):
        limits = [f"> {above:g}"] * (above > -np.inf) + [f">= {least:g}"] * (least > -np.inf)
        limits += [f"< {below:g}"] * (below < np.inf) + [f"<= {most:g}"] * (most < np.inf)
        raise ValueError(f"{name} must be finite{''.join(f' and {limit}' for limit in limits)}, got {value}")
    return numbers


def whole(name: str, value: ArrayLike, *, least: int) -> Float:
    """Return whole numbers `>= least` as float64, or say what is wrong with them."""
    numbers = real(name, value)
    if not np.all((numbers == np.floor(numbers)) & (numbers >= least)):
        raise ValueError(f"{name} must be a whole number >= {least}, got {value}")
    return numbers


def flag(name: str, value: Any) -> bool:
    """Return a truth value; ValueError for any other, as the text "False", which would count as true."""
    if not isinstance(value, bool | np.bool_):
        raise ValueError(f"{name} must be True or False, got {value!r:.60}")
    return bool(value)


def member(name: str, value: str, choices: tuple[str, ...]) -> str:
    """Return `value` if it is one of `choices`, or list them."""
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}, got {value!r}")
    return value


def plain(result: Any) -> Any:
    """Turn a zero-dimensional array into a float64 scalar and leave every other array as it is."""
    return np.asarray(result, dtype=np.float64)[()]
