"""Masks of sequences that lie side by side in one, or that go on where their keys began earlier."""

import jax.numpy as jnp
from flax import struct
from jax.typing import ArrayLike
from jaxtyping import Array, Bool, Int

from hopfield._arguments import integer, integer_array
from hopfield.attention.masks import Mask, Place


class CausalLast(Mask):
    """Keys j ≤ i + ahead."""

    ahead: int = struct.field(pytree_node=False)
    band = property(lambda self: (None, self.ahead))

    def allows(self, rows: Int[Array, "T 1"], columns: Int[Array, "1 S"]) -> Bool[Array, "*b T S"]:
        return columns <= rows + self.ahead


class Segments(Mask):
    """Keys in the query's own segment, by their ids [*b, S]."""

    ids: Int[Array, "*b S"]

    def refusal(self, keys: int) -> str | None:
        marked = self.ids.shape[-1]
        return None if marked == keys else f"ids must have one entry per key, {keys}, got {marked} (axis -1)"

    def reach(self, row: Place, length: int) -> tuple[Place, Place]:
        """Keys whose ids lie between the least and the largest of the queries', of any sequence."""
        own = self._of(row + jnp.arange(length))
        near = (self.ids >= own.min(-1, keepdims=True)) & (self.ids <= own.max(-1, keepdims=True))
        near = near.any(axis=tuple(range(near.ndim - 1)))
        return jnp.argmax(near), len(near) - 1 - jnp.argmax(near[::-1])

    def allows(self, rows: Int[Array, "T 1"], columns: Int[Array, "1 S"]) -> Bool[Array, "*b T S"]:
        inside = (rows < self.ids.shape[-1]) & (columns >= 0) & (columns < self.ids.shape[-1])
        same = self._of(rows[:, 0])[..., :, None] == self._of(columns[0])[..., None, :]
        return same & inside.reshape((1,) * (same.ndim - 2) + inside.shape)

    def _of(self, places: Int[Array, "T"]) -> Int[Array, "*b T"]:
        return jnp.take(self.ids, places, axis=-1, mode="clip")


def segments(ids: ArrayLike) -> Segments:
    """Keys of the query's own segment, with the same id as it, whole numbers of at least 0, [S] or [*b, S].

    For documents that are packed into one sequence, commonly with & causal(). Block-wise attention skips blocks of
    other segments if ids rise along the sequence; padding is a segment of its own.
    """
    array = integer_array("ids", ids)
    if array.ndim < 1:
        raise ValueError(f"ids must be [..., S], one entry per key, got shape {array.shape}")
    return Segments(array)


def causal_last(queries: int, keys: int) -> CausalLast:
    """Causal mask of queries that are the last of the keys, so that the last query reads the last key."""
    return CausalLast(integer("keys", keys, 0) - integer("queries", queries, 0))
