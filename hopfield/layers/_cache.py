"""Cache of keys and values that a layer decodes with: all the places it was made for, or a window of the last ones."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from flax import nnx
from jaxtyping import Array, Bool, Float, Int


class Cached(NamedTuple):
    """Keys and values that a token reads, its own among them."""

    key: Float[Array, "*b S K D"]
    value: Float[Array, "*b S K D"]
    start: Int[Array, ""] | int
    """Place of the first of them, below zero while a window is not full yet."""
    full: Bool[Array, ""] | bool
    """Whether there was no place left for the token."""


def next_place(layer: nnx.MultiHeadAttention) -> Int[Array, ""]:
    """Place of the token that is decoded. Raises ValueError without a cache."""
    return _state(layer)[0][...]


def append_token(layer: nnx.MultiHeadAttention, key: Array, value: Array, window: int | None) -> Cached:
    """Cache with one token's key and value added. A window drops its oldest token.

    Raises:
        ValueError: no cache, more than one token, or a cache that was not made for this window.
    """
    index, *caches = _state(layer)
    place, (*leading, length, heads, width) = index[...], caches[0].shape
    expected = (*leading, 1, heads, width)
    if key.shape != expected:
        raise ValueError(f"inputs must be one token at a time in decoding, keys {expected}, got {key.shape}")
    if window is not None and length != window:
        raise ValueError(f"cache must be made by init_cache of this layer, {window} places, got {length}")
    for cache, new in zip(caches, (key, value), strict=True):
        entry = new.astype(cache.dtype)
        if window is None:
            cache[...] = jax.lax.dynamic_update_slice_in_dim(cache[...], entry, place, new.ndim - 3)
        else:
            cache[...] = jnp.concatenate(
                [jax.lax.slice_in_dim(cache[...], 1, window, axis=new.ndim - 3), entry], axis=-3
            )
    index[...] = place + 1
    start, full = (0, place >= length) if window is None else (place + 1 - window, False)
    return Cached(caches[0][...], caches[1][...], start, full)


def _state(layer: nnx.MultiHeadAttention) -> tuple[nnx.Cache, nnx.Cache, nnx.Cache]:
    """Next place, keys and values. ValueError without a cache."""
    index, key, value = layer.cache_index, layer.cached_key, layer.cached_value
    if index is None or key is None or value is None:
        raise ValueError("decode must follow init_cache, got a layer without a cache")
    return index, key, value
