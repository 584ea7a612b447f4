"""Checks of arrays of JAX. Shapes and types are known under jit as well; values are checked unless they are traced."""

import contextlib
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike, DTypeLike
from jaxtyping import Array, Bool, Float

from hopfield._arguments.host import as_float64, native
from hopfield._arguments.words import in_line, shown
from hopfield._numerics import is_traced, nan_outside, violated


def boolean_array(name: str, value: Any, shape: tuple[int, ...] | None = None, *, said: str = "") -> Bool[Array, "..."]:
    """Truth values, of a shape if one is given. ValueError for numbers: 0 and 1 to some, 0 and −∞ to others.

    Args:
        said: what True means, for the sentence of an error.
    """
    try:
        truths = jnp.asarray(value)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} must be boolean{said}, got {type(value).__name__} {shown(value)}") from None
    if truths.dtype != bool or (shape is not None and truths.shape != shape):
        wanted = said if shape is None else f" {list(shape)}{said}"
        raise ValueError(f"{name} must be boolean{wanted}, got {truths.dtype} {truths.shape}")
    return truths


def integer_array(name: str, value: ArrayLike) -> Array:
    """Whole numbers of at least 0 as an array, at most what its type holds. ValueError, one sentence, for others."""
    entries: Any = value
    try:
        if not is_traced(entries) and not isinstance(entries, jax.Array | np.ma.MaskedArray):
            entries = native(np.asarray(entries))
            if entries.dtype in (np.int64, np.uint64):  # which JAX would cut to their last 32 bits
                entries = np.clip(entries, -1 if entries.dtype == np.int64 else 0, np.iinfo(jnp.result_type(int)).max)
        array = jnp.asarray(entries)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"{name} must be integers, got {shown(value)}") from None
    if not jnp.issubdtype(array.dtype, jnp.integer):
        raise ValueError(f"{name} must be integers, got {array.dtype}")
    if violated(lambda x: x >= 0, array):
        raise ValueError(f"{name} must not be negative, got {in_line(value)}")
    return array


def real_array(name: str, value, dtype=None) -> Array:
    """`value` as an array of real floating type; integers become `dtype` (JAX's default float).

    Raises:
        ValueError: it is no array of real numbers; truth values are 0 and 1 to some, −1 and 1 or −∞ and 0 to others.
    """
    if isinstance(value, jax.Array) and _is_real(value.dtype):
        return value  # at once: every call that is not compiled comes here several times
    value, default = native(value), jnp.result_type(float) if dtype is None else dtype
    if hasattr(value, "isna") and np.asarray(value).dtype == object:
        value = as_float64(name, value, "an array of real numbers")  # a frame of pandas' own types, which are objects
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
    if _is_real(found.dtype):
        return found
    if not jnp.issubdtype(found.dtype, jnp.integer):
        bits = " of at least 16 bits" if jnp.issubdtype(found.dtype, jnp.floating) else ""
        raise ValueError(f"{name} must be real numbers{bits}, got {found.dtype}")
    return found.astype(default)


def _is_real(dtype: np.dtype) -> bool:
    """True if a type is of floating numbers of at least 16 bits."""
    return jnp.issubdtype(dtype, jnp.floating) and dtype.itemsize > 1


def real_rows(name: str, value: Any, least: int = 1) -> Array:
    """Real array of at least so many axes. ValueError for any other."""
    array = real_array(name, value)
    if array.ndim < least:
        axes = f"{least} {'axis' if least == 1 else 'axes'}"
        raise ValueError(f"{name} must have at least {axes}, got shape {array.shape}")
    return array


def real_vector(name: str, value: Any, like: Array | jax.ShapeDtypeStruct | None = None) -> Array:
    """Real vector [N], of the length of another one if given. Any other raises ValueError, which advises `jax.vmap`."""
    array = real_array(name, value)
    shape = "[N]" if like is None else str(list(like.shape))
    if array.ndim != 1 or (like is not None and array.shape != like.shape):
        raise ValueError(f"{name} must have shape {shape} (batch with jax.vmap), got shape {array.shape}")
    return array


def real_matrix(name: str, value) -> Float[Array, "A B"]:
    """`value` as a non-empty matrix of real floating type, checked to be finite unless traced. ValueError otherwise."""
    # Evaluated at once, so that constants can be checked inside jit, too.
    with contextlib.nullcontext() if is_traced(value) else jax.ensure_compile_time_eval():
        matrix = real_array(name, value)
        if matrix.ndim != 2 or 0 in matrix.shape:
            raise ValueError(f"{name} must be a non-empty matrix, got shape {matrix.shape}")
        if violated(lambda x: abs(x) < np.inf, matrix):
            raise ValueError(f"{name} must be finite, got NaN or infinite entries")
    return matrix


def spin_matrix(name: str, value) -> Float[Array, "A B"]:
    """`value` as a non-empty matrix of spins, checked unless traced. ValueError otherwise."""
    matrix = real_matrix(name, value)
    if violated(lambda x: abs(x) == 1, matrix):
        raise ValueError(f"{name} must be spins −1 or +1, got other entries")
    return matrix


def positive_array(name: str, value: ArrayLike, dtype: DTypeLike, *, finite: bool = True) -> Array:
    """Positive (and finite) numbers in `dtype`. ValueError for other numbers, NaN for traced ones."""
    if is_traced(value):
        numbers = real_array(name, value, dtype)
        return nan_outside(numbers, (numbers > 0) & (numbers < jnp.inf) if finite else numbers > 0)
    value = native(value)
    limits, numbers = jnp.finfo(dtype), as_float64(name, value, "a real number or an array of them")
    if not np.all((numbers >= float(limits.tiny)) & (numbers <= (float(limits.max) if finite else np.inf))):
        contract = "positive and finite" if finite else "positive"
        rounded = np.all((numbers > 0) & ((numbers < np.inf) | (not finite)))  # to zero or to infinity
        raise ValueError(f"{name} must be {contract}, got {in_line(value)}{f' (in {limits.dtype})' if rounded else ''}")
    kept = np.asarray(value).dtype in (np.float16, np.float32, np.float64) and not np.ma.isMaskedArray(value)
    return jnp.asarray(value if kept else numbers.tolist())  # 2⁴⁰ is no int32
