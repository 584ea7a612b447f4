"""Jacobians of weights in their scores, worked out by hand from the weights alone."""

import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from hopfield._arguments import real_array, real_rows
from hopfield._arrays import same_rank
from hopfield._numerics import wide


def softmax_jacobian(p: Float[Array, "*b S"]) -> Float[Array, "*b S S"]:
    """∂p_i/∂s_j = p_i (δ_ij − p_j) at weights p = softmax(s). It is symmetric, and its rows sum to zero."""
    p = real_rows("p", p)
    return _diagonal_minus(wide(p), wide(p)).astype(p.dtype)


def softmax_jacobian_product(p: Float[Array, "*b S"], v: Float[Array, "*b S"]) -> Float[Array, "*b S"]:
    """J v = vᵀ J = p ∘ (v − p·v) for the softmax Jacobian J at p, without building it."""
    p = real_array("p", p)
    v = of_width(v, p)
    return p * (v - jnp.sum(p * v, axis=-1, keepdims=True))


def sparse_jacobian(p: Float[Array, "*b S"], alpha: ArrayLike) -> Float[Array, "*b S S"]:
    """Generalised Jacobian of α-entmax at weights p, diag(r) − r rᵀ / Σ r with r = p^(2−α) on the support.

    Sparsemax is α = 2, softmax α = 1. Where a weight is just about to enter the support the map has a kink, and this
    is the derivative from the side on which the weight stays zero.

    Source: Peters, Niculae & Martins 2019, proposition 2.
    """
    p = real_rows("p", p)
    r = _support_power(wide(p), alpha)
    total = jnp.sum(r, axis=-1, keepdims=True)
    return _diagonal_minus(r, r / jnp.where(total == 0, 1.0, total)).astype(p.dtype)


def sparse_jacobian_product(p: Float[Array, "*b S"], v: Float[Array, "*b S"], alpha: ArrayLike) -> Array:
    """J v = vᵀ J = r ∘ (v − r·v / Σ r) for the Jacobian of `sparse_jacobian`, without building it."""
    weights = real_array("p", p)
    r, v = _support_power(wide(weights), alpha), wide(of_width(v, weights))
    total = jnp.sum(r, axis=-1, keepdims=True)
    product = r * (v - jnp.sum(r * v, axis=-1, keepdims=True) / jnp.where(total == 0, 1.0, total))
    return product.astype(weights.dtype)


def normmax_jacobian_product(p: Float[Array, "*b S"], v: Float[Array, "*b S"], alpha: ArrayLike) -> Array:
    """J v for α-normmax at weights p: J = [diag(r) − r pᵀ − p rᵀ + (Σr) p pᵀ] / (α − 1), r = p^(2−α) ‖p‖_α^(α−1).

    From p = u^κ / Σ u^κ with u = [z − τ]₊, κ = 1/(α−1), and Σ u^(κ+1) = 1, which makes ∂τ/∂z = p.
    """
    weights = real_array("p", p)
    p, v = wide(weights), wide(of_width(v, weights))
    alpha = jnp.asarray(alpha, p.dtype)
    power = jnp.sum(_power(p, alpha), axis=-1, keepdims=True)  # ‖p‖^α
    r = _support_power(p, alpha) * _power(power, (alpha - 1.0) / alpha)
    moved = v - jnp.sum(p * v, axis=-1, keepdims=True)
    change = r * moved
    return ((change - p * jnp.sum(change, axis=-1, keepdims=True)) / (alpha - 1.0)).astype(weights.dtype)


def of_width(v: Array, p: Array) -> Array:
    """The vectors v [*b, S] that a Jacobian at p takes. Raises ValueError for another S."""
    v = real_array("v", v)
    if v.shape[-1:] != jnp.shape(p)[-1:]:
        raise ValueError(f"v must be as long as the weights p, {jnp.shape(p)[-1:]}, got {v.shape[-1:]}")
    return v


def _power(x: Array, exponent: Array) -> Array:
    """Power x^exponent where x > 0, else 0; NaN where x is NaN, also to the power of 0."""
    empty = x <= 0  # not x > 0, which would take what is not a number for no weight
    return jnp.where(jnp.isnan(x), x, jnp.where(empty, 0.0, jnp.where(empty, 1.0, x) ** exponent))


def _support_power(p: Array, alpha: ArrayLike) -> Array:
    """Power p^(2−α) on the support of the weights p [*b, S], else 0 (also for α = 2, where the power is 1)."""
    return _power(p, 2.0 - jnp.asarray(alpha, p.dtype))


def _diagonal_minus(r: Array, share: Array) -> Array:
    """Matrices diag(r) − r shareᵀ [*b, S, S] of two vectors [*b, S]."""
    column, row = r[..., :, None], share[..., None, :]
    eye, column = same_rank(jnp.eye(r.shape[-1], dtype=r.dtype), column)
    return column * (eye - row)
