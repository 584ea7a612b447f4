"""Scope of a layer's queries: the keys they may read and the bias of their scores, checked against their shapes."""

import jax.numpy as jnp
from flax import struct
from jaxtyping import Array, Bool, Float, Int

from hopfield._checks import flag
from hopfield._numerics import is_traced, real_array
from hopfield._pytrees import Node
from hopfield.attention._arguments import allowed_by_head, sequences
from hopfield.attention.masks import Mask
from hopfield.metrics._arrays import spread

Heads = Float[Array, "*b T H D"]
Scores = Float[Array, "*b H T S"]
MaskLike = Bool[Array, "*b H T S"] | Mask | None


class Scope(Node):
    """Mask, bias and causality of queries, the first of which stands at `offset`."""

    mask: Mask | Bool[Array, "*b T S"] | None = None
    bias: Float[Array, "*b T S"] | None = None
    offset: Int[Array, ""] | int = 0
    causal: bool = struct.field(pytree_node=False, default=False)
    others: bool = struct.field(pytree_node=False, default=False)
    """No query reads the key of its own place."""
    count: int | None = struct.field(pytree_node=False, default=None)
    """Rows from this one on are appended to fill a block and read nothing."""

    def allowed(self, rows: Int[Array, "T"], keys: int, rank: int) -> Bool[Array, "*b H T S"] | None:
        """Keys that the queries of these rows may read, an array of masks being theirs; None for all."""
        mask, places, columns = self.mask, self.offset + rows[:, None], jnp.arange(keys)[None, :]
        if isinstance(mask, Mask):
            mask = spread(mask.allows(places, columns), rank)
        rules = [columns <= places] * self.causal + [columns != places] * self.others
        rules += [] if self.count is None else [rows[:, None] < self.count]
        for own in rules:
            mask = own if mask is None else mask & own.reshape((1,) * (mask.ndim - 2) + own.shape)
        return mask


def scope_of(
    mask: MaskLike,
    bias: Scores | None,
    queries: int,
    keys: int,
    rank: int,
    *,
    is_causal: bool = False,
    offset: Int[Array, ""] | int = 0,
) -> Scope:
    """Mask and bias of scores [*b, H, T, S] with `rank` axes, for queries that stand at offset, offset + 1, …

    Raises:
        ValueError: a mask that is not one of sequences or of the scores, a bias that does not broadcast to them.
    """
    mask = (
        sequences(mask, rank - 3).fitting(keys)
        if isinstance(mask, Mask)
        else allowed_by_head(mask, queries, keys, rank)
    )
    return Scope(
        mask,
        None if bias is None else _full_rank(bias, queries, keys, rank),
        offset,
        causal=flag("is_causal", is_causal),
    )


def _full_rank(bias: Scores, queries: int, keys: int, rank: int) -> Scores:
    """A bias with all axes of the scores. ValueError unless it is real numbers that broadcast to them."""
    found = real_array("bias", bias)
    fits = 2 <= found.ndim <= rank and found.shape[-2] in (1, queries) and found.shape[-1] in (1, keys)
    if not fits:
        raise ValueError(f"bias must be [..., heads, {queries} or 1, {keys} or 1], got shape {found.shape}")
    return found.reshape((1,) * (rank - found.ndim) + found.shape)


def of_flax(mask: MaskLike, bias: Scores | None) -> tuple[MaskLike, Scores | None]:
    """Mask and bias of a mask of numbers, in which Flax hands over 1 where a key may be read and 0 where not.

    Any other number, such as the −∞ of masks that are added, is refused, or makes the scores NaN where it is traced.
    """
    if mask is None or isinstance(mask, Mask) or jnp.asarray(mask).dtype == bool:
        return mask, bias
    numbers = jnp.asarray(mask)
    known = jnp.all((numbers == 0) | (numbers == 1))
    if not is_traced(known) and not bool(known):
        raise ValueError("mask must be boolean, or 0 and 1 as Flax makes it, got other numbers")
    spoilt = jnp.where(known, 0.0, jnp.nan)
    return (numbers == 1) | ~known, jnp.reshape(spoilt, (1,) * numbers.ndim) if bias is None else bias + spoilt
