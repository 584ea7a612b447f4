"""Dropout of some rows of the weights, with the numbers that one draw for all rows would give."""

import math
from typing import Any

import jax
import jax.extend.random
import jax.numpy as jnp
import numpy as np
from flax import nnx, struct
from flax.nnx.module import first_from
from jax.typing import ArrayLike
from jaxtyping import Array, Bool

from hopfield._arguments import flag
from hopfield._pytrees import Node

COUNTER = "threefry2x32"
"""The generator whose n-th number is a function of the key and of n alone."""


class Dropout(Node):
    """Dropout of weights: with `broadcast` the same weights in all sequences and heads."""

    key: Array
    rate: float = struct.field(pytree_node=False)
    broadcast: bool = struct.field(pytree_node=False, default=True)

    def applied(self, weights: Array, queries: int, row: Any = 0) -> Array:
        """Weights after dropout of the queries from `row` on, of `queries` in all. Kept ones grow by 1/(1 − rate)."""
        leading, (rows, keys) = weights.shape[:-2], weights.shape[-2:]
        leading = (1,) * len(leading) if self.broadcast else leading
        keep = kept_rows(self.key, self.rate, (*leading, queries, keys), row, rows)
        return weights * (keep.reshape((*leading, rows, keys)).astype(weights.dtype) / (1.0 - self.rate))


def dropout_of(
    layer: nnx.MultiHeadAttention, deterministic: bool | None, rngs: nnx.Rngs | nnx.RngStream | None
) -> Dropout | None:
    """Dropout of a layer's weights as Flax draws it, None without dropout."""
    if layer.dropout_rate == 0.0:
        return None
    message = "deterministic must be given where weights are dropped, as an argument or to the layer"
    if flag("deterministic", first_from(deterministic, layer.deterministic, error_msg=message)):
        return None
    stream = layer.rngs if rngs is None else rngs.dropout if isinstance(rngs, nnx.Rngs) else rngs
    if stream is None:
        raise ValueError("rngs must be given where weights are dropped and keep_rngs is False, got None")
    return Dropout(stream(), layer.dropout_rate, layer.broadcast_dropout)


def kept_rows(key: Array, rate: float, shape: tuple[int, ...], row: ArrayLike, length: int) -> Bool[Array, "*b T S"]:
    """Rows row … row + length − 1 (axis −2) of `jax.random.bernoulli(key, 1 − rate, shape)`, drawn without the others.

    With another generator than JAX's usual one they are drawn by themselves, from the key and the first row.
    """
    rows, columns = shape[-2:]
    counted = str(jax.random.key_impl(key)) == COUNTER and getattr(jax.config, "jax_threefry_partitionable", True)
    if not counted or rows * columns >= 2**32:
        return jax.random.bernoulli(jax.random.fold_in(key, row), 1.0 - rate, (*shape[:-2], length, columns))
    before = np.arange(math.prod(shape[:-2]), dtype=np.uint64) * np.uint64(rows * columns)
    words = (before >> np.uint64(32), before & np.uint64(0xFFFFFFFF))
    high, low = (jnp.asarray(word, jnp.uint32)[:, None, None] for word in words)
    place = (jnp.asarray(row, jnp.uint32) + jnp.arange(length, dtype=jnp.uint32))[:, None] * np.uint32(columns)
    place = (place + jnp.arange(columns, dtype=jnp.uint32)[None, :])[None]
    total = low + place
    high = high + (total < low).astype(jnp.uint32)  # a sum that wrapped around carries one
    counters = jnp.concatenate([jnp.ravel(high), jnp.ravel(total)])
    drawn = jax.extend.random.threefry_2x32(jax.random.key_data(key), counters)
    uniform = _uniform(*jnp.split(drawn, 2)).reshape((*shape[:-2], length, columns))
    return uniform < 1.0 - rate


def _uniform(first: Array, second: Array) -> Array:
    """Numbers in [0, 1) of JAX's default float type, as `jax.random.uniform` makes them of random words."""
    if jnp.result_type(float) == jnp.float64:
        word = (first.astype(jnp.uint64) << np.uint64(32)) | second.astype(jnp.uint64)
        return jax.lax.bitcast_convert_type((word >> np.uint64(12)) | np.uint64(0x3FF0000000000000), jnp.float64) - 1.0
    return jax.lax.bitcast_convert_type(((first ^ second) >> np.uint32(9)) | np.uint32(0x3F800000), jnp.float32) - 1.0
