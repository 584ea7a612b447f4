"""Arguments of attention as arrays that fit each other: rows, inverse temperatures and masks."""

import contextlib
import math

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike, DTypeLike
from jaxtyping import Array, Bool, Float

from hopfield._arrays import aligned, product, spread, transposed
from hopfield._numerics import accumulation_dtype, is_traced, is_truth, nan_outside, real_array, wide
from hopfield.arguments import native, shown
from hopfield.attention.masks import Mask
from hopfield.metrics import Metric, augmented

Rows = Float[Array, "*b T D"]
MaskLike = Mask | Bool[Array, "*b T S"] | None


def inputs(query: ArrayLike, key: ArrayLike, value: ArrayLike, metric: Metric | None = None) -> tuple[Rows, Rows, Rows]:
    """Query, key and value as floating-point arrays that fit each other. Raises as `check_shapes` does."""
    query, key, value = real_array("query", query), real_array("key", key), real_array("value", value)
    check_shapes(query, key, value, metric)
    return query, key, value


def check_shapes(query: Rows, key: Rows, value: Rows | None = None, metric: Metric | None = None) -> None:
    """Check of query, key and value: ValueError, naming the axis, unless they fit each other."""
    for name, rows in (("query", query), ("key", key), ("value", value)):
        if rows is not None:
            check_rows(name, rows)
    if metric is None and key.shape[-1] != query.shape[-1]:
        raise ValueError(f"key must have the query's width {query.shape[-1]}, got {key.shape[-1]} (axis -1)")
    if value is not None and value.shape[-2] != key.shape[-2]:
        raise ValueError(f"value must have one row per key, {key.shape[-2]}, got {value.shape[-2]} (axis -2)")
    leading = [rows.shape[:-2] for rows in (query, key, value) if rows is not None]
    try:
        axes = jnp.broadcast_shapes(*leading)
    except ValueError:
        got = ", ".join(map(str, leading))
        raise ValueError(f"leading axes of query, key and value must broadcast, got {got}") from None
    heads = () if metric is None else metric.leading
    try:
        jnp.broadcast_shapes(axes, heads)
    except ValueError:
        raise ValueError(f"metric must broadcast to the leading axes {list(axes)}, got {list(heads)}") from None


def check_rows(name: str, rows: Array) -> None:
    """Check of an array: ValueError unless it has the two axes of rows of vectors."""
    if rows.ndim < 2:
        raise ValueError(f"{name} must be rows of vectors [..., length, width], got shape {rows.shape}")


def inverse_temperature(beta: ArrayLike | None, query: Rows) -> Array:
    """β as an array, 1/√D if None. Raises ValueError unless positive and finite in the type of the scores."""
    if beta is None:
        if query.shape[-1] == 0:
            raise ValueError(f"query must have a width of at least 1 for the default beta 1/√D, got {query.shape[-1]}")
        return jnp.asarray(1.0 / math.sqrt(query.shape[-1]))
    return positive_in(accumulation_dtype(query.dtype), "beta", beta)


def positive_in(dtype: DTypeLike, name: str, value: ArrayLike, *, finite: bool = True) -> Array:
    """Numbers that are positive (and finite) in `dtype`, NaN where traced ones are not; ValueError for others."""
    if is_traced(value):
        numbers = jnp.asarray(value)
        return nan_outside(numbers, (numbers > 0) & (numbers < jnp.inf) if finite else numbers > 0)
    value = native(value)
    limits, numbers = jnp.finfo(dtype), _numbers(name, value)
    if not np.all((numbers >= float(limits.tiny)) & (numbers <= (float(limits.max) if finite else np.inf))):
        contract = "positive and finite" if finite else "positive"
        raise ValueError(f"{name} must be {contract}, got {value} (in {limits.dtype})")
    return jnp.asarray(value if np.asarray(value).dtype.kind == "f" else numbers.tolist())  # 2⁴⁰ is no int32


def over_temperature(rate: Array, temperature: ArrayLike | None, *rows: Array) -> Array:
    """β / temperature, each with the leading axes of the rows. ValueError for a temperature that is not positive."""
    per_row("beta", rate, *rows)
    if temperature is None:
        return rate
    warmth = positive_in(accumulation_dtype(rows[0].dtype), "temperature", temperature, finite=False)
    per_row("temperature", warmth, *rows, rate[..., None, None])
    return rate / warmth.astype(rate.dtype)


def _numbers(name: str, value: ArrayLike) -> np.ndarray:
    with contextlib.suppress(TypeError, ValueError):
        if not is_truth(value):
            return np.asarray(value, float)
    raise ValueError(f"{name} must be a real number or an array of them, got {shown(value)}")


def per_row(name: str, factor: Array, rows: Array, *others: Array) -> tuple[Array, Array]:
    """Rows [*b, T, S] and a factor [*h, 1, 1] of their leading axes, of one rank.

    ValueError, naming the factor, unless *h broadcasts against *b and the leading axes of the `others`.
    """
    try:
        jnp.broadcast_shapes(factor.shape, *(x.shape[:-2] for x in (rows, *others)))
    except ValueError:
        axes = list(jnp.broadcast_shapes(*(x.shape[:-2] for x in (rows, *others))))
        raise ValueError(f"{name} must broadcast to the leading axes {axes}, got shape {factor.shape}") from None
    return aligned(rows, factor[..., None, None])


def with_bias(scores: Array, bias: ArrayLike) -> Array:
    """Scores [*b, T, S] plus a bias. ValueError unless it is real numbers [..., T or 1, S or 1] that broadcast."""
    bias = real_array("bias", bias)
    plain, added = aligned(scores, bias.astype(scores.dtype))
    try:
        fits = jnp.broadcast_shapes(plain.shape, added.shape)[-2:] == scores.shape[-2:]
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(f"bias must broadcast to the scores {list(scores.shape)}, got shape {bias.shape}")
    return plain + added


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
    rounded, whole = aligned(jnp.sum(size * size, axis=-1), largest[..., 0])
    eps = max(float(jnp.finfo(x.dtype).eps) for x in (square, matrix))
    error = 2.0 * size.shape[-1] * eps * (spread_out + rounded * whole)
    square = jnp.where(square < -error, jnp.nan, jnp.where(square < 0, 0.0, square))
    return square.reshape((*square.shape[:-1], *gaps.shape[-3:-1]))


def _refuse_indefinite(matrix: Array) -> None:
    """Check of a matrix of known values: ValueError if an eigenvalue is below zero by more than rounding."""
    if matrix.shape[-1] != matrix.shape[-2]:
        raise ValueError(f"metric must be square, got [N, K] = {list(matrix.shape[-2:])}")
    if is_traced(matrix):
        return
    exact = wide(matrix)
    least = np.asarray(jnp.linalg.eigvalsh((exact + transposed(exact)) / 2)[..., 0])
    rounding = np.max(np.abs(exact), axis=(-2, -1)) * matrix.shape[-1] * float(jnp.finfo(matrix.dtype).eps)
    if np.any(least < -rounding):
        raise ValueError(f"metric must be positive semidefinite, got one with the eigenvalue {np.min(least):.6g}")


def allowed(mask: MaskLike, queries: int, keys: int, rank: int = 2) -> Array | None:
    """The mask as a boolean array [*b, T or 1, S or 1] for scores of `rank` axes, None for none.

    Raises:
        ValueError: an array that is not boolean, or has neither two axes nor all of the scores.
    """
    if mask is None:
        return None
    if isinstance(mask, Mask):
        return spread(mask.dense(queries, keys), rank)
    readable = truths(mask)
    if readable.ndim < 2 or readable.shape[-2] not in (1, queries) or readable.shape[-1] not in (1, keys):
        raise ValueError(f"mask must be [..., {queries} or 1, {keys} or 1], got shape {readable.shape}")
    if 2 < readable.ndim < rank:
        raise ValueError(f"mask must have all {rank} axes of the scores or the last two, got shape {readable.shape}")
    return readable


def unread_as_zero(mask: Array | None, *rows: Rows) -> tuple[Rows, ...]:
    """Keys or values with zeros where no query may read them, which not even NaN then has a part in: 0 · NaN is NaN."""
    return rows if mask is None else tuple(_read_by_some(jnp.any(mask, axis=-2), x) for x in rows)


def _read_by_some(read: Bool[Array, "*b S"], rows: Rows) -> Rows:
    read = read.reshape((1,) * (rows.ndim - 1 - read.ndim) + read.shape)
    beyond = read.ndim + 1 - rows.ndim  # leading axes that share these rows, here and those of length 1
    shared = [i for i in range(read.ndim - 1) if i < beyond or rows.shape[i - beyond] == 1]
    read = jnp.any(read, axis=tuple(shared), keepdims=True)
    read = read.reshape(read.shape[beyond:])
    if any(n not in (1, m) for n, m in zip(read.shape, rows.shape[:-1], strict=True)):
        raise ValueError(f"mask must fit the rows {list(rows.shape[:-1])} of keys and values, got {list(read.shape)}")
    return jnp.where(read[..., None], rows, 0.0)


def truths(mask: ArrayLike) -> Array:
    """A mask given as an array. ValueError unless it is boolean: numbers are 0 and 1 to some and 0 and −∞ to others."""
    try:
        array = jnp.asarray(mask)
    except (TypeError, ValueError):
        array = None
    if array is None or array.dtype != bool:
        kind = type(mask).__name__ if array is None else array.dtype
        raise ValueError(f"mask must be boolean, True where a key may be read, got {kind}")
    return array


def allowed_by_head(mask: MaskLike, queries: int, keys: int, rank: int) -> Array | None:
    """The mask as a boolean array for the scores of a layer [*b, H, T, S], of `rank` axes, None for none.

    Raises:
        ValueError: an array that is not boolean, or without all axes; a `Mask` of more than the sequences *b.
    """
    if mask is None or isinstance(mask, Mask):
        return allowed(mask if mask is None else sequences(mask, rank - 3), queries, keys, rank)
    readable = truths(mask)
    if readable.ndim < rank:
        shape = f"{rank} axes [..., heads, queries, keys]"
        raise ValueError(f"mask must have all {shape}, of length 1 where it holds for all, got shape {readable.shape}")
    return allowed(readable, queries, keys, rank)


def sequences(mask: Mask, leading: int) -> Mask:
    """A mask, unchanged; ValueError if it has more leading axes than the `leading` ones of sequences, beside heads."""
    shape = jax.eval_shape(_smallest, mask).shape[:-2]
    if len(shape) > leading and (len(shape) > leading + 1 or shape[-1] != 1):
        raise ValueError(
            f"mask must be one of sequences, with at most {leading} leading axes, got {list(shape)}: "
            "what differs between heads is a boolean array"
        )
    return mask


def _smallest(mask: Mask) -> Array:
    place = jnp.zeros((1, 1), int)
    return mask.allows(place, place)


def valid_keys(valid: ArrayLike, *rows: Array) -> Bool[Array, "*b S"]:
    """Keys that may be read, as an array. ValueError unless it is boolean, of their number and of all axes or one."""
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
    """The mask as an array, the sequences of a `Mask` being the first axes of what is read.

    Args:
        rows: query, key and value; scores have the axes of all, of the metric, of the bias, and of the factors.
    """
    if mask is None:
        return None
    heads = 0 if metric is None else len(metric.leading) + 2
    ranks = [np.ndim(factor) + 2 for factor in factors if factor is not None]
    rank = max(heads, 0 if bias is None else np.ndim(bias), *ranks, *(x.ndim for x in rows))
    return allowed(mask, rows[0].shape[-2], rows[1].shape[-2], rank)
