"""Guards of sums and quotients of weights against zeros, masks and overflow."""

from typing import Any

import jax.numpy as jnp
from jaxtyping import Array

from hopfield.separations.simplex import Mask


def nonzero(x: Array) -> Array:
    """Numbers x [...], zeros replaced by ones, to divide by."""
    return jnp.where(x != 0, x, 1.0)


def scaled(x: Any, factor: Array) -> Array:
    """Product x · factor, zero wherever x is: an overflow of the factor does not spoil a tie (0·∞ is NaN)."""
    return jnp.where(x == 0, 0.0, x * factor)


def faint(dtype) -> float:
    """Smallest common factor of a sum whose sign must survive underflow."""
    return 1e12 * float(jnp.finfo(dtype).tiny)


def unmasked(x: Array, mask: Mask) -> Array:
    """Numbers x [M] with zeros where the mask is False; all of them without a mask."""
    return x if mask is None else jnp.where(mask, x, 0.0)
