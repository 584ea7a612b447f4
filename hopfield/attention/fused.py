"""cuDNN's fused attention in 16 bits on a GPU: how it is told of the rows that `routes` sends to it."""

import warnings
from functools import cache
from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from hopfield._arrays import same_rank
from hopfield._numerics import is_traced
from hopfield.attention.masks import Causal, Lengths, Mask, Window
from hopfield.attention.routes import Heads, Shapes, heads_of, lengths_of, mask_parts

IMPLEMENTATION: Any = "cudnn"


class How(NamedTuple):
    """Constants of a program of the kernel: the scale of the products, causality, keys before the query's own."""

    scale: float
    causal: bool
    before: int | None

    @property
    def separation(self) -> str:
        """Name of what the blocks read in the kernel's place."""
        return "softmax"

    def read(self, query: Array, key: Array, value: Array, mask: Mask | None) -> Array:
        """Read-out of the kernel."""
        return kernel(query, key, value, mask, self)


def how_of(scale: float, mask: Any) -> How:
    """Constants of the kernel for a scale and a mask."""
    parts = mask_parts(mask)
    before = min((part.left for part in parts if isinstance(part, Window)), default=None)
    return How(scale, before is not None or any(isinstance(part, Causal) for part in parts), before)


def taken(shapes: Shapes, mask: Mask | None) -> bool:
    """True if the kernel takes rows of these shapes on the device at hand, tried once for each."""
    query, key, _ = shapes
    sizes = (query.shape[-2], key.shape[-2], query.shape[-1], str(query.dtype))
    return _compiles(cast(Heads, heads_of(*shapes)), *sizes, bool(lengths_of(mask)), how_of(1.0, mask))


@cache
def _compiles(layout: Heads, queries: int, keys: int, width: int, dtype: str, padded: bool, how: How) -> bool:
    """True if the kernel and its gradient compile at these shapes, tried once. A refusal is told in a warning."""
    batch, heads, stored = layout
    row = lambda count, length: jax.ShapeDtypeStruct((batch, count, length, width), dtype)
    rows = row(heads, queries), row(stored, keys), row(stored, keys)
    mask = Lengths(jnp.ones((batch,), int)) if padded else None
    slopes = jax.grad(lambda q, k, v: jnp.sum(kernel(q, k, v, mask, how).astype(jnp.float32)), argnums=(0, 1, 2))
    try:
        with jax.ensure_compile_time_eval():
            jax.jit(slopes).lower(*rows).compile()
    except Exception as error:  # noqa: BLE001 - what a library refuses comes as an error of any kind
        warnings.warn(f"cuDNN takes no attention of {rows[0]}, blocks do: {str(error)[:200]}", stacklevel=2)
        return False
    return True


def kernel(query: Array, key: Array, value: Array, mask: Mask | None, how: How) -> Array:
    """Read-out of cuDNN. Rows that may read nothing, for which cuDNN leaves numbers undefined, are zero."""
    layout = cast(Heads, heads_of(query, key, value))
    shape = (*jnp.broadcast_shapes(query.shape[:-2], key.shape[:-2]), query.shape[-2], value.shape[-1])
    counts = (layout.heads, layout.stored, layout.stored)
    query = jnp.broadcast_to(query, (*shape[:-2], *query.shape[-2:]))
    rows = [
        jnp.swapaxes(x.reshape((layout.batch, count, *x.shape[-2:])), 1, 2)
        for x, count in zip((query, key, value), counts, strict=True)
    ]
    padded = next(iter(lengths_of(mask)), None)
    options: dict[str, Any] = {"scale": how.scale, "is_causal": how.causal, "implementation": IMPLEMENTATION}
    if how.before is not None:
        options["local_window_size"] = (how.before, 0)
    if padded is None:
        output = jax.nn.dot_product_attention(*rows, **options)
    else:
        length = jnp.broadcast_to(padded.length.astype(jnp.int32), (layout.batch,))
        told = jnp.clip(length, 1, key.shape[-2])
        output = jax.nn.dot_product_attention(*rows, key_value_seq_lengths=told, **options)
        places = jnp.arange(shape[-2])[None, :] if padded.queries else jnp.zeros((1, 1), jnp.int32)
        output = jnp.where((places < length[:, None])[..., None, None], output, 0)
    return jnp.swapaxes(output, 1, 2).reshape(shape)


def folded(query: Array, rate: Array) -> Array:
    """β q in the dtype of q."""
    rows, factor = same_rank(query, rate[..., None, None])
    return (rows.astype(rate.dtype) * factor).astype(query.dtype)


def number(beta: Any, temperature: Any, width: int) -> float | None:
    """β over the temperature as a constant of a program; None where one of them is traced or an array."""
    given = width**-0.5 if beta is None else beta, 1.0 if temperature is None else temperature
    if is_traced(given) or any(np.size(x) != 1 for x in given):
        return None
    rate, warmth = (float(np.asarray(x).reshape(())) for x in given)
    return rate / warmth
