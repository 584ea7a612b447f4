"""Scope of a layer's queries: the keys they may read and the bias of their scores, checked against their shapes."""

import jax
import jax.numpy as jnp
from flax import struct
from jaxtyping import Array, Bool, Float, Int

from hopfield._arguments import boolean_array, flag, real_array
from hopfield._arrays import common_axes, with_rank
from hopfield._numerics import is_traced
from hopfield._pytrees import Node
from hopfield.attention.mask_views import SAID, sequences
from hopfield.attention.masks import Causal, Global, Mask, Window

Heads = Float[Array, "*b T H D"]
Scores = Float[Array, "*b H T S"]
MaskLike = Bool[Array, "*b H T S"] | Mask | None
FLAX = f"{SAID} (of Flax's with dtype=bool, or is_causal=True)"


class Scope(Node):
    """Mask, bias and causality of queries and keys. Queries begin at position `offset`, keys at `start`.

    In decoding queries may have `positions` of their own, which are the places of their keys in the cache.
    """

    mask: Mask | Bool[Array, "*b T S"] | None = None
    bias: Float[Array, "*b T S"] | None = None
    offset: Int[Array, ""] | int = 0
    positions: Int[Array, "*b T"] | None = None
    start: Int[Array, "..."] | int = 0
    """Position of the first key, or of every key [S] or [*b, S]; negative for cache slots before the first token."""
    causal: bool = struct.field(pytree_node=False, default=False)
    window: int | None = struct.field(pytree_node=False, default=None)
    """Number of keys that a query reads, the last at its own place; None for all."""
    first: int = struct.field(pytree_node=False, default=0)
    """First keys that it reads beside them."""
    others: bool = struct.field(pytree_node=False, default=False)
    """No query reads the key of its own place."""
    turned: bool = struct.field(pytree_node=False, default=False)
    """Queries and keys are turned by their positions already, as the keys that a cache keeps."""
    restarts: Int[Array, "*b T"] | None = None
    """Positions of queries and keys alike that encodings see where they are not the places."""
    count: int | None = struct.field(pytree_node=False, default=None)
    """Rows from this one on are appended to fill a block and read nothing."""

    def places(self, rows: Int[Array, "T"]) -> Int[Array, "*b T"]:
        """Places of the queries in `rows`: of all sequences [T], or of each."""
        if self.positions is not None:
            return jnp.take(self.positions, rows, axis=-1, mode="clip")
        return self.offset + rows

    def keys(self, count: int) -> Int[Array, "*b S"]:
        """Places of the first `count` keys: of all sequences [S], or of each."""
        return self.start if jnp.ndim(self.start) else self.start + jnp.arange(count)  # type: ignore[return-value]

    def allowed(self, rows: Int[Array, "T"], keys: int, rank: int) -> Bool[Array, "*b H T S"] | None:
        """True where a query in `rows` may read one of the first `keys` keys. None if all may be read.

        A mask that is an array holds these rows alone.
        """
        mask, places, columns = self.mask, self.places(rows)[..., None], self.keys(keys)[..., None, :]
        if isinstance(mask, Mask):
            mask = with_rank(_at_places(mask, places, columns), rank)
        columns = with_rank(columns, places.ndim)
        rules = [columns <= places] * self.causal + [columns != places] * self.others
        if self.window is not None:
            rules += [(columns >= 0) & ((columns > places - self.window) | (columns < self.first))]
        rules += [] if self.count is None else [rows[:, None] < self.count]
        for rule in rules:
            mask = rule if mask is None else with_rank(mask, rank) & with_rank(rule, rank)
        return mask if mask is None or mask.ndim == 2 else with_rank(mask, rank)

    @property
    def attention_mask(self) -> MaskLike:
        """Mask for a function of attention, where there is no bias and queries and keys begin at place 0."""
        if not self.causal:
            return self.mask
        past = Causal() if self.window is None else Window(self.window - 1, 0)
        past = (past | Global(self.first)) & Causal() if self.first else past
        return self.mask & past if isinstance(self.mask, Mask) else past

    def windowed(self, window: tuple[int, int], queries: int, keys: int) -> "Scope":
        """The scope of queries that read the last and the first keys. ValueError where queries are not the keys."""
        if isinstance(self.start, int) and queries != keys:
            raise ValueError(
                f"window must be left out where queries are not the keys, got {queries} queries and {keys} keys"
            )
        return self.replace(window=window[0], first=window[1], causal=True)


def _at_places(mask: Mask, places: Int[Array, "*b T 1"], columns: Int[Array, "*b 1 S"]) -> Bool[Array, "*b T S"]:
    """Keys that a mask, of the same sequences or of all, allows queries whose places differ between sequences."""
    leading, row = places.ndim - 2, jnp.zeros((1, 1), int)
    axes = (0 if jax.eval_shape(mask.allows, row, row).ndim > 2 else None, 0, 0 if columns.ndim > 2 else None)
    allows = lambda mask, places, columns: mask.allows(places, columns)
    for _ in range(leading):
        allows = jax.vmap(allows, in_axes=axes)
    return allows(mask, places, columns)


def scope_of(
    mask: MaskLike,
    bias: Scores | None,
    query: tuple[int, ...],
    keys: int,
    *,
    is_causal: bool = False,
    offset: Int[Array, ""] | int = 0,
) -> Scope:
    """Mask and bias of queries of shape [*b, T, H, D], at the positions offset, offset + 1, …, with keys.

    Raises:
        ValueError: a mask that is not one of sequences or of the scores, a bias that does not broadcast to them.
    """
    scores = (*query[:-3], query[-2], query[-3], keys)
    if isinstance(mask, Mask):
        mask = sequences(mask, len(scores) - 3, scores[:-3]).fitting(keys)
    elif mask is not None:
        mask = boolean_array("mask", mask, said=FLAX)
        if mask.ndim < len(scores):
            axes = f"{len(scores)} axes {_named(scores)}"
            raise ValueError(f"mask must have all {axes}, of length 1 where it holds for all, got shape {mask.shape}")
        mask = _of_scores("mask", mask, scores)
    if bias is not None:
        bias = _of_scores("bias", real_array("bias", bias), scores)
        bias = bias.reshape((1,) * (len(scores) - bias.ndim) + bias.shape)
    return Scope(mask, bias, offset, causal=flag("is_causal", is_causal))


def _of_scores(name: str, x: Array, scores: tuple[int, ...]) -> Array:
    """A mask or bias, unchanged. ValueError, naming the axes of the call, unless it broadcasts with its scores."""
    axes = zip(x.shape[::-1], scores[::-1], strict=False)
    fits = 2 <= x.ndim <= len(scores) and all(
        n == m or n == 1 or (m == 1 and place > 2) for place, (n, m) in enumerate(axes)
    )
    if not fits:
        raise ValueError(f"{name} must broadcast to {_named(scores)}, got shape {x.shape}")
    return x


def _named(scores: tuple[int, ...]) -> str:
    *sequences, heads, queries, keys = scores
    return f"[{', '.join([*map(str, sequences), f'{heads} heads', f'{queries} queries', f'{keys} keys'])}]"


def scope_of_window(
    mask: MaskLike, bias: Scores | None, rank: int, offset: Int[Array, ""] | int, start: Int[Array, "..."] | int
) -> Scope:
    """Mask of a query that is decoded with only the last keys, which begin at position `start`, or stand at each of it.

    Raises:
        ValueError: an array, whose entries would stand for keys that are gone.
    """
    if bias is not None or not (mask is None or isinstance(mask, Mask)):
        raise ValueError(
            "mask must be one of hopfield.attention.masks where a window is decoded, got an array or a bias"
        )
    return Scope(None if mask is None else sequences(mask, rank - 3), None, offset, start=start, causal=True)


def of_flax(mask: MaskLike, bias: Scores | None) -> tuple[MaskLike, Scores | None]:
    """Mask and bias of a mask of numbers, in which Flax hands over 1 where a key may be read and 0 where not.

    Any other number, such as the −∞ of masks that are added, is refused; traced, it makes the scores NaN.
    """
    if mask is None or isinstance(mask, Mask) or jnp.asarray(mask).dtype == bool:
        return mask, bias
    numbers = jnp.asarray(mask)
    known = jnp.all((numbers == 0) | (numbers == 1))
    if not is_traced(known) and not bool(known):
        raise ValueError("mask must be boolean, or 0 and 1 as Flax makes it, got other numbers")
    spoilt = jnp.where(known, 0.0, jnp.nan)
    return (numbers == 1) | ~known, jnp.reshape(spoilt, (1,) * numbers.ndim) if bias is None else bias + spoilt


def check_heads(query: Heads, key: Array, heads: int) -> None:
    """Check that queries and keys fit each other and `heads`. ValueError, naming the axis, otherwise."""
    if query.shape[-1] != key.shape[-1]:
        raise ValueError(f"key must have the query's width {query.shape[-1]} per head, got {key.shape[-1]} (axis -1)")
    if query.shape[-2] != heads or heads % key.shape[-2]:
        raise ValueError(
            f"query must have {heads} heads and key a number that divides it, "
            f"got {query.shape[-2]} and {key.shape[-2]} (axis -2)"
        )
    common_axes("query and key", query.shape[:-3], key.shape[:-3])


def check_tokens(name: str, tokens: Array, width: int) -> None:
    """Check that inputs are tokens [*b, T, width]. ValueError, naming them, for any others."""
    if tokens.ndim < 2:
        raise ValueError(f"{name} must be tokens [..., T, {width}], got shape {tokens.shape}")
    if tokens.shape[-1] != width:
        raise ValueError(f"{name} must have {width} features, got {tokens.shape[-1]} (axis -1)")


def by_head(rows: Float[Array, "*b K S D"], heads: int, slots: Array | None = None) -> Float[Array, "*b H S D"]:
    """Rows by head, with the slots' own appended, repeated for the query heads that share them."""
    if slots is not None:
        slots = jnp.broadcast_to(slots.astype(rows.dtype), (*rows.shape[:-2], *slots.shape[-2:]))
        rows = jnp.concatenate([rows, slots], axis=-2)
    share = heads // rows.shape[-3]
    return rows if share == 1 else jnp.repeat(rows, share, axis=-3)
