"""Floating-point ground rules shared by the library: accumulation types, tolerances, safe norms, exact roots, rows."""

import math
from collections.abc import Callable, Sequence
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.typing import ArrayLike
from jaxtyping import Array, Float


def accumulation_dtype(dtype) -> jnp.dtype:
    """The type sums over patterns are carried in: at least float32, float64 where the input is float64."""
    return jnp.promote_types(dtype, jnp.float32)


def tolerance(dtype) -> float:
    """Relative step below which an iterate counts as a fixed point: 100 units in the last place of `dtype`."""
    return 100.0 * float(jnp.finfo(dtype).eps)


def is_traced(*arrays) -> bool:
    """Whether any leaf is a tracer, so that its values can not be inspected."""
    return any(isinstance(leaf, Tracer) for leaf in jax.tree.leaves(arrays))


def positive(name: str, value) -> Float[Array, ""]:
    """`value` as a scalar array, checked to be positive and finite unless it is traced. Raises ValueError otherwise."""
    if is_traced(value):
        return value
    if np.ndim(value) or not 0 < float(value) < float("inf"):
        raise ValueError(f"{name} must be a positive finite number, got {value}")
    return jnp.asarray(float(value))  # from a Python float: weakly typed, so that it never widens a float32 state


def safe_norm(x: Float[Array, "*axes"], axis: int | None = None, keepdims: bool = False) -> Float[Array, "..."]:
    """Euclidean norm whose gradient at zero is zero instead of NaN."""
    square = jnp.sum(x * x, axis=axis, keepdims=keepdims)
    zero = square == 0  # not square > 0, which would turn NaN into a norm of zero
    return jnp.where(zero, 0.0, jnp.sqrt(jnp.where(zero, 1.0, square)))


def unit(x: Float[Array, "*axes"], axis: int = -1) -> Float[Array, "*axes"]:
    """x / ‖x‖ along `axis`; the zero vector stays zero."""
    norm = safe_norm(x, axis=axis, keepdims=True)
    return x / jnp.where(norm > 0, norm, 1.0)


def along_axis(axis: int, where: Array | None, first: Array, *more: ArrayLike) -> list[Array]:
    """Arrays in the first one's accumulation type and shape with `axis` moved last; the mask `where` is second."""
    dtype = accumulation_dtype(first.dtype)
    used = jnp.ones(first.shape, bool) if where is None else jnp.broadcast_to(where, first.shape)
    others = [jnp.broadcast_to(jnp.asarray(array, dtype), first.shape) for array in more]
    return [jnp.moveaxis(array, axis, -1) for array in (first.astype(dtype), used, *others)]


def map_rows(function: Callable, arrays: Sequence[Array], ranks: Sequence[int]) -> Array:
    """`function` mapped over the leading axes, the same for all arrays, whose last `ranks` axes are its arguments."""
    leading = arrays[0].shape[: arrays[0].ndim - ranks[0]]
    flat = [
        array.reshape((math.prod(leading), *array.shape[array.ndim - rank :]))
        for array, rank in zip(arrays, ranks, strict=True)
    ]
    found = jax.vmap(function)(*flat)
    return found.reshape((*leading, *found.shape[1:]))


@partial(jax.custom_jvp, nondiff_argnums=(0,))
def increasing_root(function: Callable, low: Array, high: Array, parameters) -> Array:
    """Elementwise root t of an increasing `function(t, parameters)` in [low, high], by bisection to the last bit.

    The derivative in `parameters` is that of the implicit function, −∂function/∂parameters / ∂function/∂t, and is
    itself differentiable, so that sparse maps have exact gradients of every order (Amos & Kolter 2017).
    """

    def halve(_, bracket):
        low, high = bracket
        middle = 0.5 * (low + high)
        above = function(middle, parameters) >= 0
        return jnp.where(above, low, middle), jnp.where(above, middle, high)

    # Each halving gains one bit; the eight extra absorb a bracket wider than the root is large.
    bits = jnp.finfo(low.dtype).nmant + 8
    low, high = jax.lax.fori_loop(0, bits, halve, (low, high))
    return 0.5 * (low + high)


@increasing_root.defjvp
def _increasing_root_jvp(function, primals, tangents):
    low, high, parameters = primals
    root = increasing_root(function, low, high, parameters)
    _, moved = jax.jvp(lambda p: function(root, p), (parameters,), (tangents[2],))
    _, slope = jax.jvp(lambda t: function(t, parameters), (root,), (jnp.ones_like(root),))
    return root, jnp.where(slope > 0, -moved / jnp.where(slope > 0, slope, 1.0), 0.0)
