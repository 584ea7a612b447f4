"""Weights over patterns: the shares of one query's weights, and how many patterns carry them.

Their entropy and their effective number e^H stand in `thermodynamics`, for any axis of an array of weights.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from hopfield._arguments import boolean_array, real_vector
from hopfield._numerics import largest, power_of_two, wide
from hopfield.observables.overlaps import Mask, Scalar

Weights = Float[Array, "M"]


@jax.jit
def shares(weights: Weights, mask: Mask = None) -> Weights:
    """p = |w| / Σ|w| [M], at least in float32. It is zero where masked, or if all weights are zero or masked."""
    size = jnp.abs(wide(real_vector("weights", weights)))
    if mask is not None:
        size = jnp.where(boolean_array("mask", mask, size.shape), size, 0.0)
    # Divided out first, for the sum of large weights could overflow; by a power of two, so that sums of whole numbers
    # stay exact and a share of one half is the tie it is.
    size = size / power_of_two(largest(size))
    total = jnp.sum(size)
    return size / jnp.where(total == 0, 1.0, total)


@jax.jit
def participation_ratio(weights: Weights, mask: Mask = None) -> Scalar:
    """1 / Σ p² with p = |w| / Σ|w|: from 1 to M and never above `thermodynamics.effective_number`.

    Weights that are all zero or masked give 0.
    """
    p = shares(weights, mask)
    square = jnp.sum(p * p)
    return jnp.where(square == 0, 0.0, 1.0 / jnp.where(square == 0, 1.0, square))
