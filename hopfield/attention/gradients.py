"""The derivatives of attention worked out by hand, for every input it has.

With raw scores r = left(q) · right(k), scores s = β r + bias, weights p = ∇F(s / T) and output o = p v, a gradient ō of
the output runs back as

    v̄ = pᵀ ō        p̄ = ō vᵀ        z̄ = J p̄  (J the Jacobian of the weights)        s̄ = z̄ / T
    T̄ = −Σ z̄ s / T²        bias = s̄        β̄ = Σ s̄ r        r̄ = β s̄        left = r̄ right(k)        right = r̄ᵀ left(q)

and from there into the queries, the keys and the parameters of the metric. Nothing here is differentiated by JAX.

Source: Kataru 2026, §6, eqs. 40 to 51, for queries, keys and values; what concerns the metric, β, T, the bias and
sparse weights is worked out here.
"""

from typing import Any, NamedTuple

import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from hopfield._arguments import real_array
from hopfield._arrays import product, same_rank, side_by_side, transposed, unread_as_zero
from hopfield._numerics import accumulation_dtype, wide
from hopfield._pytrees import changed, unchecked
from hopfield.attention import core
from hopfield.attention._arguments import dense_mask, inputs, inverse_temperature
from hopfield.metrics import BlockDiagonal, Diagonal, Euclidean, Full, LowRank, Metric, Projected, Scaled, as_metric
from hopfield.separations import LogSumExp, Separation, as_separation

Rows = Float[Array, "*axes"]


class Gradients(NamedTuple):
    """Gradient with respect to every input of attention, each of its input's shape.

    Example:
        >>> from hopfield import attention
        >>> x = jnp.eye(2)
        >>> found = attention.attention_gradients(x, x, x, x)
        >>> found.query.shape, found.beta.shape
        ((2, 2), ())
    """

    query: Rows
    key: Rows
    value: Rows
    metric: Any
    """A metric of the same class whose leaves are the gradients; an array for an array, None for None."""
    beta: Array
    """Gradient of β; of the default β, a number, if none was given."""
    bias: Array
    """Gradient of the bias, in its shape, or of an additive mask [*b, T, S] if none was given. Zero where masked."""
    temperature: Array
    weights: Array
    """p̄ = ō vᵀ, of the weights themselves [*b, T, S]."""


def summed_to(gradient: Array, shape: tuple[int, ...]) -> Array:
    """Transpose of broadcasting: a gradient summed over the axes along which an input of `shape` was repeated."""
    if gradient.ndim > len(shape):
        gradient = jnp.sum(gradient, axis=tuple(range(gradient.ndim - len(shape))))
    repeated = [axis for axis, length in enumerate(shape) if length == 1 and gradient.shape[axis] != 1]
    return jnp.broadcast_to(jnp.sum(gradient, axis=tuple(repeated), keepdims=True), shape)


def attention_gradients(
    query: Rows,
    key: Rows,
    value: Rows,
    output_gradient: Rows,
    *,
    metric: Metric | ArrayLike | None = None,
    beta: ArrayLike | None = None,
    separation: Separation | str = LogSumExp(),
    bias: Array | None = None,
    mask: Any = None,
    temperature: ArrayLike | None = None,
) -> Gradients:
    """Gradients of Σ output_gradient ∘ attend(...) in every input, by hand.

    Args:
        query, key, value: [*b, T, D], [*b, S, K], [*b, S, V], leading axes broadcasting.
        output_gradient: ō [*b, T, V], of the output's shape.
        metric, beta, separation, bias, mask: as in `attend`; a separation with a derivation by hand.
        temperature: T > 0 by which scores are divided once more, a number or broadcastable against [*b]; 1 if None.

    Returns:
        The gradients, accumulated in float32 at least and returned in each input's own type. Fully masked rows
        contribute exactly nothing.
    Raises:
        ValueError: shapes that do not fit, or an output_gradient of another shape than the output's.
    """
    form, separation = as_metric(metric), as_separation(separation)
    query, key, value = inputs(query, key, value, form)
    output_gradient = real_array("output_gradient", output_gradient)
    bias = None if bias is None else real_array("bias", bias)
    mask = dense_mask(mask, (query, key, value), form, (beta, temperature), bias)
    key, value = unread_as_zero(mask, key, value)
    scale = inverse_temperature(beta, query)
    scale = scale.astype(accumulation_dtype(jnp.result_type(query.dtype, scale.dtype)))
    heat = jnp.asarray(1.0 if temperature is None else temperature, scale.dtype)
    operands = query, key, value, form, scale, bias, heat
    gradients = _by_hand(operands, output_gradient, separation, mask, has_temperature=temperature is not None)
    d_metric = gradients.metric
    return gradients._replace(metric=d_metric.matrix if form is not metric and isinstance(d_metric, Full) else d_metric)


def _by_hand(
    operands: tuple, output_gradient: Array, separation: Separation, mask: Any, has_temperature: bool
) -> Gradients:
    """Gradients of the inputs `operands`, in this order. `has_temperature`: whether one divides the scores."""
    query, key, value, form, scale, bias, heat = operands
    raw = core.scores(query, key, metric=form, beta=1.0)
    scores = core.scores(query, key, metric=form, beta=scale, bias=bias)
    p = core.weights(scores, separation=separation, mask=mask, temperature=heat if has_temperature else None)
    p = wide(p)
    shape = (*jnp.broadcast_shapes(p.shape[:-2], value.shape[:-2]), query.shape[-2], value.shape[-1])
    if output_gradient.shape != shape:
        raise ValueError(f"output_gradient must have the output's shape {shape}, got {output_gradient.shape}")
    d_value = product(transposed(p), output_gradient)
    p, d_weights = jnp.broadcast_arrays(*same_rank(p, product(wide(output_gradient), transposed(wide(value)))))
    d_z = separation.jacobian_product(p, d_weights)
    d_scores = _per_row(d_z, 1.0 / heat)
    d_query, d_key, d_metric = metric_gradients(form, query, key, _per_row(d_scores, scale))
    return Gradients(
        query=_in_shape_of(d_query, query),
        key=_in_shape_of(d_key, key),
        value=_in_shape_of(d_value, value),
        metric=d_metric,
        beta=_in_shape_of(_row_sums(d_scores, raw), scale),
        bias=d_scores if bias is None else _in_shape_of(d_scores, bias),
        temperature=_in_shape_of(-_row_sums(_per_row(d_z, 1.0 / heat**2), scores), heat),
        weights=d_weights,
    )


def _per_row(rows: Array, factor: Array) -> Array:
    """Rows [*b, T, S] times a factor that broadcasts against their leading axes [*b]."""
    rows, factor = same_rank(rows, factor[..., None, None])
    return rows * factor


def _row_sums(d_scores: Array, scores: Array) -> Array:
    """Sums of d_scores ∘ scores over queries and keys [*b]. Entries that are −∞ or masked add nothing."""
    d_scores, scores = same_rank(d_scores, scores)
    return jnp.sum(jnp.where(d_scores == 0, 0.0, d_scores * scores), axis=(-2, -1))


def _in_shape_of(gradient: Array, of: Array) -> Array:
    """A gradient summed to its input's shape, in its input's type."""
    return summed_to(gradient, of.shape).astype(of.dtype)


def metric_gradients(metric: Metric | None, query: Rows, key: Rows, d_form: Array) -> tuple[Array, Array, Any]:
    """Gradients of Σ d_form ∘ metric.form(query, key) in the query, the key and the metric.

    Args:
        metric: any metric of `hopfield.metrics`, or None for the plain dot product.
        query, key: [*b, T, N] and [*b, S, K].
        d_form: gradient of the form [*b, T, S].

    Returns:
        Gradients of query and key, broadcast over all leading axes, and a metric that holds the gradients of its
        leaves.
    """
    left, right = (query, key) if metric is None else (metric.left(query), metric.right(key))
    return _pull_back(metric, query, key, product(d_form, right), product(transposed(d_form), left))


def _pull_back(metric: Any, x: Rows, y: Rows, d_left: Array, d_right: Array) -> tuple[Array, Array, Any]:
    """Gradients of x, y and the metric's leaves, from the gradients of left(x) and right(y)."""
    match metric:
        case None | Euclidean():
            return d_left, d_right, metric
        case Scaled(scale=scale):
            return _per_row(d_left, scale), d_right, changed(metric, scale=_in_shape_of(_row_sums(d_left, x), scale))
        case Diagonal(entries=entries):
            d_x, d_left_x = _columns(d_left, entries), _pairwise(d_left, x)
            return d_x, d_right, unchecked(Diagonal, entries=_in_shape_of(jnp.sum(d_left_x, axis=-2), entries))
        case Full(matrix=matrix):  # left = x g
            d_matrix = product(transposed(x), d_left)
            return product(d_left, transposed(matrix)), d_right, unchecked(Full, matrix=_in_shape_of(d_matrix, matrix))
        case LowRank(factor=w):  # left = x Wᵀ, right = y Wᵀ: W is used twice
            d_w = _in_shape_of(product(transposed(d_left), x), w) + _in_shape_of(product(transposed(d_right), y), w)
            return product(d_left, w), product(d_right, w), unchecked(LowRank, factor=d_w)
        case Projected(w_query=wq, w_key=wk, b_query=bq, b_key=bk):
            d_wq = _in_shape_of(product(transposed(x), d_left), wq)
            d_wk = _in_shape_of(product(transposed(y), d_right), wk)
            d_bq = None if bq is None else _in_shape_of(jnp.sum(d_left, axis=-2), bq)
            d_bk = None if bk is None else _in_shape_of(jnp.sum(d_right, axis=-2), bk)
            parameters = unchecked(Projected, w_query=d_wq, w_key=d_wk, b_query=d_bq, b_key=d_bk)
            return product(d_left, transposed(wq)), product(d_right, transposed(wk)), parameters
        case BlockDiagonal():
            return _pull_back_block(metric, x, y, d_left, d_right)
    raise ValueError(f"metric must be one of hopfield.metrics, got {type(metric).__name__}")


def _pull_back_block(metric: BlockDiagonal, x: Rows, y: Rows, d_left: Array, d_right: Array) -> tuple[Any, ...]:
    """Gradients of a `BlockDiagonal` metric: each block has its own components of x, y and the gradient."""
    xs, ys = metric.split(x, 0), metric.split(y, 1)
    pulled, start = [], 0
    for part, x_part, y_part in zip(metric.metrics, xs, ys, strict=True):
        end = start + part.left(x_part[..., :1, :]).shape[-1]
        pulled.append(_pull_back(part, x_part, y_part, d_left[..., start:end], d_right[..., start:end]))
        start = end
    d_xs, d_ys, parts = zip(*pulled, strict=True)
    return side_by_side(d_xs), side_by_side(d_ys), changed(metric, metrics=parts)


def _columns(rows: Array, entries: Array) -> Array:
    return _pairwise(rows, entries[..., None, :])


def _pairwise(a: Array, b: Array) -> Array:
    a, b = same_rank(a, b)
    return a * b
