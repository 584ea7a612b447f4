"""Points of manifolds: kept where they lie on theirs, refused elsewhere, and NaN where they are traced."""

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from hopfield._arguments import real_rows, real_vector, shown
from hopfield._numerics import is_traced, nan_outside


def on_manifold(name: str, point: Array, off: Array, contract: str, by: Array | None = None) -> Array:
    """A point, unchanged. ValueError for a point `off` its manifold (`by` how much); a traced point becomes NaN."""
    if is_traced(off):
        return nan_outside(point, ~off)
    if bool(jnp.any(off)):
        got = shown(point) if by is None else f"entries that differ by {float(jnp.max(by)):.3g}"
        raise ValueError(f"{name} must {contract}, got {got}")
    return point


def alike(**rows: ArrayLike) -> tuple[Float[Array, "*b n"], ...]:
    """Points and vectors of one space by their names: real, with the width of the last. ValueError for another."""
    found = {name: real_rows(name, x) for name, x in rows.items()}
    name, last = list(found.items())[-1]
    for other, x in found.items():
        if x.shape[-1] != last.shape[-1]:
            raise ValueError(f"{other} must be as wide as {name}, {last.shape[-1]}, got shape {x.shape}")
    return tuple(found.values())


def unit_rows(name: str, point: ArrayLike) -> Float[Array, "*b n"]:
    """Rows of squared norm 1, to 1e-3 or what rounding takes."""
    rows = real_rows(name, point)
    off = _differs(jnp.sum(rows * rows, axis=-1, keepdims=True), rows.dtype)
    return on_manifold(name, rows, off, "be of norm 1 along its last axis")


def probabilities(name: str, point: ArrayLike) -> Float[Array, "K"]:
    """Numbers that are not negative and add up to 1, to 1e-3 or what rounding takes."""
    shares = real_vector(name, point)
    off = _differs(jnp.sum(shares, axis=-1, keepdims=True), shares.dtype)
    return on_manifold(
        name, shares, off | jnp.any(shares < 0, axis=-1, keepdims=True), "be probabilities that add to 1"
    )


def positive_scale(name: str, point: ArrayLike) -> Float[Array, "2"]:
    """A pair (μ, σ) of positive σ."""
    pair = real_vector(name, point, like=jax.ShapeDtypeStruct((2,), float))
    return on_manifold(name, pair, pair[..., 1:] <= 0, "be (μ, σ) with a positive σ")


def _differs(total: Array, dtype: jnp.dtype) -> Array:
    """True if a total differs from 1. NaN counts as equal, so that it passes on unchanged."""
    return jnp.abs(total - 1) > max(1e-3, 8 * float(jnp.finfo(dtype).eps))
