"""Checks of arguments at the boundary, with one sentence each: counts, numbers, truth values, keys, kinds of object.

Shapes and types are known under jit as well; values are checked unless they are traced.
"""

import operator
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Bool

from hopfield._numerics import is_traced, nan_outside, real_array, violated
from hopfield.arguments import native, shown
from hopfield.arguments import one_of as one_of

FINITE = float(np.finfo(np.float64).max)
MOST_STEPS = 2**31 - 1
"""Steps that a compiled loop can count."""


def whole(name: str, value: Any, least: int = 1) -> int:
    """An integer, numpy's and JAX's included. ValueError for any other number, a traced one, or one below `least`."""
    try:
        number = least - 1 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = least - 1
    if number < least:
        raise ValueError(f"{name} must be an integer of at least {least}, got {shown(value)}")
    return number


def axis_of(name: str, value: Any, rank: int, of: str) -> int:
    """One of the axes of an array of a rank, called `of`, from the end below 0. ValueError for anything else."""
    try:
        axis = rank if isinstance(value, bool) else operator.index(value)
    except TypeError:
        axis = rank
    if not -rank <= axis < rank:
        raise ValueError(f"{name} must be one of the {rank} axes of the {of}, got {shown(value)}")
    return axis


def step_limit(name: str, value: Any, least: int = 1) -> Any:
    """The most steps of a compiled loop: a traced integer unchanged, any other as `whole`, held at MOST_STEPS."""
    if not is_traced(value):
        return min(whole(name, value, least), MOST_STEPS)
    if value.shape != () or not jnp.issubdtype(value.dtype, jnp.integer):
        raise ValueError(f"{name} must be one integer, got {value.dtype} {list(value.shape)}")
    return value


def spelled(kind: Callable[[str], Any], text: str) -> Any:
    """The number that a text spells, by `int` or `float`; ValueError also for what only Python reads, as 1_0 for 10."""
    if "_" in text or not text.isascii():
        raise ValueError(f"text must spell a number in digits, got {shown(text)}")
    return kind(text)


def real_number(name: str, value: Any, contract: str = "a number") -> Any:
    """One real number, NaN and infinity included. ValueError, in the words of `contract`, for all else, as True."""
    array = getattr(value, "shape", None) == () and (
        jnp.issubdtype(value.dtype, jnp.number) and not jnp.issubdtype(value.dtype, jnp.complexfloating)
    )
    huge = isinstance(value, int) and abs(value) > FINITE  # no float
    if not array and (isinstance(value, bool) or not isinstance(value, int | float) or huge):
        raise ValueError(f"{name} must be {contract}, got {shown(value)}")
    return value


def number(name: str, value: Any, contract: str, low: float = -FINITE, high: float = FINITE) -> Any:
    """One real number from `low` to `high`; a traced one is NaN elsewhere. ValueError otherwise, with `contract`."""
    if is_traced(real_number(name, value, contract)):
        most = float(jnp.finfo(jnp.promote_types(value.dtype, jnp.float16)).max)
        least, most = (max(low, -most) if low == -FINITE else low), (min(high, most) if high == FINITE else high)
        return nan_outside(value, (least <= value) & (value <= most))
    if not low <= float(value) <= high:
        raise ValueError(f"{name} must be {contract}, got {shown(value)}")
    return value


def booleans(name: str, value: Any, shape: tuple[int, ...] | None = None) -> Bool[Array, "..."]:
    """Truth values, of a shape if one is given. ValueError for numbers: 0 and 1 to some, 0 and −∞ to others."""
    try:
        truths = jnp.asarray(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be boolean, got {type(value).__name__} {shown(value)}") from None
    if truths.dtype != bool or (shape is not None and truths.shape != shape):
        wanted = "" if shape is None else f" {list(shape)}"
        raise ValueError(f"{name} must be boolean{wanted}, got {truths.dtype} {truths.shape}")
    return truths


def random_key(name: str, key: Any) -> Any:
    """One random key, of `jax.random.key` or of the older kind. TypeError for anything else, many keys included."""
    dtype, shape = getattr(key, "dtype", None), getattr(key, "shape", None)
    if dtype is not None and jnp.issubdtype(dtype, jax.dtypes.prng_key):
        single = shape == ()
    else:
        single = dtype == np.uint32 and shape == jax.eval_shape(jax.random.PRNGKey, 0).shape
    if not single:
        kind = type(key).__name__ if dtype is None else f"{dtype} {list(shape or ())}"
        raise TypeError(f"{name} must be one JAX random key, as jax.random.key(0), got {kind}")
    return key


def instance(name: str, value: Any, kind: type) -> Any:
    """An object of a kind. TypeError for any other, a class included."""
    if not isinstance(value, kind):
        raise TypeError(f"{name} must be a {kind.__name__}, got {shown(value)}")
    return value


def vector(name: str, value: Any, like: Array | None = None) -> Array:
    """Real numbers [N], as many as another vector has. ValueError, with advice to batch by `jax.vmap`, otherwise."""
    array = real_array(name, value)
    shape = "[N]" if like is None else str(list(like.shape))
    if array.ndim != 1 or (like is not None and array.shape != like.shape):
        raise ValueError(f"{name} must have shape {shape} (batch with jax.vmap), got shape {array.shape}")
    return array


def as_path(name: str, value: Any) -> Path:
    """A path, `~` expanded. TypeError unless it is text or a path."""
    if not isinstance(value, str | os.PathLike) or isinstance(os.fspath(value), bytes):
        raise TypeError(f"{name} must be a path, got {shown(value)}")
    return Path(os.path.expanduser(value))  # pathlib's own raises where there is no such home


def integers(name: str, value: ArrayLike) -> Array:
    """Whole numbers of at least 0 as an array, at most what its type holds. ValueError, one sentence, for others."""
    entries: Any = value
    try:
        if not is_traced(entries) and not isinstance(entries, jax.Array | np.ma.MaskedArray):
            entries = native(np.asarray(entries))
            if entries.dtype in (np.int64, np.uint64):  # which JAX would cut to their last 32 bits
                entries = np.clip(entries, -1 if entries.dtype == np.int64 else 0, np.iinfo(jnp.result_type(int)).max)
        array = jnp.asarray(entries)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be integers, got {shown(value)}") from None
    if not jnp.issubdtype(array.dtype, jnp.integer):
        raise ValueError(f"{name} must be integers, got {array.dtype}")
    if violated(lambda x: x >= 0, array):
        raise ValueError(f"{name} must not be negative, got {value}")
    return array
