"""Arguments of attention as arrays that fit each other: rows, inverse temperatures and masks."""

import contextlib
import math

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Bool, Float

from hopfield._arguments import positive_array, real_array
from hopfield._arrays import Keys, Rows, common_axes, product, same_rank, transposed
from hopfield._numerics import accumulation_dtype, is_traced, wide
from hopfield.attention.mask_views import MaskLike, allowed
from hopfield.metrics import Metric, augmented
from hopfield.metrics.forms import of_width


def inputs(query: ArrayLike, key: ArrayLike, value: ArrayLike, metric: Metric | None = None) -> tuple[Rows, Rows, Rows]:
    """Query, key and value as floating-point arrays that fit each other. Raises as `check_shapes` does."""
    query, key, value = real_array("query", query), real_array("key", key), real_array("value", value)
    check_shapes(query, key, value, metric)
    return query, key, value


def check_shapes(query: Rows, key: Keys, value: Rows | None = None, metric: Metric | None = None) -> None:
    """Check that query, key and value fit each other. ValueError, naming the axis, otherwise."""
    for name, rows in (("query", query), ("key", key), ("value", value)):
        if rows is not None:
            check_rows(name, rows)
    if metric is None and key.shape[-1] != query.shape[-1]:
        raise ValueError(f"key must have the query's width {query.shape[-1]}, got {key.shape[-1]} (axis -1)")
    if metric is not None:
        of_width("query", query, metric.widths[0])
        of_width("key", key, metric.widths[1])
    if value is not None and value.shape[-2] != key.shape[-2]:
        raise ValueError(f"value must have one row per key, {key.shape[-2]}, got {value.shape[-2]} (axis -2)")
    leading = [rows.shape[:-2] for rows in (query, key, value) if rows is not None]
    axes = common_axes("query, key and value", *leading)
    heads = () if metric is None else metric.leading
    try:
        jnp.broadcast_shapes(axes, heads)
    except ValueError:
        raise ValueError(f"metric must broadcast to the leading axes {list(axes)}, got {list(heads)}") from None


def check_rows(name: str, rows: Array) -> None:
    """Check that an array has the two axes of rows of vectors. ValueError otherwise."""
    if rows.ndim < 2:
        raise ValueError(f"{name} must be rows of vectors [..., length, width], got shape {rows.shape}")


def inverse_temperature(beta: ArrayLike | None, query: Rows) -> Array:
    """β as an array, 1/√D if None. Raises ValueError unless positive and finite in the type of the scores."""
    if beta is None:
        if query.shape[-1] == 0:
            raise ValueError(f"query must have a width of at least 1 for the default beta 1/√D, got {query.shape[-1]}")
        return jnp.asarray(1.0 / math.sqrt(query.shape[-1]))
    return positive_array("beta", beta, accumulation_dtype(query.dtype))


def over_temperature(rate: Array, temperature: ArrayLike | None, *rows: Array) -> Array:
    """β / temperature, each with the leading axes of the rows. ValueError for a temperature that is not positive."""
    per_row("beta", rate, *rows)
    if temperature is None:
        return rate
    warmth = positive_array("temperature", temperature, accumulation_dtype(rows[0].dtype), finite=False)
    per_row("temperature", warmth, *rows, rate[..., None, None])
    return rate / warmth.astype(rate.dtype)


def per_row(name: str, factor: Array, rows: Array, *others: Array) -> tuple[Array, Array]:
    """Rows [*b, T, S] and a factor [*h, 1, 1] for their leading axes, brought to the same number of axes.

    ValueError, naming the factor, unless *h broadcasts against *b and the leading axes of the `others`.
    """
    try:
        jnp.broadcast_shapes(factor.shape, *(x.shape[:-2] for x in (rows, *others)))
    except ValueError:
        axes = list(jnp.broadcast_shapes(*(x.shape[:-2] for x in (rows, *others))))
        raise ValueError(f"{name} must broadcast to the leading axes {axes}, got shape {factor.shape}") from None
    return same_rank(rows, factor[..., None, None])


def squares(metric: Metric, gaps: Float[Array, "*b T S N"]) -> Float[Array, "*b T S"]:
    """x g x of the gaps x: NaN where negative, zero where rounding may have made it so.

    Raises:
        ValueError: a metric, if its values are known, that is not positive semidefinite.
    """
    with contextlib.nullcontext() if is_traced(metric) else jax.ensure_compile_time_eval():
        matrix = metric.dense()
        _refuse_indefinite(matrix)
    rows = gaps.reshape((*gaps.shape[:-3], -1, gaps.shape[-1]))  # heads of the metric stand right before rows
    square = jnp.sum(metric.left(rows) * metric.right(rows), axis=-1)
    size = jnp.abs(augmented(rows) if metric.affine else rows)
    largest = jnp.max(jnp.abs(matrix), axis=(-2, -1), keepdims=True)
    spread_out = jnp.sum(product(size, jnp.abs(matrix)) * size, axis=-1)
    rounded, whole = same_rank(jnp.sum(size * size, axis=-1), largest[..., 0])
    eps = max(float(jnp.finfo(x.dtype).eps) for x in (square, matrix))
    error = 2.0 * size.shape[-1] * eps * (spread_out + rounded * whole)
    square = jnp.where(square < -error, jnp.nan, jnp.where(square < 0, 0.0, square))
    return square.reshape((*square.shape[:-1], *gaps.shape[-3:-1]))


def _refuse_indefinite(matrix: Array) -> None:
    """Check that no eigenvalue of a known matrix is below zero by more than rounding. ValueError otherwise."""
    if matrix.shape[-1] != matrix.shape[-2]:
        raise ValueError(f"metric must be square, got [N, K] = {list(matrix.shape[-2:])}")
    if is_traced(matrix):
        return
    exact = wide(matrix)
    least = np.asarray(jnp.linalg.eigvalsh((exact + transposed(exact)) / 2)[..., 0])
    rounding = np.max(np.abs(exact), axis=(-2, -1)) * matrix.shape[-1] * float(jnp.finfo(matrix.dtype).eps)
    if np.any(least < -rounding):
        raise ValueError(f"metric must be positive semidefinite, got one with the eigenvalue {np.min(least):.6g}")


def valid_keys(valid: ArrayLike, *rows: Array) -> Bool[Array, "*b S"]:
    """Readable keys as an array. ValueError unless boolean, one entry per key, with no leading axes or all of them."""
    valid, leading, keys = jnp.asarray(valid), max(x.ndim for x in rows) - 2, rows[1].shape[-2]
    if valid.dtype != bool or valid.ndim < 1 or valid.shape[-1] != keys:
        raise ValueError(f"valid must be boolean [..., {keys}], got {valid.dtype} {valid.shape}")
    if 1 < valid.ndim < leading + 1:
        raise ValueError(f"valid must have the {leading} leading axes of the rows or none, got shape {valid.shape}")
    return valid


def dense_mask(
    mask: MaskLike,
    rows: tuple[Rows, Rows, Rows],
    metric: Metric | None,
    factors: tuple[ArrayLike | None, ...],
    bias: ArrayLike | None = None,
) -> Array | None:
    """The mask as an array; the sequences of a `Mask` are the first axes of the rows.

    Args:
        rows: query, key and value; scores have the axes of all, of the metric, of the bias, and of the factors.
    """
    if mask is None:
        return None
    heads = 0 if metric is None else len(metric.leading) + 2
    ranks = [np.ndim(factor) + 2 for factor in factors if factor is not None]
    rank = max(heads, 0 if bias is None else np.ndim(bias), *ranks, *(x.ndim for x in rows))
    return allowed(mask, rows[0].shape[-2], rows[1].shape[-2], rank)
