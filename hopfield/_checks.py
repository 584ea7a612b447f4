"""Checks of arguments at the boundary, with one sentence each: counts, numbers, arrays, truth values, keys, objects.

Shapes and types are known under jit as well; values are checked unless they are traced.
"""

import contextlib
import operator
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike, DTypeLike
from jaxtyping import Array, Bool, Float

from hopfield._numerics import is_traced, is_truth, nan_outside, violated
from hopfield.arguments import in_line, native, shown
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


def parse_number(kind: Callable[[str], Any], text: str) -> Any:
    """The number that a text spells, by `int` or `float`. ValueError also for Python's own forms, as 1_0 for 10."""
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
    """One real number from `low` to `high`. A traced one is NaN elsewhere. ValueError otherwise, with `contract`."""
    if is_traced(real_number(name, value, contract)):
        most = float(jnp.finfo(jnp.promote_types(value.dtype, jnp.float16)).max)
        least, most = (max(low, -most) if low == -FINITE else low), (min(high, most) if high == FINITE else high)
        return nan_outside(value, (least <= value) & (value <= most))
    if not low <= float(value) <= high:
        raise ValueError(f"{name} must be {contract}, got {shown(value)}")
    return value


def booleans(name: str, value: Any, shape: tuple[int, ...] | None = None, *, said: str = "") -> Bool[Array, "..."]:
    """Truth values, of a shape if one is given. ValueError for numbers: 0 and 1 to some, 0 and −∞ to others.

    Args:
        said: what True means, for the sentence of an error.
    """
    try:
        truths = jnp.asarray(value)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be boolean{said}, got {type(value).__name__} {shown(value)}") from None
    if truths.dtype != bool or (shape is not None and truths.shape != shape):
        wanted = said if shape is None else f" {list(shape)}{said}"
        raise ValueError(f"{name} must be boolean{wanted}, got {truths.dtype} {truths.shape}")
    return truths


def real_array(name: str, value, dtype=None) -> Array:
    """`value` as an array of real floating type; integers become `dtype` (JAX's default float).

    Raises:
        ValueError: it is no array of real numbers; truth values are 0 and 1 to some, −1 and 1 or −∞ and 0 to others.
    """
    value, default = native(value), jnp.result_type(float) if dtype is None else dtype
    try:
        host = isinstance(value, np.ndarray | np.generic | int | list | tuple) and not is_traced(value)
        if host and not isinstance(value, np.ma.MaskedArray):  # whose entries under the mask are none
            numbers = np.asarray(value)
            if numbers.dtype.kind in "iu":  # on the host, where 64 bits stay 64
                return jnp.asarray(numbers, default)
        found = jnp.asarray(value)
    except (TypeError, ValueError, OverflowError):
        array = type(value) is np.ndarray
        found = f"an array of {value.dtype}" if array else f"{type(value).__name__} {shown(value)}"
        raise ValueError(f"{name} must be an array of real numbers, got {found}") from None
    if jnp.issubdtype(found.dtype, jnp.floating) and found.dtype.itemsize > 1:
        return found
    if not jnp.issubdtype(found.dtype, jnp.integer):
        bits = " of at least 16 bits" if jnp.issubdtype(found.dtype, jnp.floating) else ""
        raise ValueError(f"{name} must be real numbers{bits}, got {found.dtype}")
    return found.astype(default)


def real_matrix(name: str, value) -> Float[Array, "A B"]:
    """`value` as a non-empty matrix of real floating type, checked to be finite unless traced. ValueError otherwise."""
    # Evaluated at once, so that constants can be checked inside jit, too.
    with contextlib.nullcontext() if is_traced(value) else jax.ensure_compile_time_eval():
        matrix = real_array(name, value)
        if matrix.ndim != 2 or 0 in matrix.shape:
            raise ValueError(f"{name} must be a non-empty matrix, got shape {matrix.shape}")
        if not is_traced(matrix) and not bool(jnp.all(jnp.isfinite(matrix))):
            raise ValueError(f"{name} must be finite, got NaN or infinite entries")
    return matrix


def spin_matrix(name: str, value) -> Float[Array, "A B"]:
    """`value` as a non-empty matrix of spins, checked unless traced. ValueError otherwise."""
    matrix = real_matrix(name, value)
    if violated(lambda x: jnp.abs(x) == 1, matrix):
        raise ValueError(f"{name} must be spins −1 or +1, got other entries")
    return matrix


def positive(name: str, value, dtype=None) -> Float[Array, ""]:
    """`value` as a positive, finite scalar array in `dtype` (JAX's default float). Other traced values become NaN.

    Raises:
        ValueError: otherwise; a number that `dtype` rounds to zero or infinity is none of its positive numbers.
    """
    if is_traced(value):
        if value.shape != () or is_truth(value) or jnp.issubdtype(value.dtype, jnp.complexfloating):
            raise ValueError(f"{name} must be one real number, got {value.dtype} {list(value.shape)}")
        return nan_outside(value, (value > 0) & (value < jnp.inf))
    limits = jnp.finfo(jnp.result_type(float) if dtype is None else dtype)
    try:
        no_number = np.ndim(value) or isinstance(value, str | bytes) or is_truth(value)
        number = float("nan") if no_number else float(value)
    except (TypeError, ValueError, OverflowError):
        number = float("nan")
    if not 0 < number < float("inf"):
        raise ValueError(f"{name} must be a positive finite number, got {shown(value)}")
    if not float(limits.tiny) <= number <= float(limits.max):
        raise ValueError(f"{name} must be from {limits.tiny:.3g} to {limits.max:.3g} in {limits.dtype}, got {value!r}")
    return jnp.asarray(number)  # from a Python float: weakly typed, so that it never widens a float32 state


def positive_in(dtype: DTypeLike, name: str, value: ArrayLike, *, finite: bool = True) -> Array:
    """Numbers that are positive (and finite) in `dtype`, NaN where traced ones are not. ValueError for others."""
    if is_traced(value):
        numbers = jnp.asarray(value)
        return nan_outside(numbers, (numbers > 0) & (numbers < jnp.inf) if finite else numbers > 0)
    value = native(value)
    limits, numbers = jnp.finfo(dtype), _reals(name, value)
    if not np.all((numbers >= float(limits.tiny)) & (numbers <= (float(limits.max) if finite else np.inf))):
        contract = "positive and finite" if finite else "positive"
        rounded = np.all((numbers > 0) & ((numbers < np.inf) | (not finite)))  # to zero or to infinity
        raise ValueError(f"{name} must be {contract}, got {in_line(value)}{f' (in {limits.dtype})' if rounded else ''}")
    return jnp.asarray(value if np.asarray(value).dtype.kind == "f" else numbers.tolist())  # 2⁴⁰ is no int32


def _reals(name: str, value: ArrayLike) -> np.ndarray:
    with contextlib.suppress(TypeError, ValueError, OverflowError):
        if not is_truth(value):
            return np.asarray(value, float)
    raise ValueError(f"{name} must be a real number or an array of them, got {shown(value)}")


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
        article = "an" if kind.__name__[0] in "AEIO" else "a"
        raise TypeError(f"{name} must be {article} {kind.__name__}, got {shown(value)}")
    return value


def vector(name: str, value: Any, like: Array | None = None) -> Array:
    """Real vector [N], of the length of another one if given. Any other raises ValueError, which advises `jax.vmap`."""
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
        raise ValueError(f"{name} must not be negative, got {in_line(value)}")
    return array
