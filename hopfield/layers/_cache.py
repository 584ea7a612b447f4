"""Cache of keys and values that a layer decodes with: all the places it was made for, or a window of the last ones.

A token's key lies at the place where the token stands. Sequences go on together, or each from a place of its own.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx
from jaxtyping import Array, Bool, Float, Int

from hopfield._numerics import violated


class Cached(NamedTuple):
    """Keys and values that tokens read, their own among them."""

    key: Float[Array, "*b S K D"]
    value: Float[Array, "*b S K D"]
    start: Int[Array, "..."] | int
    """Place of the first of them, or of each [S] or [*b, S]; below zero while a window is not full yet."""
    full: Bool[Array, "*b T"] | None
    """Traced tokens that there was no place left for. None where there always is."""


def next_places(layer: nnx.MultiHeadAttention, tokens: int) -> Int[Array, "*b T"]:
    """Places of the next tokens, common to all sequences or of each. Raises ValueError without a cache."""
    return jnp.add.outer(_state(layer)[0][...], jnp.arange(tokens))


def append_tokens(
    layer: nnx.MultiHeadAttention, rows: tuple[Array, Array], window: tuple[int, int] | None, places: Array, given: bool
) -> Cached:
    """Cache with keys and values of tokens added at their places [*b, T], at those below zero nowhere.

    A window, with the number of first tokens that stay beside it, drops its oldest tokens. Places that are not `given`
    are the next places; places of a window must be.

    Raises:
        ValueError: no cache, tokens of other sequences than it was made for, a cache that does not fit a window or,
            unless they are traced, tokens beyond it or out of turn.
    """
    index, *caches = _state(layer)
    tokens, (*leading, length, heads, width) = rows[0].shape[-3], caches[0].shape
    expected = (*leading, tokens, heads, width)
    if rows[0].shape != expected:
        raise ValueError(f"inputs must be tokens of the cache's sequences, keys {expected}, got {rows[0].shape}")
    if window is not None:
        if length != sum(window):
            raise ValueError(f"cache must be made by init_cache of this layer, {sum(window)} places, got {length}")
        if given or index.ndim:
            return _append_by_place(index, caches, rows, window, jnp.broadcast_to(places, expected[:-2]))
        return _append_to_window(index, caches, rows, *window)
    first = index[...]
    if not given and first.ndim == 0 and tokens <= length:
        full = jnp.broadcast_to(first + tokens > length, expected[:-2])  # all, as a slice that does not fit is moved
        put = lambda cache, new: jax.lax.dynamic_update_slice_in_dim(cache, new, first, new.ndim - 3)
        following = first + tokens
    else:
        following = jnp.maximum(first, jnp.max(places, axis=-1) + 1).astype(first.dtype)
        places = jnp.broadcast_to(places, expected[:-2])
        full = places >= length
        put = lambda cache, new: _put(cache, new, jnp.where(places < 0, length, places))
    if violated(np.logical_not, full):
        raise ValueError(
            f"inputs must fit the {length} places of the cache (init_cache makes it longer), got tokens beyond them"
        )
    index.set_value(following)
    for cache, new in zip(caches, rows, strict=True):
        cache[...] = put(cache[...], new.astype(cache.dtype))
    return Cached(caches[0][...], caches[1][...], 0, full)


def _put(cache: Float[Array, "*b S K D"], new: Float[Array, "*b T K D"], places: Int[Array, "*b T"]) -> Array:
    """The cache with new rows at these places, those beyond its length dropped."""
    flat = cache.reshape((-1, *cache.shape[-3:]))
    places = places.reshape((-1, places.shape[-1]))
    sequences = jnp.arange(len(flat))[:, None]
    return (
        flat.at[sequences, places].set(new.reshape((*places.shape, *new.shape[-2:])), mode="drop").reshape(cache.shape)
    )


def _append_to_window(
    index: nnx.Cache, caches: list[nnx.Cache], rows: tuple[Array, Array], window: int, first: int
) -> Cached:
    """Keys and values that tokens read: the first tokens, the window before the new tokens, and the new tokens."""
    axis, place = rows[0].ndim - 3, index[...]
    places, read = jnp.broadcast_to(place + jnp.arange(rows[0].shape[axis]), rows[0].shape[:-2]), []
    for cache, new in zip(caches, rows, strict=True):
        kept, last = jnp.split(cache[...], [first], axis=axis)
        new = new.astype(cache.dtype)
        kept = _put(kept, new, places) if first else kept
        last = jnp.concatenate([jax.lax.slice_in_dim(last, 1, window, axis=axis), new], axis=axis)
        read.append(jnp.concatenate([kept, last], axis=axis))
        last = jax.lax.slice_in_dim(last, last.shape[axis] - window, None, axis=axis)
        cache[...] = jnp.concatenate([kept, last], axis=axis)
    index[...], start = place + rows[0].shape[axis], place + 1 - window
    if first:  # which the window holds, too, until it has gone on
        later = start + jnp.arange(read[0].shape[axis] - first)
        start = jnp.concatenate([jnp.arange(first), jnp.where(later < first, -1, later)])
    return Cached(read[0], read[1], start, None)


def _append_by_place(
    index: nnx.Cache, caches: list[nnx.Cache], rows: tuple[Array, Array], window: tuple[int, int], places: Array
) -> Cached:
    """Keys and values for tokens of sequences that go on each from its own place; the keys' places as in a window."""
    (width, first), leading, tokens = window, places.shape[:-1], places.shape[-1]
    before, valid = jnp.broadcast_to(index[...], leading)[..., None], places >= 0
    following = before + valid.sum(-1, keepdims=True, dtype=before.dtype)
    full = valid & ((places < before) | (places >= following))
    if violated(np.logical_not, full):
        raise ValueError("positions must be the next ones of each sequence where a window is decoded, got others")
    extent = width - 1 + tokens
    start = following - extent
    kept_places = jnp.concatenate([_on(before - width, width), places], axis=-1)
    slots = jnp.where((kept_places < 0) | (kept_places < start), extent, kept_places - start)
    read = []
    for cache, new in zip(caches, rows, strict=True):
        new = new.astype(cache.dtype)
        kept, last = jnp.split(cache[...], [first], axis=-3)
        kept = _put(kept, new, jnp.where(valid, places, first)) if first else kept
        empty = jnp.zeros((*leading, extent, *new.shape[-2:]), cache.dtype)
        last = _put(empty, jnp.concatenate([last, new], axis=-3), slots)
        read.append(jnp.concatenate([kept, last], axis=-3))
        cache[...] = jnp.concatenate([kept, last[..., extent - width :, :, :]], axis=-3)
    index.set_value(following[..., 0])
    later = _on(start, extent)
    firsts = jnp.broadcast_to(jnp.arange(first, dtype=later.dtype), (*leading, first))
    start = jnp.concatenate([firsts, jnp.where(later < first, -1, later)], axis=-1)
    return Cached(read[0], read[1], start, full)


def _on(first: Int[Array, "*b 1"], count: int) -> Int[Array, "*b T"]:
    """Places from the first one on."""
    return jnp.add.outer(first[..., 0], jnp.arange(count, dtype=first.dtype))


def _state(layer: nnx.MultiHeadAttention) -> tuple[nnx.Cache, nnx.Cache, nnx.Cache]:
    """Next place, keys and values. ValueError without a cache."""
    index, key, value = layer.cache_index, layer.cached_key, layer.cached_value
    if index is None or key is None or value is None:
        raise ValueError("decode must follow init_cache, got a layer without a cache")
    return index, key, value
