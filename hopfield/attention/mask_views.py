"""Views of masks (boolean arrays, additive biases and text), and masks of random blocks."""

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct
from jax.typing import DTypeLike
from jaxtyping import Array, Bool, Float, Int

from hopfield._arguments import boolean_array, integer, random_key
from hopfield._arrays import with_rank
from hopfield.attention.masks import Mask

MaskLike = Mask | Bool[Array, "*b T S"] | None
SAID = ", True where a key may be read"
"""Meaning of True in a mask, for the sentences of errors."""


def allowed(mask: MaskLike, queries: int, keys: int, rank: int = 2) -> Array | None:
    """Mask as a boolean array [*b, T or 1, S or 1] for scores of `rank` axes. None stays None.

    Raises:
        ValueError: an array that is not boolean, or has neither two axes nor all of the scores.
    """
    if mask is None:
        return None
    if isinstance(mask, Mask):
        return with_rank(mask.dense(queries, keys), rank)
    readable = boolean_array("mask", mask, said=SAID)
    if readable.ndim < 2 or readable.shape[-2] not in (1, queries) or readable.shape[-1] not in (1, keys):
        raise ValueError(f"mask must be [..., {queries} or 1, {keys} or 1], got shape {readable.shape}")
    if 2 < readable.ndim < rank:
        raise ValueError(f"mask must have all {rank} axes of the scores or the last two, got shape {readable.shape}")
    return readable


def sequences(mask: Mask, leading: int, sizes: tuple[int, ...] = ()) -> Mask:
    """A mask, unchanged. ValueError if the mask has more than `leading` axes of sequences, beside heads.

    Each axis of the mask must have the size in `sizes`, if one is given, or 1.
    """
    shape = jax.eval_shape(_smallest, mask).shape[:-2]
    if len(shape) > leading and (len(shape) > leading + 1 or shape[-1] != 1):
        raise ValueError(
            f"mask must be one of sequences, with at most {leading} leading axes, got {list(shape)}: "
            "what differs between heads is a boolean array"
        )
    if any(1 not in (n, m) and n != m for n, m in zip(shape, sizes, strict=False)):
        raise ValueError(f"mask must be one of the sequences {list(sizes)}, got {list(shape)}")
    return mask


def _smallest(mask: Mask) -> Array:
    place = jnp.zeros((1, 1), int)
    return mask.allows(place, place)


def mask_bias(mask: MaskLike, queries: int, keys: int, dtype: DTypeLike = jnp.float32) -> Float[Array, "*b T S"]:
    """Mask as a `bias` [*b, queries, keys]: 0 where a key may be read and −∞ elsewhere. None gives zeros."""
    readable = allowed(mask, integer("queries", queries), integer("keys", keys))
    zeros = jnp.zeros((queries, keys), dtype)
    return (
        zeros
        if readable is None
        else jnp.broadcast_to(jnp.where(readable, 0, -jnp.inf).astype(dtype), _shape(readable, zeros))
    )


def mask_text(mask: MaskLike, queries: int, keys: int) -> str:
    """Mask of the first sequence as text, one line per query: ■ where a key may be read and · elsewhere."""
    readable = allowed(mask, integer("queries", queries), integer("keys", keys))
    cells = np.ones((queries, keys), bool) if readable is None else np.asarray(readable)
    cells = np.broadcast_to(cells.reshape(-1, *cells.shape[-2:])[0], (queries, keys))
    return "\n".join("".join("■" if cell else "·" for cell in row) for row in cells)


class RandomBlocks(Mask):
    """Mask of random blocks of `size` keys, drawn for every block of `size` queries, beside the query's own block."""

    chosen: Int[Array, "blocks R"]
    """Numbers of the blocks of keys that each block of queries reads."""
    size: int = struct.field(pytree_node=False)
    length: int = struct.field(pytree_node=False)

    def refusal(self, keys: int) -> str | None:
        if keys > self.length:
            return f"random blocks were drawn for a length of at most {self.length}, got {keys} keys"
        return None

    def allows(self, rows: Int[Array, "T 1"], columns: Int[Array, "1 S"]) -> Bool[Array, "*b T S"]:
        inside = (rows < self.length) & (columns < self.length)
        rows, columns = rows // self.size, columns // self.size
        drawn = jnp.take(self.chosen, rows[:, 0], axis=0, mode="clip")
        return inside & ((rows == columns) | (drawn[:, None, :] == columns[..., None]).any(axis=-1))


def random_blocks(key: Array, length: int, size: int, count: int) -> RandomBlocks:
    """Random block-sparse mask (BigBird; Zaheer et al. 2020): T · (count + 1) · size scores instead of T².

    Combine it with `global_local` for the published pattern, with `causal` for what may be decoded.

    Args:
        key: random key.
        length: positions, at most; those beyond it read nothing and are not read, and attention refuses more keys.
        size: positions of a block.
        count: distinct blocks of keys that each block of queries reads, besides its own.
    Raises:
        ValueError: more blocks than there are.
    """
    blocks = -(-integer("length", length) // integer("size", size))
    if integer("count", count, 0) > blocks - 1:
        raise ValueError(f"count must be at most the {blocks - 1} other blocks, got {count}")
    rows = jax.random.split(random_key("key", key), blocks)
    others = jax.vmap(lambda k: jax.random.permutation(k, blocks - 1)[:count])(rows)
    chosen = others + (others >= jnp.arange(blocks)[:, None])
    return RandomBlocks(chosen, size, length)


def _shape(readable: Array, zeros: Array) -> tuple[int, ...]:
    return (*readable.shape[:-2], *zeros.shape)
