"""Geometry of a metric: indices up and down, lengths, angles, volumes, and how it looks in another basis.

Every function takes a `Metric` or a plain matrix g [N, K] for `g`.
"""

import functools

import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Bool, Float, Int

from hopfield._arguments import axis_of, real_array
from hopfield._arrays import length, product, same_rank, transposed
from hopfield._numerics import is_traced, largest, power_of_two, wide
from hopfield._pytrees import changed, unchecked
from hopfield.metrics._spectra import singular_values
from hopfield.metrics.composed import BlockDiagonal
from hopfield.metrics.forms import Diagonal, Euclidean, Full, LowRank, Metric, Scaled, as_metric, of_width

Form = Metric | ArrayLike
Vectors = Float[Array, "*axes"]


def _metric(g: Form) -> Metric:
    if (metric := as_metric(g, "g")) is None:
        raise ValueError("g must be a metric or a matrix [N, K], got None")
    return metric


def _square(g: Form) -> Array:
    """The matrices of a metric [*h, N, N]."""
    matrix = _metric(g).dense()
    if matrix.shape[-1] != matrix.shape[-2]:
        raise ValueError(f"g must be square, got [N, K] = {list(matrix.shape[-2:])}")
    return matrix


def _contract(matrix: Array, v: Vectors, index: int) -> Vectors:
    """matrix_ab v^...b... on axis `index` of v, for one matrix."""
    if matrix.ndim != 2:
        raise ValueError(f"g must be one matrix [N, K], got shape {matrix.shape}: map over its heads with jax.vmap")
    index = axis_of("index", index, (v := real_array("v", v)).ndim, "tensor v")
    if v.shape[index] != matrix.shape[1]:
        raise ValueError(f"v must have the width {matrix.shape[1]} of g along axis {index}, got {v.shape[index]}")
    return jnp.moveaxis(jnp.tensordot(matrix, v, ((1,), (index,))), 0, index)


def lower(v: Vectors, g: Form, index: int = -1) -> Vectors:
    """v_a = g_ab v^b on any one index of a tensor v, its axis `index`."""
    return _contract(_metric(g).dense(), v, index)


def raise_index(v: Vectors, g: Form, index: int = -1) -> Vectors:
    """v^a = g^ab v_b on any one index of a tensor v, g^ab the inverse of g. Raises as `inverse` does."""
    return _contract(inverse(g).dense(), v, index)


def inverse(g: Form) -> Metric:
    """The metric g^ab with g^ac g_cb = δ^a_b, of the same parametrisation where that can hold it.

    Under a trace, where values are not known, the inverse of a numerically singular matrix is NaN.

    Raises:
        ValueError: g is not square, or singular: its rank, to rounding, is less than N. W's shape alone bounds
            the rank of WᵀW.
    """
    metric = _metric(g)
    if isinstance(metric, Euclidean):
        return metric
    if isinstance(metric, Scaled):
        return changed(metric, scale=1.0 / jnp.asarray(metric.scale))
    if isinstance(metric, BlockDiagonal):
        return BlockDiagonal(*map(inverse, metric.metrics))
    if isinstance(metric, Diagonal):
        _refuse_singular(jnp.sum(metric.entries != 0, axis=-1), metric.widths[0])
        return changed(metric, entries=jnp.where(metric.entries == 0, jnp.nan, 1.0 / metric.entries))
    if isinstance(metric, LowRank) and metric.factor.shape[-2] < metric.factor.shape[-1]:
        least, width = metric.factor.shape[-2:]
        raise ValueError(f"g must be invertible, got WᵀW with W {[least, width]}, of rank {least} < {width} at most")
    matrix, ranks = _square(metric), rank(metric)
    _refuse_singular(ranks, matrix.shape[-1])
    regular = (ranks == matrix.shape[-1])[..., None, None]
    return unchecked(Full, matrix=jnp.where(regular, _inverse_matrix(metric, matrix), jnp.nan))


def _inverse_matrix(metric: Metric, matrix: Array) -> Array:
    if isinstance(metric, LowRank):  # (WᵀW)⁻¹ = W⁺ W⁺ᵀ
        pseudo = jnp.linalg.pinv(wide(metric.factor))
        return product(pseudo, transposed(pseudo))
    return jnp.linalg.inv(wide(matrix))


def _refuse_singular(rank: Array, width: int) -> None:
    if is_traced(rank):
        return
    if (least := int(np.min(np.asarray(rank)))) < width:
        raise ValueError(f"g must be invertible, got a singular metric of rank {least} < {width}")


def _rows(v: Vectors) -> Vectors:
    return v[None, :] if v.ndim == 1 else v


def inner(u: Vectors, v: Vectors, g: Form) -> Array:
    """u g v for vectors [N] and [K], or row by row for [*b, T, N] and [*b, T, K]."""
    u, v = real_array("u", u), real_array("v", v)
    metric = _metric(g)
    x, y = (of_width(name, _rows(w), n) for name, w, n in zip("uv", (u, v), metric.widths, strict=True))
    left, right = same_rank(metric.left(x), metric.right(y))
    products = jnp.sum(left * right, axis=-1)
    return products[..., 0] if u.ndim == v.ndim == 1 else products


def _pair(u: ArrayLike, v: ArrayLike) -> tuple[Array, Array]:
    """Two real arrays with the same number of axes. ValueError unless their shapes broadcast."""
    pair = same_rank(real_array("u", u), real_array("v", v))
    try:
        jnp.broadcast_shapes(*(w.shape for w in pair))
    except ValueError:
        raise ValueError(f"v must broadcast with u, of shape {np.shape(u)}, got shape {np.shape(v)}") from None
    return pair


def norm(v: Vectors, g: Form) -> Array:
    """‖v‖ = √(v g v) of vectors [*b, N]; NaN where v g v < 0; its gradient at zero is zero, its square smooth."""
    v, g = real_array("v", v), _metric(g)
    for width in g.widths:
        of_width("v", _rows(v), width)
    scale = power_of_two(largest(jnp.abs(v), axis=-1, keepdims=True))  # no square may overflow or vanish
    scale = jnp.ones_like(scale) if g.affine else scale
    square = inner(v / scale, v / scale, g)
    return jnp.multiply(*same_rank(scale[..., 0], length(square)))


def distance(u: Vectors, v: Vectors, g: Form) -> Array:
    """‖u − v‖ in the metric g, which must be free of biases."""
    u, v = _pair(u, v)
    return norm(u - v, g)


def angle(u: Vectors, v: Vectors, g: Form) -> Array:
    """Angle between vectors in radians, cos θ = u g v / (‖u‖ ‖v‖) with g symmetric; a right angle to the zero vector.

    Taken as 2 atan2(‖û − v̂‖, ‖û + v̂‖), which keeps its digits near 0 and π where the cosine loses them
    (Kahan 2006, "How futile are mindless assessments of roundoff", §12).
    """
    u, v = _pair(u, v)
    if u.ndim == 1:  # as rows, of which a metric of many heads makes one per head
        return angle(u[None], v[None], g)[..., 0]
    u, v = _unit(u, g), _unit(v, g)
    apart, together = norm(u - v, g), norm(u + v, g)
    none = (apart == 0) & (together == 0)  # both are zero
    return 2.0 * jnp.arctan2(*(jnp.where(none, 1.0, length) for length in (apart, together)))


def _unit(v: Vectors, g: Form) -> Vectors:
    length = norm(v, g)[..., None]
    return jnp.divide(*same_rank(v, jnp.where(length == 0, 1.0, length)))


def volume_element(g: Form) -> Array:
    """√|det g| [*h], by which dV = √|det g| dx¹…dxᴺ."""
    _square(g)
    return jnp.exp(0.5 * jnp.sum(jnp.log(singular_values(_metric(g))), axis=-1))


def symmetric_part(g: Form) -> Full:
    """½(g_ab + g_ba)."""
    matrix = _square(g)
    return unchecked(Full, matrix=0.5 * (matrix + transposed(matrix)))


def antisymmetric_part(g: Form) -> Full:
    """½(g_ab − g_ba), which adds nothing to x g x."""
    matrix = _square(g)
    return unchecked(Full, matrix=0.5 * (matrix - transposed(matrix)))


def _rounding(matrix: Array) -> Array:
    """Largest entry times N units in the last place [*h]."""
    return jnp.max(jnp.abs(matrix), axis=(-2, -1)) * matrix.shape[-1] * jnp.finfo(matrix.dtype).eps


def is_symmetric(g: Form) -> Bool[Array, "*h"]:
    """True if g_ab = g_ba to rounding."""
    matrix = _square(g)
    apart = jnp.abs(matrix - transposed(matrix))
    return jnp.all(apart <= _rounding(matrix)[..., None, None], axis=(-2, -1))


def is_positive_definite(g: Form) -> Bool[Array, "*h"]:
    """True if g is symmetric with every eigenvalue above rounding, so that it measures lengths."""
    metric, matrix = _metric(g), _square(g)
    if isinstance(metric, BlockDiagonal):
        return functools.reduce(jnp.logical_and, map(is_positive_definite, metric.metrics))
    if isinstance(metric, LowRank):
        return rank(metric) == matrix.shape[-1]
    if isinstance(metric, Diagonal):
        return jnp.all(metric.entries > 0, axis=-1)
    return is_symmetric(matrix) & (eigenvalues(matrix)[..., 0] > _rounding(matrix))


def eigenvalues(g: Form) -> Float[Array, "*h N"]:
    """Eigenvalues of the symmetric part ½(g_ab + g_ba), which all lengths come from, in rising order."""
    return jnp.linalg.eigvalsh(wide(symmetric_part(g).matrix))


def rank(g: Form) -> Int[Array, "*h"]:
    """Number of singular values of g above rounding. It is −1 where g holds NaN."""
    singular = singular_values(_metric(g))
    return jnp.where(jnp.isnan(singular).any(axis=-1), -1, jnp.sum(singular > 0, axis=-1))


def condition_number(g: Form) -> Float[Array, "*h"]:
    """Largest over smallest singular value of g, infinite for a singular one."""
    most, least = jnp.moveaxis(singular_values(_metric(g))[..., (0, -1)], -1, 0)
    return jnp.where(least == 0, jnp.inf, most / jnp.where(least == 0, 1.0, least))


def change_of_basis(g: Form, basis: ArrayLike, key_basis: ArrayLike | None = None) -> Metric:
    """g'_ab = B^c_a g_cd C^d_b in new coordinates, x = B x' and y = C y', the columns of B and C being the new axes.

    Args:
        g: metric without biases.
        basis: B [N, N'].
        key_basis: C [K, K'], B where None: the same change for queries and keys.

    Returns:
        A low-rank metric with the factor W B if g is one and C is B, else a full one.
    """
    metric = _metric(g)
    b = real_array("basis", basis)
    c = b if key_basis is None else real_array("key_basis", key_basis)
    if metric.affine:
        raise ValueError("g must be without biases, got a metric with biases: change the basis of its projections")
    for name, matrix, width in (("basis", b, metric.widths[0]), ("key_basis", c, metric.widths[1])):
        if matrix.ndim != 2 or matrix.shape[0] != width:
            raise ValueError(f"{name} must be a matrix of {width} rows, the metric's width, got shape {matrix.shape}")
    if isinstance(metric, LowRank) and key_basis is None:
        return unchecked(LowRank, factor=product(metric.factor, b))
    return unchecked(Full, matrix=product(product(b.T, metric.dense()), c))


def components(v: Vectors, basis: ArrayLike) -> Vectors:
    """Components x' of vectors [*b, N] in the axes that are the columns of a basis [N, N]: x = B x'.

    Raises:
        ValueError: columns that are linearly dependent; NaN where traced.
    """
    return _contract(_square(inverse(unchecked(Full, matrix=_square(basis)))), v, -1)
