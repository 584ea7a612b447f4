"""Attention as a bilinear form: scores S = β q g k, weights ∇F(S), read-out A v, for any metric and separation.

All functions take rows with any leading axes, batch or head: query [*b, T, D], key [*b, S, K], value [*b, S, V], which
broadcast against each other as in a matrix product. Masks are True where a key may be read.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Bool, Float

from hopfield.attention.masks import Mask
from hopfield.bilinear import Metric, as_metric
from hopfield.bilinear.arrays import aligned, product, transposed
from hopfield.numerics import accumulation_dtype, is_traced, map_rows
from hopfield.separations import LogSumExp, Separation
from hopfield.simplex import shannon_entropy

Rows = Float[Array, "*b T D"]
MaskLike = Mask | Bool[Array, "*b T S"] | None
SOFTMAX = LogSumExp()


class Decomposition(NamedTuple):
    """Every intermediate of attention: scores and weights [*b, T, S], output [*b, T, V], potential and entropy [*b, T].

    `potential` is F(scores), the log-partition function for softmax; `entropy` is Shannon's in nats, of the shares
    |weight| / Σ |weight|, and zero where nothing is read.
    """

    scores: Array
    weights: Array
    output: Array
    potential: Array
    entropy: Array


def check_shapes(query: Rows, key: Rows, value: Rows | None = None, metric: Metric | None = None) -> None:
    """ValueError, naming the axis, if query, key and value do not fit each other."""
    for name, rows in (("query", query), ("key", key), ("value", value)):
        if rows is not None and rows.ndim < 2:
            raise ValueError(f"{name} must be rows of vectors [..., length, width], got shape {rows.shape}")
    if metric is None and key.shape[-1] != query.shape[-1]:
        raise ValueError(f"key must have the query's width {query.shape[-1]}, got {key.shape[-1]} (axis -1)")
    if value is not None and value.shape[-2] != key.shape[-2]:
        raise ValueError(f"value must have one row per key, {key.shape[-2]}, got {value.shape[-2]} (axis -2)")
    leading = [rows.shape[:-2] for rows in (query, key, value) if rows is not None]
    try:
        jnp.broadcast_shapes(*leading)
    except ValueError:
        shown = ", ".join(map(str, leading))
        raise ValueError(f"leading axes of query, key and value must broadcast, got {shown}") from None


def inverse_temperature(beta: ArrayLike | None, query: Rows, metric: Metric | None) -> Array:
    """β as an array: 1/√D if None, or 1 with a metric. Raises ValueError unless positive and finite."""
    if beta is None:
        return jnp.asarray(1.0 if metric is not None else 1.0 / math.sqrt(query.shape[-1]))
    if not is_traced(beta) and not (np.all(np.asarray(beta) > 0) and np.all(np.isfinite(np.asarray(beta)))):
        raise ValueError(f"beta must be positive and finite, got {beta}")
    return jnp.asarray(beta)


def scores(
    query: Rows,
    key: Rows,
    *,
    metric: Metric | ArrayLike | None = None,
    beta: ArrayLike | None = None,
    bias: Float[Array, "*b T S"] | None = None,
) -> Float[Array, "*b T S"]:
    """S_ij = β q_i g k_j + bias_ij, in at least float32.

    Args:
        query: [*b, T, N], key: [*b, S, K], with the metric's widths.
        metric: bilinear form g or its matrix [*heads, N, K]; None for the dot product.
        beta: inverse temperature > 0, a number or an array of the leading axes (per head: [H]); if None 1/√D, or 1
            with a metric, which then sets the scale itself.
        bias: added to the scores, broadcast to [*b, T, S].
    Raises:
        ValueError: shapes that do not fit (the axis is named), or β ≤ 0.
    Source: Vaswani et al. 2017, eq. 1; with a metric, Kataru 2026, eq. 13.
    """
    metric = as_metric(metric)
    check_shapes(query, key, metric=metric)
    temperature = inverse_temperature(beta, query, metric)
    if metric is not None:
        query, key = metric.left(query), metric.right(key)
    dtype = accumulation_dtype(jnp.promote_types(query.dtype, key.dtype))
    found = product(query.astype(dtype), transposed(key).astype(dtype))
    found, temperature = aligned(found, temperature[..., None, None].astype(dtype))
    found = found * temperature
    if bias is None:
        return found
    found, bias = aligned(found, jnp.asarray(bias, dtype))
    return found + bias


def allowed(mask: MaskLike, queries: int, keys: int) -> Array | None:
    """The mask as a boolean array [*b, T or 1, S or 1], None for none. ValueError if it is not boolean."""
    if mask is None:
        return None
    found = mask.dense(queries, keys) if isinstance(mask, Mask) else jnp.asarray(mask)
    if found.dtype != bool or found.ndim < 2:
        raise ValueError(f"mask must be boolean [..., {queries}, {keys}], got {found.dtype} {found.shape}")
    if found.shape[-2] not in (1, queries) or found.shape[-1] not in (1, keys):
        raise ValueError(f"mask must be [..., {queries} or 1, {keys} or 1], got shape {found.shape}")
    return found


def _full(scores: Array, mask: MaskLike) -> tuple[Array, Array | None]:
    """Scores and mask broadcast to one shape."""
    where = allowed(mask, *scores.shape[-2:])
    if where is None:
        return scores, None
    shape = jnp.broadcast_shapes(*(x.shape for x in aligned(scores, where)))
    return jnp.broadcast_to(scores, shape), jnp.broadcast_to(where, shape)


def weights(
    scores: Float[Array, "*b T S"],
    *,
    separation: Separation = SOFTMAX,
    mask: MaskLike = None,
    temperature: ArrayLike | None = None,
) -> Float[Array, "*b T S"]:
    """A_i = ∇F(S_i / temperature) over the keys of each query; zeros where masked, also in fully masked rows.

    Args:
        scores: S, β included.
        separation: softmax unless told otherwise.
        mask: True where a key may be read, or a `Mask`.
        temperature: T > 0 by which the scores are divided, a number or an array of the leading axes.
    Raises:
        ValueError: temperature ≤ 0, or a mask of another shape.
    """
    if temperature is not None:
        if not is_traced(temperature) and not np.all(np.asarray(temperature) > 0):
            raise ValueError(f"temperature must be positive, got {temperature}")
        scores, warmth = aligned(scores, jnp.asarray(temperature, scores.dtype)[..., None, None])
        scores = scores / warmth
    scores, where = _full(scores, mask)
    if type(separation) is LogSumExp:
        return softmax(scores, where)
    return _rows(separation.weights, scores, where)


def softmax(scores: Array, where: Array | None = None) -> Array:
    """Softmax over the last axis, all rows at once; a key that is masked or scores −∞ has weight and gradient zero."""
    return _softmax(scores if where is None else jnp.where(where, scores, -jnp.inf))


@jax.custom_jvp
def _softmax(scores: Array) -> Array:
    top = jnp.max(scores, axis=-1, keepdims=True, initial=-jnp.inf)
    # JAX's own softmax, which XLA knows how to fuse, is NaN in a row of nothing but −∞; so are its derivatives.
    return jnp.where(top == -jnp.inf, 0.0, jax.nn.softmax(scores, axis=-1))


@_softmax.defjvp
def _softmax_jvp(primals, tangents):
    p = _softmax(*primals)
    return p, p * (tangents[0] - jnp.sum(p * tangents[0], axis=-1, keepdims=True))


def _rows(function: Callable, scores: Array, where: Array | None) -> Array:
    """A separation's method, which takes one vector of scores, over all leading axes."""
    if where is None:
        return map_rows(function, [scores], [1])
    return map_rows(function, [scores, where], [1, 1])


def read(weights: Float[Array, "*b T S"], value: Float[Array, "*b S V"]) -> Float[Array, "*b T V"]:
    """O_i = Σ_j A_ij v_j, in the value's type. Raises ValueError if their numbers of keys differ."""
    if value.ndim < 2 or weights.shape[-1] != value.shape[-2]:
        raise ValueError(f"value must have one row per key, {weights.shape[-1]}, got shape {value.shape}")
    return product(weights.astype(value.dtype), value)


def attend(
    query: Rows,
    key: Rows,
    value: Float[Array, "*b S V"],
    *,
    metric: Metric | ArrayLike | None = None,
    beta: ArrayLike | None = None,
    separation: Separation = SOFTMAX,
    bias: Float[Array, "*b T S"] | None = None,
    mask: MaskLike = None,
) -> Float[Array, "*b T V"]:
    """Attention: the read-out ∇F(β q g k + bias) v of every query [*b, T, V].

    With its defaults it is scaled dot-product attention. Arguments and errors as in `scores`, `weights` and `read`.
    """
    check_shapes(query, key, value, as_metric(metric))
    found = scores(query, key, metric=metric, beta=beta, bias=bias)
    if bias is None and mask is None and type(separation) is LogSumExp:
        return read(jax.nn.softmax(found, axis=-1), value)  # no score is −∞: nothing to guard against
    return read(weights(found, separation=separation, mask=mask), value)


def decompose(
    query: Rows,
    key: Rows,
    value: Float[Array, "*b S V"],
    *,
    metric: Metric | ArrayLike | None = None,
    beta: ArrayLike | None = None,
    separation: Separation = SOFTMAX,
    bias: Float[Array, "*b T S"] | None = None,
    mask: MaskLike = None,
) -> Decomposition:
    """What `attend` computes with every intermediate; the potential of a fully masked query is that of no scores."""
    check_shapes(query, key, value, as_metric(metric))
    found = scores(query, key, metric=metric, beta=beta, bias=bias)
    shares = weights(found, separation=separation, mask=mask)
    potential = _rows(separation.potential, *_full(found, mask))
    size = jnp.abs(shares)
    total = jnp.sum(size, axis=-1, keepdims=True)
    entropy = map_rows(shannon_entropy, [size / jnp.where(total > 0, total, 1.0)], [1])
    return Decomposition(found, shares, read(shares, value), potential, entropy)


def additive_scores(
    query: Rows,
    key: Float[Array, "*b S K"],
    w_query: Float[Array, "D R"],
    w_key: Float[Array, "K R"],
    vector: Float[Array, "R"],
    bias: Float[Array, "R"] | None = None,
) -> Float[Array, "*b T S"]:
    """S_ij = v · tanh(q_i W_q + k_j W_k + b) (Bahdanau, Cho & Bengio 2015, appendix A.1.2); memory O(T S R).

    Raises:
        ValueError: a width that does not fit, by name.
    """
    for name, rows, projection in (("w_query", query, w_query), ("w_key", key, w_key)):
        if projection.shape != (rows.shape[-1], vector.shape[0]):
            raise ValueError(f"{name} must be [{rows.shape[-1]}, {vector.shape[0]}], got shape {projection.shape}")
    left, right = (query @ w_query)[..., :, None, :], (key @ w_key)[..., None, :, :]
    left, right = aligned(left, right)
    total = left + right
    if bias is not None:
        total = total + bias.reshape((1,) * (total.ndim - 1) + bias.shape)
    return jnp.tanh(total) @ vector


def _gaussian(distance: Array) -> Array:
    return -0.5 * distance**2


def kernel_regression(
    query: Rows,
    key: Rows,
    value: Float[Array, "*b S V"],
    *,
    bandwidth: ArrayLike = 1.0,
    log_kernel: Callable[[Array], Array] = _gaussian,
    metric: Metric | ArrayLike | None = None,
    mask: MaskLike = None,
) -> Float[Array, "*b T V"]:
    """Nadaraya–Watson regression, Σ_j κ(‖q − k_j‖/h) v_j / Σ_j κ(‖q − k_j‖/h).

    With the Gaussian kernel and keys of equal norm it is attention at β = 1/h².

    Args:
        bandwidth: h > 0.
        log_kernel: ln κ as a function of the distance in bandwidths.
        metric: symmetric metric of the distance (q − k) g (q − k); None for the Euclidean one.
        mask: keys that may be used.
    Raises:
        ValueError: a bandwidth ≤ 0 or shapes that do not fit.
    Source: Nadaraya 1964; Watson 1964.
    """
    if not is_traced(bandwidth) and not np.all(np.asarray(bandwidth) > 0):
        raise ValueError(f"bandwidth must be positive, got {bandwidth}")
    g = as_metric(metric)
    check_shapes(query, key, value, g)
    difference = [x[..., None, :] if i == 0 else x[..., None, :, :] for i, x in enumerate((query, key))]
    gap = jnp.subtract(*aligned(*difference))
    square = jnp.sum(gap * gap, -1) if g is None else jnp.sum(g.left(gap) * g.right(gap), -1)
    positive = square > 0
    distance = jnp.where(positive, jnp.sqrt(jnp.where(positive, square, 1.0)), 0.0) / bandwidth
    return read(weights(log_kernel(distance), mask=mask), value)
