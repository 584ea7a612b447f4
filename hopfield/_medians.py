"""Weighted median, shrunk towards zero: the response of Manhattan similarities in Euclidean space."""

import jax.numpy as jnp
from jaxtyping import Array, Float


def shrunk_median(points: Float[Array, "M"], weights: Float[Array, "M"], stiffness: float) -> Float[Array, ""]:
    """argmin_t ½ stiffness t² + Σ_μ weights_μ |t − points_μ|, exactly: its slope is piecewise linear and rises."""
    order = jnp.argsort(points)
    t, w = points[order], weights[order]
    below = jnp.cumsum(w)
    pull = 2.0 * below - below[-1]  # slope of the sum just above t_k; 2·before − total just under it
    slope = stiffness * t + pull
    k = jnp.minimum(jnp.argmax(slope >= 0), t.size - 1)
    k = jnp.where(jnp.any(slope >= 0), k, t.size - 1)
    left = 2.0 * (below[k] - w[k]) - below[-1]
    at_kink = stiffness * t[k] + left <= 0
    crossing = jnp.where(stiffness > 0, -left / jnp.where(stiffness > 0, stiffness, 1.0), t[k])
    beyond = jnp.where(stiffness > 0, -below[-1] / jnp.where(stiffness > 0, stiffness, 1.0), t[-1])
    least = jnp.where(jnp.any(slope >= 0), jnp.where(at_kink, t[k], crossing), beyond)
    return jnp.where(jnp.isnan(below[-1]), jnp.nan, least)
