"""Attention as a bilinear form: scores S = β q g k, weights ∇F(S), read-out A v, for any metric and separation.

All functions take rows with any leading axes, batch or head: query [*b, T, D], key [*b, S, K], value [*b, S, V], which
broadcast against each other as in a matrix product; whole numbers are taken as floats.

Masks are True where a key may be read. A `Mask` is one of sequences, the first axes of the scores, and holds for all
other axes, such as heads. An array is [T, S] for all, or has every axis of the scores, with length 1 for an axis that
shares one mask. Keys and values that no query may read change nothing, whatever they hold. A key or value that is not
finite and that some query reads can make other queries NaN too, as a later token under a causal mask: 0 · NaN is NaN.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from hopfield._arguments import positive_array, real_array, real_rows
from hopfield._arrays import product, same_rank, transposed, unread_as_zero, with_bias
from hopfield._numerics import accumulation_dtype, lets_infinities_pass, map_rows
from hopfield.attention._arguments import Keys, Rows, check_shapes, dense_mask, inputs, inverse_temperature, per_row
from hopfield.attention._softmax import softmax
from hopfield.attention.mask_views import MaskLike, allowed
from hopfield.attention.masks import Mask
from hopfield.metrics import Metric, as_metric
from hopfield.separations import LogSumExp, Separation, as_separation
from hopfield.separations.simplex import shannon_entropy

SOFTMAX = LogSumExp()


class Decomposition(NamedTuple):
    """Intermediates of attention: scores and weights [*b, T, S], output [*b, T, V], potential and entropy [*b, T].

    `potential` is F(scores / temperature), the log-partition function for softmax; `entropy` is Shannon's in nats, of
    the shares |weight| / Σ |weight|, and zero where nothing is read.

    Example:
        >>> from hopfield import attention
        >>> parts = attention.decompose(jnp.zeros((1, 2)), jnp.eye(2), jnp.eye(2))
        >>> print(parts.weights, parts.entropy.round(3))
        [[0.5 0.5]] [0.693]
    """

    scores: Array
    weights: Array
    output: Array
    potential: Array
    entropy: Array


def scores(
    query: Rows,
    key: Keys,
    *,
    metric: Metric | ArrayLike | None = None,
    beta: ArrayLike | None = None,
    bias: Float[Array, "*b T S"] | None = None,
) -> Float[Array, "*b T S"]:
    """Scores S_ij = β q_i g k_j + bias_ij [*b, T, S], in at least float32.

    Args:
        query: [*b, T, N], key: [*b, S, K], with the metric's widths.
        metric: bilinear form g or its matrix [*heads, N, K]; None for the dot product.
        beta: inverse temperature > 0, a number or an array of the leading axes (per head: [H]); 1/√D if None, D the
            width of the queries, with a metric as without.
        bias: real numbers added to the scores, broadcast to [*b, T, S].
    Raises:
        ValueError: shapes that do not fit (the axis is named), β ≤ 0, or a bias of truth values.
    Source: Vaswani et al. 2017, eq. 1; with a metric, Kataru 2026, eq. 13.
    """
    metric, query, key = as_metric(metric), real_array("query", query), real_array("key", key)
    check_shapes(query, key, metric=metric)
    rate = inverse_temperature(beta, query)
    if metric is not None:
        query, key = metric.left(query), metric.right(key)
    dtype = accumulation_dtype(jnp.promote_types(query.dtype, key.dtype))
    products = product(query.astype(dtype), transposed(key).astype(dtype))
    products, rate = per_row("beta", rate.astype(dtype), products)
    products = products * rate
    return products if bias is None else with_bias(products, bias)


def broadcast_with_mask(scores: Array, mask: Array | None) -> tuple[Array, Array | None]:
    """Scores and mask broadcast to one shape."""
    if mask is None:
        return scores, None
    shapes = [x.shape for x in same_rank(scores, mask)]
    try:
        shape = jnp.broadcast_shapes(*shapes)
    except ValueError:
        raise ValueError(f"mask must fit the scores {shapes[0]}, got shape {shapes[1]}") from None
    return jnp.broadcast_to(scores, shape), jnp.broadcast_to(mask, shape)


@lets_infinities_pass
def weights(
    scores: Float[Array, "*axes S"],
    *,
    separation: Separation | str = SOFTMAX,
    mask: MaskLike = None,
    temperature: ArrayLike | None = None,
) -> Float[Array, "*axes S"]:
    """Weights A_i = ∇F(S_i / temperature) over the keys of each query; zero where masked, also in fully masked rows.

    Args:
        scores: S [*b, T, S], β included, or [S] of one query, with a mask [S] if any. A score of −∞ is a masked key.
        separation: softmax by default.
        mask: True where a key may be read, or a `Mask`.
        temperature: T > 0 by which the scores are divided, a number or an array of the leading axes.
    Raises:
        ValueError: temperature ≤ 0, or a mask of another shape.
    """
    scores = real_array("scores", scores)
    if scores.ndim < 2:
        mask = mask if mask is None or isinstance(mask, Mask) else jnp.atleast_2d(mask)
        row = weights(jnp.atleast_2d(scores), separation=separation, mask=mask, temperature=temperature)
        return row[..., 0, :]
    scores = tempered(scores, temperature)
    return masked_weights(scores, separation, allowed(mask, scores.shape[-2], scores.shape[-1], scores.ndim))


def tempered(scores: Array, temperature: ArrayLike | None) -> Array:
    """Scores [*b, T, S] divided by a temperature per leading axis. None leaves them unchanged."""
    if temperature is None:
        return scores
    warmth = positive_array("temperature", temperature, scores.dtype, finite=False).astype(scores.dtype)
    scores, warmth = per_row("temperature", warmth, scores)
    # The derivative of −∞ / T is not a number: a score of −∞ stays as it is.
    read_at = scores > -jnp.inf
    return jnp.where(read_at, jnp.where(read_at, scores, 0.0) / warmth, scores)


def masked_weights(scores: Array, separation: Separation | str, mask: Array | None) -> Array:
    """Weights ∇F over the last axis of the scores, zero where a key is masked, `mask` being an array or None."""
    separation = as_separation(separation)
    scores, mask = broadcast_with_mask(scores, mask)
    if separation.is_softmax:
        return softmax(scores, mask)
    return by_row(separation.weights, scores, mask)


def by_row(function: Callable, scores: Array, mask: Array | None) -> Array:
    """Results of a separation's method for one vector of scores, over all leading axes; keys of −∞ are masked."""
    read_at = scores != -jnp.inf
    return map_rows(function, [scores, read_at if mask is None else read_at & mask], [1, 1])


def read(weights: Float[Array, "*b T S"], value: Float[Array, "*b S V"]) -> Float[Array, "*b T V"]:
    """Read-out O_i = Σ_j A_ij v_j, in the value's type. Raises ValueError if their numbers of keys differ."""
    weights, value = real_rows("weights", weights), real_array("value", value)
    if value.ndim < 2 or weights.shape[-1] != value.shape[-2]:
        raise ValueError(f"value must have one row per key, {weights.shape[-1]}, got shape {value.shape}")
    return product(weights.astype(value.dtype), value)


@lets_infinities_pass
def attend(
    query: Rows,
    key: Keys,
    value: Float[Array, "*b S V"],
    *,
    metric: Metric | ArrayLike | None = None,
    beta: ArrayLike | None = None,
    separation: Separation | str = SOFTMAX,
    bias: Float[Array, "*b T S"] | None = None,
    mask: MaskLike = None,
    temperature: ArrayLike | None = None,
) -> Float[Array, "*b T V"]:
    """Attention: the read-out ∇F((β q g k + bias) / temperature) v of every query, by default scaled dot products.

    Args:
        query, key, value: [*b, T, D], [*b, S, K], [*b, S, V], leading axes broadcasting; K = D without a metric.
        metric, beta: bilinear form g and inverse temperature > 0, as in `scores`; the dot product and 1/√D if None.
        separation: F, whose gradient turns scores into weights, or its name as `separations.find` reads it; softmax.
        bias: real numbers added to the scores, broadcast to [*b, T, S].
        mask: True where a key may be read, [T, S] or with every axis of the scores, or a `Mask`; all if None.
        temperature: T > 0 by which scores and bias are divided, a number or an array of *b (per head: [H]); 1 if None.
    Returns:
        Read-outs [*b, T, V], in the value's type; zeros for a query that may read no key.
    Raises:
        ValueError: shapes that do not fit (the axis is named), β or temperature ≤ 0, or a mask that is not boolean.
    Source: Vaswani et al. 2017, eq. 1; with a metric, Kataru 2026, eq. 13.

    Example:
        >>> from hopfield import attention
        >>> attention.attend(jnp.eye(2), jnp.eye(2), jnp.eye(2), beta=0.5, separation="sparsemax").tolist()
        [[0.75, 0.25], [0.25, 0.75]]
    """
    metric, separation = as_metric(metric), as_separation(separation)
    query, key, value = inputs(query, key, value, metric)
    mask = dense_mask(mask, (query, key, value), metric, (beta, temperature), bias)
    key, value = unread_as_zero(mask, key, value)
    divided = tempered(scores(query, key, metric=metric, beta=beta, bias=bias), temperature)
    if bias is None and mask is None and separation.is_softmax:
        return read(jax.nn.softmax(divided, axis=-1), value)  # no score is −∞: nothing to guard against
    return read(masked_weights(divided, separation, mask), value)


@lets_infinities_pass
def decompose(
    query: Rows,
    key: Keys,
    value: Float[Array, "*b S V"],
    *,
    metric: Metric | ArrayLike | None = None,
    beta: ArrayLike | None = None,
    separation: Separation | str = SOFTMAX,
    bias: Float[Array, "*b T S"] | None = None,
    mask: MaskLike = None,
    temperature: ArrayLike | None = None,
) -> Decomposition:
    """Result of `attend` with every intermediate.

    Args:
        query, key, value: [*b, T, D], [*b, S, K], [*b, S, V]; all further arguments as in `attend`.
    Returns:
        Scores without mask and temperature, the rest with both; where no key is read, the potential of no scores.
    Raises:
        ValueError: as in `attend`.
    Source: as in `attend`.

    Example:
        >>> from hopfield import attention
        >>> parts = attention.decompose(jnp.eye(2), jnp.eye(2), jnp.eye(2), mask=attention.causal())
        >>> print(parts.weights[0], parts.potential.round(2))
        [1. 0.] [0.71 1.11]
    """
    metric = as_metric(metric)
    query, key, value = inputs(query, key, value, metric)
    raw = scores(query, key, metric=metric, beta=beta, bias=bias)
    mask = dense_mask(mask, (query, key, value), metric, (beta, temperature), bias)
    (value,) = unread_as_zero(mask, value)
    separation = as_separation(separation)
    divided = tempered(raw, temperature)
    shares = masked_weights(divided, separation, mask)
    potential = by_row(separation.potential, *broadcast_with_mask(divided, mask))
    size = jnp.abs(shares)
    total = jnp.sum(size, axis=-1, keepdims=True)
    entropy = map_rows(shannon_entropy, [size / jnp.where(total == 0, 1.0, total)], [1])
    return Decomposition(raw, shares, read(shares, value), potential, entropy)
