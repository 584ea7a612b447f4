"""Readers of attention, by separation, shapes, mask and device: a kernel of a GPU, or blocks."""

import math
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from hopfield import _triton
from hopfield._numerics import is_traced
from hopfield.attention.masks import Both, Causal, Everything, Lengths, Mask, Window
from hopfield.separations import Separation
from hopfield.separations.relu import LogReLU
from hopfield.separations.sparse import Entmax, Normmax, Sparsemax

FUSED_WIDTH = 256
"""Largest width of heads of Hopper's kernels. Ampere's kernels end at 128, which the trial finds out."""
CUT_WIDTHS = {jnp.dtype(jnp.float32): 64, jnp.dtype(jnp.bfloat16): 128}
"""Largest width of keys and values of Triton's kernels: beyond it a program's sums leave its registers."""
EXPONENT = 20.0
"""Largest exponent of Triton's kernels: beyond it, in α-entmax close to softmax, rounding a s − τ moves the weights."""


class Device(NamedTuple):
    """Device of a program: "cpu" or "gpu", and whether Triton compiles for it."""

    kind: str
    triton: bool = False


def here() -> Device:
    """Device that programs run on by default."""
    return Device(jax.default_backend(), _triton.installed())


class Shapes(NamedTuple):
    """Queries [*b, T, D], keys [*b, S, D] and values [*b, S, V], as arrays or as their shapes and types."""

    query: Any
    key: Any
    value: Any


def route(separation: Separation, shapes: Shapes, mask: Any, device: Device, *, folded: bool = False) -> str:
    """Name of what reads the rows: "cuDNN", "Triton" or "blocks".

    Args:
        mask: a `Mask`, a boolean array or None.
        folded: β is traced or an array, no number, and multiplies the queries, which could overflow in float16.
    """
    if device.kind == "gpu":
        if separation.is_softmax and _fused(shapes, mask, folded):
            return "cuDNN"
        if device.triton and _cut(separation, shapes, mask):
            return "Triton"
    return "blocks"


def _fused(shapes: Shapes, mask: Any, folded: bool) -> bool:
    """True if cuDNN's attention in 16 bits reads the same, by its shapes and types."""
    query, key, _ = shapes
    kinds, widths = {x.dtype for x in shapes}, {x.shape[-1] for x in shapes}
    half = len(kinds) == 1 and query.dtype in ((jnp.bfloat16,) if folded else (jnp.bfloat16, jnp.float16))
    fits = len(widths) == 1 and 0 < query.shape[-1] <= FUSED_WIDTH and query.shape[-1] % 8 == 0
    layout = heads_of(*shapes) if half and fits and query.shape[-2] and key.shape[-2] else None
    return layout is not None and _fused_mask(mask, query.shape[-2], key.shape[-2], layout.batch)


def _fused_mask(mask: Any, queries: int, keys: int, batch: int) -> bool:
    """True for causality, a window behind the query or lengths, by which no query is left without a key.

    Never for an array: cuDNN reads a mask or bias of ones and zeros wrongly at some shapes, and without a gradient.
    """
    parts, lengths = mask_parts(mask), lengths_of(mask)
    windows = [part for part in parts if isinstance(part, Window)]
    behind = any(isinstance(part, Causal) for part in parts)
    reach = all((part.right == 0 or behind) and queries <= keys + part.left for part in windows)
    return _known(parts, batch) and reach and len(lengths) <= 1 - bool(windows)


def _cut(separation: Separation, shapes: Shapes, mask: Any) -> bool:
    """True if the kernels of `triton_programs.cut` read the same."""
    query, key, value = shapes
    kinds, widths = {x.dtype for x in shapes}, (query.shape[-1], value.shape[-1])
    power = power_of(separation)
    if power is None or power.exponent > EXPONENT or (power.search or 1.0) < 1.0:  # below 1 the sum is not convex
        return False
    fits = len(kinds) == 1 and 0 < min(widths) <= max(widths) <= CUT_WIDTHS.get(query.dtype, 0)
    layout = heads_of(*shapes) if query.ndim > 1 and fits and query.shape[-2] and key.shape[-2] else None
    lengths = lengths_of(mask)
    masked = len(lengths) <= 1 and not any(part.queries for part in lengths)
    return layout is not None and masked and _known(mask_parts(mask), layout.batch)


class Power(NamedTuple):
    """p = c [a s − τ]₊^e; c = 1 / Σ [a s − τ]₊^total, and τ with Σ [a s − τ]₊^search = 1, or τ itself."""

    rate: float
    exponent: float
    total: float
    search: float | None
    tau: float = 0.0


def power_of(separation: Any) -> Power | None:
    """A separation as a power; None for no power, a traced α, or a class that inherits from these."""
    kind = type(separation)
    if kind is LogReLU:
        return Power(1.0, 0.0, 1.0, None, -1.0)
    if kind not in (Sparsemax, Entmax, Normmax) or is_traced(separation.alpha):
        return None
    gap = float(separation.alpha) - 1.0
    exponent = 1.0 / gap
    return Power(1.0, exponent, exponent, exponent + 1.0) if kind is Normmax else Power(gap, *[exponent] * 3)


class Heads(NamedTuple):
    """Numbers that leading axes are laid out as: sequences, heads, and heads of keys and values."""

    batch: int
    heads: int
    stored: int


def heads_of(query: Any, key: Any, value: Any) -> Heads | None:
    """Layout of the leading axes for a kernel; None where a key would have to be copied."""
    if key.shape[:-2] != value.shape[:-2]:
        return None
    rank = max(query.ndim, key.ndim) - 2
    stored = (1,) * (rank + 2 - key.ndim) + key.shape[:-2]
    leading: tuple[int, ...] = tuple(jnp.broadcast_shapes(query.shape[:-2], stored))  # type: ignore[assignment]
    own = next(m for m in range(rank, -1, -1) if m == 0 or stored[m - 1] != 1 or leading[m - 1] == 1)
    if stored[:own] != leading[:own] or math.prod(leading) == 0:
        return None
    batch = leading[0] if own else 1
    return Heads(batch, math.prod(leading) // batch, math.prod(leading[:own]) // batch)


def mask_parts(mask: Any) -> list:
    """Masks whose intersection this mask is; none for None."""
    if mask is None:
        return []
    return [*mask_parts(mask.first), *mask_parts(mask.second)] if isinstance(mask, Both) else [mask]


def lengths_of(mask: Mask | Any) -> list[Lengths]:
    """Lengths of sequences in a mask."""
    return [part for part in mask_parts(mask) if isinstance(part, Lengths)]


def _known(parts: list, batch: int) -> bool:
    """True if all masks are of kinds that the kernels have, with at most a length for each sequence."""
    kinds = all(isinstance(part, Causal | Window | Lengths | Everything) for part in parts)
    return kinds and all(part.length.shape in ((), (batch,)) for part in parts if isinstance(part, Lengths))
