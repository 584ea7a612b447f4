"""Exact maps from scores onto the probability simplex: thresholds of sparsemax, entmax and normmax.

Each map is p_μ = [z_μ − τ]₊^(1/(α−1)) up to scale, with the threshold τ that a normalisation fixes. The threshold is
found exactly (sort, or bisection to the last bit) and differentiated as an implicit function.
"""

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Bool, Float

from hopfield._numerics import accumulation_dtype, increasing_root, largest

Scores = Float[Array, "M"]
Mask = Bool[Array, "M"] | None


def shifted(z: Scores, mask: Mask) -> tuple[Scores, Float[Array, ""]]:
    """Scores minus the largest unmasked one (masked: −∞), and that largest one (0 where nothing is unmasked).

    One NaN among the unmasked scores makes all of them NaN.
    """
    z = z.astype(accumulation_dtype(z.dtype))
    if mask is not None:
        z = jnp.where(mask, z, -jnp.inf)
    top = jax.lax.stop_gradient(largest(z))
    top = jnp.where(jnp.isinf(top), 0.0, top)
    return z - top, top


def _clipped_power(u: Array, exponent: Array) -> Array:
    """[u]₊^exponent with derivatives that stay finite at and below zero."""
    cut = u <= 0
    return jnp.where(cut, 0.0, jnp.exp(exponent * jnp.log(jnp.where(cut, 1.0, u))))


@jax.custom_jvp
def _sorted_threshold(z: Scores) -> Float[Array, ""]:
    """τ with Σ [z − τ]₊ = 1 by sorting (Held, Wolfe & Crowder 1974; Martins & Astudillo 2016, algorithm 1)."""
    descending = -jnp.sort(-z)
    count = jnp.arange(1, z.size + 1, dtype=z.dtype)
    used = descending > -jnp.inf
    partial_sum = jnp.cumsum(jnp.where(used, descending, 0.0))
    support = used & (1.0 + count * jnp.where(used, descending, 0.0) > partial_sum)
    size = jnp.maximum(jnp.sum(support), 1)
    return (partial_sum[size - 1] - 1.0) / size.astype(z.dtype)


@_sorted_threshold.defjvp
def _sorted_threshold_jvp(primals, tangents):
    (z,), (dz,) = primals, tangents
    tau = _sorted_threshold(z)
    support = (z > tau).astype(z.dtype)
    return tau, jnp.sum(jnp.where(support > 0, dz, 0.0)) / jnp.maximum(jnp.sum(support), 1.0)


@jax.jit
def sparsemax(z: Scores, mask: Mask = None) -> Scores:
    """Euclidean projection of the scores on the simplex; zeros where everything is masked."""
    s, _ = shifted(z, mask)
    return jnp.maximum(s - _sorted_threshold(s), 0.0)


def _entmax_excess(tau, parameters):
    z, alpha = parameters
    return 1.0 - jnp.sum(_clipped_power((alpha - 1.0) * z - tau, 1.0 / (alpha - 1.0)))


@jax.jit
def entmax(z: Scores, alpha: Float[Array, ""], mask: Mask = None) -> Scores:
    """argmax over the simplex of p·z + H_α(p), H_α Tsallis' entropy, 1 < α ≤ 2 (Peters, Niculae & Martins 2019)."""
    s, _ = shifted(z, mask)
    alpha = jnp.asarray(alpha, s.dtype)
    absent = s == -jnp.inf
    s = jnp.where(absent, -1e30, s)  # a finite stand-in: (α−1)·(−∞) has no tangent in α
    low, high = jnp.full((), -1.0, s.dtype), jnp.zeros((), s.dtype)
    tau = increasing_root(_entmax_excess, low, high, (s, alpha))
    weights = _clipped_power((alpha - 1.0) * s - tau, 1.0 / (alpha - 1.0))
    total = jnp.sum(weights)
    return jnp.where(absent, 0.0, weights / jnp.where(total == 0, 1.0, total))


def shannon_entropy(p: Scores) -> Float[Array, ""]:
    """H(p) = −Σ p ln p in nats, 0 ln 0 = 0; the derivative at p = 0 is taken as zero instead of +∞."""
    empty = p <= 0
    return -jnp.sum(jnp.where(empty, 0.0, p * jnp.log(jnp.where(empty, 1.0, p))))


def tsallis_entropy(p: Scores, alpha: ArrayLike) -> Float[Array, ""]:
    """H_α(p) = (Σ p − Σ p^α) / (α(α−1)), α > 0; the convention in which α = 1 is Shannon's and α = 2 is ½(1 − ‖p‖²)."""
    alpha = jnp.asarray(alpha, p.dtype)
    empty = p <= 0
    log_p = jnp.log(jnp.where(empty, 1.0, p))
    gap = alpha - 1.0
    # p^α − p = p (e^((α−1) ln p) − 1), which does not cancel as α → 1.
    slope = jnp.where(gap == 0, log_p, jnp.expm1(gap * log_p) / jnp.where(gap == 0, 1.0, gap))
    return -jnp.sum(jnp.where(empty, 0.0, p * slope)) / alpha


def alpha_norm(p: Scores, alpha: Float[Array, ""]) -> Float[Array, ""]:
    """‖p‖_α = (Σ p^α)^(1/α) of non-negative numbers, for α however large."""
    top = largest(p)
    top = jnp.where(top <= 0, 1.0, top)
    return top * _clipped_power(jnp.sum(_clipped_power(p / top, jnp.asarray(alpha, p.dtype))), 1.0 / alpha)


def _normmax_excess(tau, parameters):
    z, alpha = parameters
    return 1.0 - jnp.sum(_clipped_power(z - tau, alpha / (alpha - 1.0)))


@jax.jit
def normmax(z: Scores, alpha: Float[Array, ""], mask: Mask = None) -> tuple[Scores, Float[Array, ""]]:
    """argmax over the simplex of p·z + 1 − ‖p‖_α, and that maximum, α > 1 (Blondel, Martins & Niculae 2020, §4.3).

    Stationarity gives p ∝ [z − τ]₊^(1/(α−1)) with Σ [z − τ]₊^(α/(α−1)) = 1, and the maximum is τ + 1.
    """
    s, top = shifted(z, mask)
    alpha = jnp.asarray(alpha, s.dtype)
    absent = s == -jnp.inf
    s = jnp.where(absent, -1e30, s)
    low, high = jnp.full((), -1.0, s.dtype), jnp.zeros((), s.dtype)
    tau = increasing_root(_normmax_excess, low, high, (s, alpha))
    weights = _clipped_power(s - tau, 1.0 / (alpha - 1.0))
    total = jnp.sum(weights)
    p = jnp.where(absent, 0.0, weights / jnp.where(total == 0, 1.0, total))
    return p, jnp.where(jnp.all(absent), -jnp.inf, tau + top + 1.0)
