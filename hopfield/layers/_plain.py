"""Plain attention: what a layer with its default options reads, by JAX's own function where that has least to do."""

import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array

from hopfield._numerics import accumulation_dtype
from hopfield.layers._reading import CACHED, known
from hopfield.layers._scope import Heads, Scope, check_heads


def plain_or(careful: Callable[[], Heads], association: Any, rows: tuple[Array, Array, Array], scope: Scope) -> Heads:
    """Softmax read-out of queries, keys and values where they lie, those that heads share not repeated, or `careful()`.

    `careful` reads if the association has any other option, if scores are too many for a cache, or if a query may read
    no key, where JAX's function gives the mean of all values. `careful` also reads a token again whose output holds
    NaN: a place behind the token may hold anything, as in a cache that was used before, and zeros there would be a
    copy.
    """
    query, key, value = rows
    positions = None if scope.turned else association.positions
    options = (positions, association.metric, association.slots, association.window, association.block)
    options = (*options, association.score, association.null_score, association.ring)
    others = (*options, scope.mask, scope.bias, scope.window)
    if any(option is not None for option in others) or association.update_steps > 1 or not _fit(query, key, value):
        return careful()
    decoding = scope.positions is not None or not isinstance(scope.offset, int)
    beta = association.beta()
    aligned = not scope.causal or decoding or query.shape[-3] == key.shape[-3]
    if beta.ndim > 0 or not association.separation.value.is_softmax or not aligned:
        return careful()
    check_heads(query, key, association.num_heads)
    mask = scope.allowed(jnp.arange(query.shape[-3]), key.shape[-3], query.ndim) if decoding else None
    mask = None if mask is None else mask.reshape((-1, 1, *mask.shape[-2:]))
    flat: Any = (x.reshape((-1, *x.shape[-3:])) for x in rows)
    output = jax.nn.dot_product_attention(*flat, mask=mask, scale=beta, is_causal=scope.causal and not decoding)
    if mask is None:
        return output.reshape(query.shape)
    output = jnp.where(jnp.any(mask, axis=-1)[:, 0, :, None, None], output, 0.0).reshape(query.shape)
    return jax.lax.cond(jnp.any(jnp.isnan(output)), lambda: careful().astype(output.dtype), lambda: output)


def _fit(query: Heads, key: Array, value: Array) -> bool:
    """True if all three have the same sequences, heads of one width, and few scores, of known number.

    JAX's function takes the softmax in float32, whatever is given to it. A GPU's kernel for 16 bits stands elsewhere.
    """
    if jax.default_backend() == "gpu" and query.dtype.itemsize == 2:
        return False
    single = all(accumulation_dtype(x.dtype) == jnp.float32 for x in (query, key, value))
    alike = query.ndim == key.ndim == value.ndim and query.shape[:-3] == key.shape[:-3] == value.shape[:-3]
    alike = alike and query.shape[-1] == key.shape[-1] == value.shape[-1]
    return (
        single and alike and known(query.shape, key.shape) and 0 < math.prod(query.shape[:-1]) * key.shape[-3] <= CACHED
    )
