"""Checks of one number, which may be traced: its type and shape are known under jit as well, its value is not."""

import numbers
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from hopfield._arguments.host import integer
from hopfield._arguments.words import shown
from hopfield._numerics import is_traced, nan_outside

FINITE = float(np.finfo(np.float64).max)
MOST_STEPS = 2**31 - 1
"""Steps that a compiled loop can count."""


def step_limit(name: str, value: Any, least: int = 1) -> Any:
    """The most steps of a compiled loop: a traced integer unchanged, any other as `integer`, held at MOST_STEPS."""
    if not is_traced(value):
        return min(integer(name, value, least), MOST_STEPS)
    if value.shape != () or not jnp.issubdtype(value.dtype, jnp.integer):
        raise ValueError(f"{name} must be one integer, got {value.dtype} {list(value.shape)}")
    return value


def number_scalar(name: str, value: Any, contract: str = "a number") -> Any:
    """One real number, NaN and infinity included. ValueError, in the words of `contract`, for all else, as True."""
    dtype, shape = getattr(value, "dtype", None), getattr(value, "shape", None)  # of arrays, and of nnx.Param
    if not isinstance(dtype, np.dtype):
        huge = isinstance(value, int | Fraction) and abs(value) > FINITE  # no float
        fits = isinstance(value, numbers.Real) and not isinstance(value, bool) and not huge
    else:
        fits = shape == () and any(jnp.issubdtype(dtype, kind) for kind in (jnp.integer, jnp.floating))
        fits &= not jnp.issubdtype(dtype, np.timedelta64)
    if fits:
        return value if isinstance(value, int | float) or dtype is not None else float(value)
    if is_traced(value):
        raise ValueError(f"{name} must be one real number, got {dtype} {list(shape or ())}")
    raise ValueError(f"{name} must be {contract}, got {shown(value)}")


def _within(name: str, value: Any, contract: str, holds: Callable[[Any], Any]) -> Any:
    """One real number for which a condition holds. A traced one is NaN elsewhere. ValueError otherwise."""
    found = number_scalar(name, value, contract)
    if is_traced(found):
        found = jnp.asarray(found)
        return nan_outside(found, holds(found))
    if not holds(float(found)):
        raise ValueError(f"{name} must be {contract}, got {shown(value)}")
    return found


def real_scalar(name: str, value: Any, contract: str, low: float = -FINITE, high: float = FINITE) -> Any:
    """One real number from `low` to `high`, finite without them. A traced one is NaN elsewhere.

    Raises:
        ValueError: otherwise, in the words of `contract`.
    """

    def holds(x: Any) -> Any:  # FINITE is no number of the smaller types
        return (x > -np.inf if low == -FINITE else x >= low) & (x < np.inf if high == FINITE else x <= high)

    return _within(name, value, contract, holds)


def positive_scalar(name: str, value: Any, dtype=None) -> Float[Array, ""]:
    """`value` as a positive, finite scalar array in `dtype` (JAX's default float). Other traced values become NaN.

    Raises:
        ValueError: otherwise; also for a number that `dtype` rounds to zero or infinity.
    """
    found = _within(name, value, "a positive finite number", lambda x: (x > 0) & (x < np.inf))
    if is_traced(found):
        return found
    limits = jnp.finfo(jnp.result_type(float) if dtype is None else dtype)
    if not float(limits.tiny) <= float(found) <= float(limits.max):
        raise ValueError(f"{name} must be from {limits.tiny:.3g} to {limits.max:.3g} in {limits.dtype}, got {value!r}")
    return jnp.asarray(float(found))  # from a Python float: weakly typed, so that it never widens a float32 state
