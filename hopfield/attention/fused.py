"""cuDNN's fused attention in 16 bits on a GPU: which reads it takes, and how it is told of them."""

import math
import warnings
from functools import cache
from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from hopfield._arrays import same_rank
from hopfield._numerics import is_traced
from hopfield.attention.masks import Both, Causal, Everything, Lengths, Mask, Window

IMPLEMENTATION: Any = "cudnn"
WIDTH = 256
"""Width of the heads up to which Hopper's kernels go; those of an Ampere end at 128, which the trial finds out."""


class How(NamedTuple):
    """What is fixed in a program of the kernel: the scale of the products, causality, keys before the query's own."""

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


class Heads(NamedTuple):
    """Numbers that leading axes are laid out as: sequences, heads, and heads of keys and values."""

    batch: int
    heads: int
    stored: int


def heads_of(query: Array, key: Array, value: Array) -> Heads | None:
    """Layout of the leading axes for the kernel; None where a key would have to be copied."""
    if key.shape[:-2] != value.shape[:-2]:
        return None
    rank = max(query.ndim, key.ndim) - 2
    stored = (1,) * (rank + 2 - key.ndim) + key.shape[:-2]
    leading = jnp.broadcast_shapes(query.shape[:-2], stored)
    own = next(m for m in range(rank, -1, -1) if m == 0 or stored[m - 1] != 1 or leading[m - 1] == 1)
    if stored[:own] != leading[:own] or math.prod(leading) == 0:
        return None
    batch = leading[0] if own else 1
    return Heads(batch, math.prod(leading) // batch, math.prod(leading[:own]) // batch)


def mask_parts(mask: Any) -> list:
    """Masks of which this one is the intersection."""
    return [*mask_parts(mask.first), *mask_parts(mask.second)] if isinstance(mask, Both) else [mask]


def known_mask(mask: Mask | Array | None, queries: int, keys: int, batch: int) -> bool:
    """Whether the kernel has this mask: causal, a window behind the query, or lengths, by which no query is left empty.

    Never an array: cuDNN reads a mask or bias of ones and zeros wrongly at some shapes, and without a gradient.
    """
    parts = [] if mask is None else mask_parts(mask)
    if not all(isinstance(part, Causal | Window | Lengths | Everything) for part in parts):
        return False
    windows = [part for part in parts if isinstance(part, Window)]
    lengths = [part for part in parts if isinstance(part, Lengths)]
    behind = any(isinstance(part, Causal) for part in parts)
    reach = all((part.right == 0 or behind) and queries <= keys + part.left for part in windows)
    return reach and len(lengths) <= 1 - bool(windows) and all(part.length.shape in ((), (batch,)) for part in lengths)


def fused_kernel_applies(query: Array, key: Array, value: Array, mask: Mask | Array | None, folded: bool) -> bool:
    """Whether this machine has a GPU whose kernel reads the same, in 16 bits.

    Args:
        folded: whether β is no number but an array, and goes into the query: not in float16, which it may leave.
    """
    if jax.default_backend() != "gpu":
        return False
    kinds, widths = {x.dtype for x in (query, key, value)}, {x.shape[-1] for x in (query, key, value)}
    half = len(kinds) == 1 and query.dtype in ((jnp.bfloat16,) if folded else (jnp.bfloat16, jnp.float16))
    fits = len(widths) == 1 and 0 < query.shape[-1] <= WIDTH and query.shape[-1] % 8 == 0
    layout = heads_of(query, key, value) if half and fits and query.shape[-2] and key.shape[-2] else None
    if layout is None or not known_mask(mask, query.shape[-2], key.shape[-2], layout.batch):
        return False
    parts = mask_parts(mask)
    shapes = (layout, query.shape[-2], key.shape[-2], query.shape[-1], str(query.dtype))
    return _compiles(*shapes, any(isinstance(part, Lengths) for part in parts), how_of(1.0, mask))


def how_of(scale: float, mask: Any) -> How:
    """What the kernel is told beside its arrays."""
    parts = mask_parts(mask)
    before = min((part.left for part in parts if isinstance(part, Window)), default=None)
    return How(scale, before is not None or any(isinstance(part, Causal) for part in parts), before)


@cache
def _compiles(layout: Heads, queries: int, keys: int, width: int, dtype: str, padded: bool, how: How) -> bool:
    """Whether the kernel and its gradient compile at these shapes, tried once. A refusal is told in a warning."""
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
    """Read-out of cuDNN. Rows that may read nothing, of which it makes no numbers, are zero."""
    layout = cast(Heads, heads_of(query, key, value))
    shape = (*jnp.broadcast_shapes(query.shape[:-2], key.shape[:-2]), query.shape[-2], value.shape[-1])
    counts = (layout.heads, layout.stored, layout.stored)
    query = jnp.broadcast_to(query, (*shape[:-2], *query.shape[-2:]))
    rows = [
        jnp.swapaxes(x.reshape((layout.batch, count, *x.shape[-2:])), 1, 2)
        for x, count in zip((query, key, value), counts, strict=True)
    ]
    padded = next((part for part in mask_parts(mask) if isinstance(part, Lengths)), None)
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
