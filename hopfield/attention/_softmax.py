"""Softmax that gives a row of nothing to read weights and slopes of zero."""

import jax
import jax.numpy as jnp
from jaxtyping import Array

from hopfield._arguments import boolean_array, real_rows


def softmax(scores: Array, mask: Array | None = None) -> Array:
    """Softmax over the last axis. A key that is masked or scores −∞ has weight and gradient zero."""
    scores = real_rows("scores", scores)
    return _softmax(scores if mask is None else jnp.where(boolean_array("mask", mask), scores, -jnp.inf))


@jax.custom_jvp
def _softmax(scores: Array) -> Array:
    # JAX's own is NaN in a row of nothing but −∞, and so are its derivatives. That row is known by its sum: the maximum
    # of XLA on CPUs is −∞ at some shapes for a row of NaN, too.
    top = jax.lax.stop_gradient(jnp.max(scores, axis=-1, keepdims=True, initial=-jnp.inf))
    size = jnp.exp(scores - jnp.where(top == -jnp.inf, 0.0, top))
    total = jnp.sum(size, axis=-1, keepdims=True)
    return size / jnp.where(total == 0, 1.0, total)


@_softmax.defjvp
def _softmax_jvp(primals, tangents):
    p = _softmax(*primals)
    return p, p * (tangents[0] - jnp.sum(p * tangents[0], axis=-1, keepdims=True))
