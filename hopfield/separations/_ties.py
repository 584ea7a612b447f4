"""Differences of scores that all but agree, and balanced sums of such differences."""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from hopfield._numerics import anywhere
from hopfield.separations.simplex import Mask, Scores


@jax.jit  # so that its conditions are compiled once, not at every call
def difference(separation: Any, up: Scores, down: Scores, beta: Array, mask: Mask) -> Float[Array, ""]:
    """Difference of two potentials by the separation's own method."""
    return separation._difference(up, down, beta, mask)


def balance(weights: Scores, rise: Scores) -> Float[Array, ""]:
    """Sum Σ w δ over weights w and rises δ of scores [M]; zero, a tie, if within the rounding of its terms."""
    terms = weights * rise
    return zero_within_rounding(jnp.sum(terms), jnp.sum(jnp.abs(terms)))


def zero_within_rounding(total: Float[Array, "*b"], size: Float[Array, "*#b"]) -> Float[Array, "*b"]:
    """A sum; zero if it does not exceed its rounding errors. `size` is the sum of the terms' absolute values."""
    return jnp.where(jnp.abs(total) <= 4 * jnp.finfo(total.dtype).eps * size, 0.0, total)


def finite_rise(up: Scores, down: Scores, mask: Mask) -> Scores:
    """Differences of two vectors of scores, 0 where they are masked or infinite."""
    known = jnp.isfinite(up) & jnp.isfinite(down)
    known = (known | jnp.isnan(up) | jnp.isnan(down)) & (True if mask is None else mask)
    return jnp.where(known, up, 0.0) - jnp.where(known, down, 0.0)


def where_near(near: Bool[Array, ""], small: Callable[[], Array], apart: Callable[[], Array]) -> Float[Array, ""]:
    """Result of `small()` where scores are near, else of `apart()`; a batch computes one only if an entry needs it."""
    either = lambda: jnp.where(near, small(), apart())
    return jax.lax.cond(anywhere(~near), lambda: jax.lax.cond(anywhere(near), either, apart), small)
