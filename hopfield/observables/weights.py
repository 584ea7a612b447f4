"""Weights over patterns: shares, entropy and effective number of one row."""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float, Int

from hopfield._arguments import boolean_array, real_vector
from hopfield._numerics import largest, power_of_two, wide
from hopfield.observables.overlaps import Mask, Scalar, above
from hopfield.separations.simplex import shannon_entropy

__all__ = ["dominates", "effective_number", "entropy", "participation_ratio", "shares"]

Weights = Float[Array, "M"]


@jax.jit
def dominates(weights: Weights, target: int | Int[Array, ""]) -> Bool[Array, ""]:
    """Whether the target pattern carries more than half of the weight. An invalid index carries none.

    A half that only rounding exceeds is a tie, and no more than half.
    """
    share, index = shares(weights, None), jnp.asarray(target)
    if index.ndim or not jnp.issubdtype(index.dtype, jnp.integer):
        raise ValueError(f"target must be one index, got {index.dtype} {list(index.shape)}")
    return (index >= 0) & above(share.at[index].get(mode="fill", fill_value=0.0), 0.5)


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
def entropy(weights: Weights, mask: Mask = None) -> Scalar:
    """Shannon's entropy H = −Σ p ln p in nats, p = |w| / Σ|w|; weights that are all zero or masked give 0."""
    return shannon_entropy(shares(weights, mask))


@jax.jit
def effective_number(weights: Weights, mask: Mask = None) -> Scalar:
    """Effective number of patterns e^H, H = −Σ p ln p with p = |w| / Σ|w|: from 1 (one pattern) to M (all).

    Weights that are all zero or masked give 0.
    """
    p = shares(weights, mask)
    return jnp.where(jnp.all(p == 0), 0.0, jnp.exp(shannon_entropy(p)))


@jax.jit
def participation_ratio(weights: Weights, mask: Mask = None) -> Scalar:
    """1 / Σ p² with p = |w| / Σ|w|: from 1 to M and never above `effective_number`.

    Weights that are all zero or masked give 0.
    """
    p = shares(weights, mask)
    square = jnp.sum(p * p)
    return jnp.where(square == 0, 0.0, 1.0 / jnp.where(square == 0, 1.0, square))
