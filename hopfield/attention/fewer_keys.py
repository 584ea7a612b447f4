"""Attention to fewer keys: keys in a window of the query, learned mixtures of all keys, or the best mixtures."""

import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Bool, Float

from hopfield._arguments import integer, real_array
from hopfield._arrays import product, same_rank, unread_as_zero
from hopfield._numerics import wide
from hopfield.attention import core
from hopfield.attention._arguments import Keys, Rows, inputs, inverse_temperature, over_temperature, valid_keys
from hopfield.attention.mask_views import MaskLike
from hopfield.attention.masks import Window, sliding_window
from hopfield.metrics import Metric, as_metric
from hopfield.separations import Separation


def attend_locally(
    query: Rows,
    key: Keys,
    value: Float[Array, "*b S V"],
    *,
    left: int,
    right: int = 0,
    metric: Metric | ArrayLike | None = None,
    beta: ArrayLike | None = None,
    separation: Separation | str = core.SOFTMAX,
    valid: Bool[Array, "*b S"] | None = None,
    temperature: ArrayLike | None = None,
) -> Float[Array, "*b T V"]:
    """`attend` with the mask `sliding_window(left, right)`, exactly, in time and memory of T (left + right).

    Each block of queries meets only the keys within its reach. Further arguments: as in `attend`.

    Args:
        left, right: places before and after its own, ≥ 0, that a query reads.
        separation: an object or a name, "sparsemax", as in `attend`.
        valid: True where a key may be read at all; every key if None.
    Raises:
        ValueError: negative bounds or shapes that do not fit.
    """
    window = sliding_window(left, right)
    form = as_metric(metric)
    query, key, value = inputs(query, key, value, form)
    rate = inverse_temperature(beta, query)
    valid = None if valid is None else valid_keys(valid, query, key, value)
    if form is not None:
        query, key = form.left(query), form.right(key)
    rate = over_temperature(rate, temperature, query, key, value)
    if key.shape[-2] == 0:  # one that is out of reach, as nothing can be taken from none
        key, value = (jnp.pad(x, [(0, 0)] * (x.ndim - 2) + [(0, 1), (0, 0)]) for x in (key, value))
        valid = jnp.zeros(1, bool)
    queries, keys, size = query.shape[-2], key.shape[-2], max(left + right + 1, 16)
    count = -(-queries // size)
    at, mask = _reach(window, valid, count, size, keys)
    query = jnp.pad(query, [(0, 0)] * (query.ndim - 2) + [(0, count * size - queries), (0, 0)])
    query = query.reshape((*query.shape[:-2], count, size, query.shape[-1]))
    key, value = jnp.take(key, at, axis=-2), jnp.take(value, at, axis=-2)
    rank = max(query.ndim, key.ndim, value.ndim)
    mask = mask.reshape((1,) * (rank - mask.ndim) + mask.shape)
    output = core.attend(query, key, value, beta=rate[..., None], separation=separation, mask=mask)
    return output.reshape((*output.shape[:-3], count * size, output.shape[-1]))[..., :queries, :]


def _reach(window: Window, valid: Array | None, count: int, size: int, keys: int) -> tuple[Array, Array]:
    """Indices of the keys in reach of each of `count` blocks of `size` queries, and the mask over these keys."""
    start = size * jnp.arange(count)
    ends = (0, size), (-window.left, size + window.right)
    rows, columns = (start[:, None] + jnp.arange(*end)[None, :] for end in ends)
    inside = (columns >= 0) & (columns < keys)
    mask = window.allows(rows[:, :, None], columns[:, None, :]) & inside[:, None, :]
    at = jnp.clip(columns, 0, max(keys - 1, 0))
    if valid is None:
        return at, mask
    mask, used = same_rank(mask, jnp.take(valid, at, axis=-1)[..., None, :])
    return at, mask & used


def attend_low_rank(
    query: Rows,
    key: Keys,
    value: Float[Array, "*b S V"],
    w_key: Float[Array, "*h R S"],
    w_value: Float[Array, "*h R S"] | None = None,
    *,
    metric: Metric | ArrayLike | None = None,
    beta: ArrayLike | None = None,
    separation: Separation | str = core.SOFTMAX,
    temperature: ArrayLike | None = None,
) -> Float[Array, "*b T V"]:
    """Attention over R learned mixtures of the S keys, attend(q, E k, F v); F = E if not given.

    Further arguments: as in `attend`.

    Args:
        w_key, w_value: E and F, R mixtures each.
        separation: an object or a name, "sparsemax", as in `attend`.
    Raises:
        ValueError: projections that are not as long as the keys.
    Source: Wang et al. 2020, eq. 7 (arXiv:2006.04768).
    """
    query, key, value = real_array("query", query), real_array("key", key), real_array("value", value)
    w_key = real_array("w_key", w_key)
    w_value = w_key if w_value is None else real_array("w_value", w_value)
    for name, w in (("w_key", w_key), ("w_value", w_value)):
        if w.ndim < 2 or w.shape[-1] != key.shape[-2] or w.shape[-2] != w_key.shape[-2]:
            raise ValueError(f"{name} must be [..., {w_key.shape[-2]}, {key.shape[-2]}], got shape {w.shape}")
    mixed = product(w_key, key), product(w_value, value)
    return core.attend(query, *mixed, metric=metric, beta=beta, separation=separation, temperature=temperature)


def attend_truncated(
    query: Rows,
    key: Keys,
    value: Float[Array, "*b S V"],
    *,
    rank: int,
    metric: Metric | ArrayLike | None = None,
    beta: ArrayLike | None = None,
    separation: Separation | str = core.SOFTMAX,
    bias: Float[Array, "*b T S"] | None = None,
    mask: MaskLike = None,
    temperature: ArrayLike | None = None,
) -> Float[Array, "*b T V"]:
    """Read-out A_R v, A_R being the weights A in their best approximation of rank R, by singular values.

    It costs more than `attend`, and tells how well R mixtures of the keys, as in `attend_low_rank`, can do at best.
    Further arguments: as in `attend`. Its derivative is finite where the first R + 1 singular values differ.

    Args:
        rank: R, singular values that are kept, from 1 to the smaller number of queries and keys.
    Raises:
        ValueError: another rank, or as in `attend`.
    Source: Eckart & Young 1936.
    """
    form = as_metric(metric)
    query, key, value = inputs(query, key, value, form)
    most = min(query.shape[-2], key.shape[-2])
    if integer("rank", rank) > most:
        raise ValueError(f"rank must be at most {most}, the smaller number of queries and keys, got {rank}")
    mask = core.dense_mask(mask, (query, key, value), form, (beta, temperature), bias)
    key, value = unread_as_zero(mask, key, value)
    scores = core.tempered(core.scores(query, key, metric=form, beta=beta, bias=bias), temperature)
    left, sizes, right = jnp.linalg.svd(wide(core.masked_weights(scores, separation, mask)), full_matrices=False)
    mixed = product(right[..., :rank, :].astype(value.dtype), value)
    return product((left * sizes[..., None, :])[..., :rank].astype(value.dtype), mixed)
