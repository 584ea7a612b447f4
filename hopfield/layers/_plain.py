"""Plain attention: what a layer with its default options reads, by JAX's own function where that has least to do."""

import math

import jax
import jax.numpy as jnp
from flax.typing import PrecisionLike
from jaxtyping import Array, Bool, Float

from hopfield.layers._reading import CACHED, Dropout
from hopfield.layers._scope import Heads, Scope


def is_plain(query: Heads, key: Array, value: Array, scope: Scope, dropout: Dropout | None, how: PrecisionLike) -> bool:
    """Whether queries read all keys, or all up to their own place, and their scores are few, which stay in a cache.

    Every query then reads a key: JAX's function gives the mean of all values where one may read none.
    """
    bare = scope.mask is None and scope.bias is None and dropout is None and how is None and scope.window is None
    shaped = query.ndim == key.ndim == value.ndim and query.shape[:-3] == key.shape[:-3] == value.shape[:-3]
    shaped = shaped and query.shape[-1] == key.shape[-1] == value.shape[-1] and key.shape[-3] > 0
    few = math.prod(query.shape[:-1]) * key.shape[-3] <= CACHED
    return bare and shaped and few and (not scope.causal or decodes(scope, query) or query.shape[-3] == key.shape[-3])


def decodes(scope: Scope, query: Heads) -> bool:
    """Whether one token is read at a place in a cache that the program is told, not compiled for."""
    return scope.causal and query.shape[-3] == 1 and not isinstance(scope.offset, int)


def read_plainly(query: Heads, key: Array, value: Array, beta: Array, scope: Scope) -> Heads:
    """Softmax read-out of every query, keys and values where they lie, those that heads share not repeated."""
    decoding = decodes(scope, query)
    rows = (x.reshape((-1, *x.shape[-3:])) for x in (query, key, value))
    mask = _before(scope, key) if decoding else None
    causal = scope.causal and not decoding
    output = jax.nn.dot_product_attention(*rows, mask=mask, scale=beta, is_causal=causal)  # pyright: ignore[reportArgumentType]
    return output.reshape(query.shape)


def _before(scope: Scope, key: Array) -> Bool[Array, "1 1 1 S"]:
    """Keys up to the place of the token."""
    return (jnp.arange(key.shape[-3]) <= scope.offset - scope.start).reshape(1, 1, 1, -1)


def read_or(careful, output: Float[Array, "*b T H D"]) -> Heads:
    """The read-out, or where NaN is in it what `careful()` reads: it may come from a place behind the token."""
    return jax.lax.cond(jnp.any(jnp.isnan(output)), careful, lambda: output)
