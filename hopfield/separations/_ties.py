"""Differences of scores that all but agree, and sums of them that balance."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from hopfield.separations.simplex import Mask, Scores


def balance(weights: Scores, rise: Scores) -> Float[Array, ""]:
    """Σ w δ, zero where it is no more than the rounding of its terms: a tie."""
    terms = weights * rise
    total, size = jnp.sum(terms), jnp.sum(jnp.abs(terms))
    return jnp.where(jnp.abs(total) <= 4 * jnp.finfo(terms.dtype).eps * size, 0.0, total)


def finite_rise(up: Scores, down: Scores, mask: Mask) -> Scores:
    """Differences of two vectors of scores, 0 where they are masked or infinite."""
    known = jnp.isfinite(up) & jnp.isfinite(down)
    known = (known | jnp.isnan(up) | jnp.isnan(down)) & (True if mask is None else mask)
    return jnp.where(known, up, 0.0) - jnp.where(known, down, 0.0)
