"""Positional encodings: functions that add to the scores, rotate queries and keys, or add to the inputs.

Queries stand at offset, offset + 1, … and keys at 0, 1, …; functions that return a bias [*h, T, S] go into `attend`'s
`bias`. A decoder's cache passes the position of its query as `offset`.
"""

import math
from typing import Literal, get_args

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Float, Int

from hopfield._arguments import flag, integer, native, one_of, real_array, real_rows, real_scalar
from hopfield._arrays import product, same_rank, transposed
from hopfield._numerics import accumulation_dtype, is_traced, wide
from hopfield.attention._angles import angles
from hopfield.attention._arguments import inverse_temperature, per_row

Pairing = Literal["interleaved", "half"]
PAIRINGS: tuple[Pairing, ...] = get_args(Pairing)


def distances(queries: int, keys: int, offset: ArrayLike = 0) -> Int[Array, "T S"]:
    """Distances i − j [T, S] of queries at i = offset, offset + 1, … from keys at j = 0, 1, …"""
    queries, keys = integer("queries", queries, 0), integer("keys", keys, 0)
    return (jnp.arange(queries)[:, None] + offset) - jnp.arange(keys)[None, :]


def relative_bias(
    query: Float[Array, "*b T D"],
    table: Float[Array, "*h 2L+1 D"],
    keys: int,
    *,
    beta: ArrayLike | None = None,
    offset: ArrayLike = 0,
) -> Float[Array, "*b T S"]:
    """Bias β q_i · R_(i−j), the part of the scores β q_i · (k_j + R_(i−j)) that depends on position.

    Args:
        query: queries as they go into `attend`.
        table: learned R for i − j = −L … L, in this order; distances beyond L use the last entry on their side.
        keys: number S of keys.
        beta: as in `scores`, 1/√D if None.
        offset: position of the first query.
    Raises:
        ValueError: a table of an even number of rows or of another width than the queries.
    Source: Kataru 2026, eq. 63; Shaw, Uszkoreit & Vaswani 2018, eqs. 4 and 5 (arXiv:1803.02155).
    """
    query, table = real_rows("query", query, 2), real_array("table", table)
    if table.ndim < 2 or table.shape[-2] % 2 == 0 or table.shape[-1] != query.shape[-1]:
        raise ValueError(f"table must be [2 L + 1, D = {query.shape[-1]}], got shape {table.shape}")
    reach = table.shape[-2] // 2
    rate = inverse_temperature(beta, query)
    dtype = accumulation_dtype(query.dtype)
    by_distance = product(query.astype(dtype), transposed(table).astype(dtype))
    by_distance, rate = per_row("beta", rate.astype(dtype), by_distance)
    index = jnp.clip(distances(query.shape[-2], keys, offset), -reach, reach) + reach
    index, by_distance = same_rank(index, by_distance * rate)
    return jnp.take_along_axis(by_distance, jnp.broadcast_to(index, (*by_distance.shape[:-1], keys)), axis=-1)


def t5_buckets(
    relative: Int[Array, "*axes"], *, bidirectional: bool = True, buckets: int = 32, max_distance: int = 128
) -> Int[Array, "*axes"]:
    """Bucket of the distance between key and query: one each when near, logarithmically wider ones when far.

    Of the buckets of one direction half hold the distances 0, 1, … one by one, the others n with thresholds
    exact · (max_distance / exact)^(k / rest), and the last one all beyond. The thresholds are found in whole
    numbers, so that no distance is put into the wrong bucket by the rounding of a logarithm.

    Args:
        relative: position of the key minus position of the query, as in the T5 code.
        bidirectional: the upper half of the buckets is for keys after the query; if False these all go to bucket 0.
        buckets: their number, even when bidirectional.
        max_distance: first distance in the last bucket by the formula.
    Raises:
        ValueError: numbers of buckets or distances that leave no logarithmic bucket.
    Source: Raffel et al. 2020, §2.1 and its code `_relative_position_bucket` (arXiv:1910.10683).
    """
    relative = jnp.asarray(native(relative))
    if not jnp.issubdtype(relative.dtype, jnp.integer):
        raise ValueError(f"relative must be whole numbers of tokens, got {relative.dtype}")
    buckets, max_distance = integer("buckets", buckets), integer("max_distance", max_distance)
    one_way = buckets // 2 if flag("bidirectional", bidirectional) else buckets
    exact = one_way // 2
    if exact < 1 or (bidirectional and buckets % 2):
        least = "an even number of at least 4" if bidirectional else "at least 2"
        raise ValueError(f"buckets must be {least}, got {buckets}")
    if max_distance <= exact:
        raise ValueError(f"max_distance must be above {exact}, the distances with their own bucket, got {max_distance}")
    relative = relative.astype(jnp.promote_types(relative.dtype, jnp.int32))
    most = int(jnp.iinfo(relative.dtype).max)
    relative = jnp.maximum(relative, -most)  # the least integer has no absolute value
    behind = jnp.abs(relative) if bidirectional else jnp.maximum(-relative, 0)
    thresholds = [min(n, most) for n in _thresholds(exact, one_way - exact, max_distance)]
    thresholds = jnp.asarray(thresholds, behind.dtype)
    far = exact + jnp.searchsorted(thresholds, behind, side="right").astype(behind.dtype)
    bucket = jnp.where(behind < exact, behind, far)
    return bucket + jnp.where(relative > 0, one_way, 0) if bidirectional else bucket


def _thresholds(exact: int, rest: int, max_distance: int) -> list[int]:
    """Least n with n ≥ exact (max_distance / exact)^(k / rest), k = 1 … rest − 1, in exact arithmetic."""
    thresholds = []
    for k in range(1, rest):
        bound = exact ** (rest - k) * max_distance**k
        n = max(1, math.floor(math.exp(math.log(bound) / rest)) - 2)
        while n**rest < bound:
            n += 1
        thresholds.append(n)
    return thresholds


def t5_bias(
    table: Float[Array, "buckets H"],
    queries: int,
    keys: int,
    *,
    bidirectional: bool = True,
    max_distance: int = 128,
    offset: ArrayLike = 0,
) -> Float[Array, "H T S"]:
    """Learned bias per bucket and head, added to scores. T5 itself uses β = 1. Arguments as in `t5_buckets`."""
    table = real_array("table", table)
    if table.ndim != 2:
        raise ValueError(f"table must be [buckets, heads], got shape {table.shape}")
    bucket = t5_buckets(
        -distances(queries, keys, offset),
        bidirectional=bidirectional,
        buckets=table.shape[0],
        max_distance=max_distance,
    )
    return jnp.take(table.T, bucket, axis=1)


def alibi_slopes(heads: int) -> Float[np.ndarray, "H"]:
    """Slopes of H heads: 2^(−8/H), 2^(−16/H), … for a power of two H.

    For any other H the slopes of the power of two below come first, then every other slope of the power above.

    Source: Press, Smith & Lewis 2022, §3 and its code (arXiv:2108.12409).
    """
    heads = integer("heads", heads)
    below = 2 ** (heads.bit_length() - 1)
    slopes = [2.0 ** (-8.0 * (i + 1) / below) for i in range(below)]
    slopes += [2.0 ** (-8.0 * (i + 1) / (2 * below)) for i in range(0, 2 * (heads - below), 2)]
    return np.asarray(slopes)


def alibi_bias(
    slopes: Float[ArrayLike, "*h"], queries: int, keys: int, *, offset: ArrayLike = 0
) -> Float[Array, "*h T S"]:
    """Bias −slope · |i − j|, a penalty that grows with distance. With a causal mask it is the bias of the paper."""
    slopes = wide(real_array("slopes", slopes))
    gap = jnp.abs(distances(queries, keys, offset)).astype(slopes.dtype)
    gap, slopes = same_rank(gap, slopes[..., None, None])
    return -slopes * gap


def rotary(
    x: Float[Array, "*b T D"],
    positions: ArrayLike | None = None,
    *,
    pairing: Pairing = "interleaved",
    base: ArrayLike = 10000.0,
    width: int | None = None,
) -> Float[Array, "*b T D"]:
    """Rotary position embedding: components in pairs, pair i of the vector at position t turned by t · base^(−2i/D).

    Applied to queries and keys, q_i · k_j depends on their positions through i − j only.

    Args:
        x: queries or keys.
        positions: [T] of all, or with every leading axis [*b, T], whole or not; 0, 1, … if None. Angles of whole
            positions are right to 1e-6 up to 2³¹ for rates as float32 has them, which are off by 6e-8 of themselves;
            angles of other positions to 6e-8 of the angle.
        pairing: "interleaved" turns (x_0, x_1), (x_2, x_3), … as in the paper; "half" turns (x_0, x_D/2), … as in
            GPT-NeoX and Llama. Weights trained with one do not fit the other.
        base: sets the slowest rotation.
        width: turn the first `width` components only (partial rotary); all if None.
    Raises:
        ValueError: an odd width, one beyond the vector's, an unknown pairing, or positions that do not fit.
    Source: Su et al. 2021, eq. 34 (arXiv:2104.09864).
    """
    one_of("pairing", pairing, PAIRINGS)
    x = real_array("x", x)
    if x.ndim < 2:
        raise ValueError(f"x must be vectors at places [..., T, D], got shape {x.shape}")
    width = x.shape[-1] if width is None else integer("width", width)
    if width % 2 or not 0 < width <= x.shape[-1]:
        raise ValueError(f"width must be even and at most the vectors' {x.shape[-1]}, got {width}")
    dtype = accumulation_dtype(x.dtype)
    places = jnp.arange(x.shape[-2]) if positions is None else _places(positions, x)
    return turned_by(x, _angles(places, width, base, dtype), pairing)


def turned_by(
    x: Float[Array, "*b T D"], angle: Float[Array, "*b T R"], pairing: Pairing, scale: float = 1.0
) -> Float[Array, "*b T D"]:
    """Vectors x, the first 2R components rotated in pairs and scaled, the others unchanged, in at least float32."""
    width = 2 * angle.shape[-1]
    turned, rest = x[..., :width].astype(angle.dtype), x[..., width:]
    shape = (*turned.shape[:-1], width // 2, 2) if pairing == "interleaved" else (*turned.shape[:-1], 2, width // 2)
    axis = -1 if pairing == "interleaved" else -2
    first, second = (jnp.take(turned.reshape(shape), i, axis=axis) for i in (0, 1))
    angle, first = same_rank(angle, first)
    _, second = same_rank(angle, second)
    cosine, sine = scale * jnp.cos(angle), scale * jnp.sin(angle)
    rotated = jnp.stack([first * cosine - second * sine, first * sine + second * cosine], axis=axis)
    rotated = rotated.reshape((*rotated.shape[:-2], width)).astype(x.dtype)
    return rotated if rest.shape[-1] == 0 else jnp.concatenate([rotated, rest], axis=-1)


def _places(positions: ArrayLike, x: Array) -> Array:
    """Positions of the rows of x, checked: [T] or all leading axes of x, as [B, T] would be read as [H, T]."""
    places = _numbers(positions)
    rows = x.shape[:-1]
    fits = places.ndim in (1, len(rows)) and all(
        n in (1, m) for n, m in zip(places.shape[::-1], rows[::-1], strict=False)
    )
    if not fits:
        raise ValueError(f"positions must be [{rows[-1]}] or have all axes of {list(rows)}, got shape {places.shape}")
    return places


def _numbers(positions: ArrayLike) -> Array:
    """Positions as an array; whole positions that 32 bits hold keep their type."""
    positions = native(positions)
    numbers = real_array("positions", positions)
    array = positions if isinstance(positions, jax.Array) else np.asarray(positions)
    exact = jnp.issubdtype(array.dtype, jnp.integer) and (
        isinstance(array, jax.Array) or bool(np.all(np.abs(array.astype(float)) < 2.0**31))
    )
    return jnp.asarray(array) if exact else numbers


def sinusoidal(
    positions: int | Float[Array, "*b T"], width: int, *, base: ArrayLike = 10000.0
) -> Float[Array, "*b T D"]:
    """Sines and cosines of t base^(−2i/D), at components 2i and 2i + 1, to be added to a token's vector.

    Args:
        positions: t [*b, T], or a number T for 0 … T − 1.
        width: D, even.
    Source: Vaswani et al. 2017, §3.5 (arXiv:1706.03762).
    """
    if integer("width", width) % 2:
        raise ValueError(f"width must be a positive even number, got {width}")
    places = (
        jnp.arange(integer("positions", positions, 0))
        if isinstance(positions, int | np.integer)
        else _numbers(positions)
    )
    whole_places = jnp.issubdtype(places.dtype, jnp.integer)
    dtype = jnp.result_type(float) if whole_places else accumulation_dtype(places.dtype)
    angle = _angles(places, width, base, dtype)
    return jnp.stack([jnp.sin(angle), jnp.cos(angle)], axis=-1).reshape((*angle.shape[:-1], width))


def _angles(positions: Array, width: int, base: ArrayLike, dtype: jnp.dtype) -> Float[Array, "*b T D/2"]:
    """Angles t · base^(−2i/D) in radians, of pairs i of components."""
    real_scalar("base", base, "positive and finite", float(jnp.finfo(dtype).tiny))
    if is_traced(base):
        rates = jnp.asarray(base, dtype) ** -(jnp.arange(0, width, 2, dtype=dtype) / width)
    else:
        rates = jnp.asarray(np.asarray(base, float) ** (-np.arange(0, width, 2) / width), dtype)
    return angles(*same_rank(positions[..., None], rates), dtype)


def windows(line: Float[Array, "H L"], count: int, width: int) -> Float[Array, "H T S"]:
    """Rows line[:, count − 1 − r :][:, :width] [H, S] for r < count, from a line of count + width − 1 numbers."""
    heads, length = line.shape
    if not isinstance(length, int):  # an exported length, whose products slices cannot compare
        return line[:, jnp.arange(count - 1, -1, -1)[:, None] + jnp.arange(width)[None]]
    repeated = jnp.broadcast_to(jnp.pad(line, ((0, 0), (0, 1)))[:, None], (heads, count, length + 1))
    shifted = repeated.reshape(heads, -1)[:, : count * length].reshape(heads, count, length)  # row r begins r earlier
    return shifted[:, :, count - 1 : count - 1 + width]
