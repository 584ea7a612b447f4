"""Subspaces and bilinear forms of low rank: how far apart two attention heads are.

A head compares x and y by x J y with J = W_Q W_Kᵀ = U Σ Vᵀ: a subspace U for queries, one V for keys and the coupling
strengths Σ, a point of Gr(r, n) × Gr(r, n) × Rʳ. Subspaces are given by the columns of matrices [*b, n, r], linearly
independent but not necessarily orthonormal; leading axes *b broadcast, so that `distance(u[:, None], u[None])` is the
matrix of all pairs. J itself, [n, n], is never formed.

Source: Golub & Van Loan, Matrix Computations, §6.4.3; Edelman, Arias & Smith, SIAM J. Matrix Anal. 20, 303 (1998);
Knyazev & Argentati, SIAM J. Sci. Comput. 23, 2008 (2002) for the sines.
"""

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from hopfield._checks import random_key, whole
from hopfield._numerics import accumulation_dtype, safe_norm, tolerance

Frame = Float[Array, "*b n r"]
CLEAR = 0.25
"""Angles at least this far from 0 and from π/2 are found equally well from the sine and from the cosine."""


def orthonormal_basis(columns: ArrayLike) -> Frame:
    """An orthonormal basis [*b, n, r] of the space spanned by linearly independent columns, by QR.

    Raises ValueError for fewer than two axes and for more columns than rows.
    """
    columns = jnp.asarray(columns)
    if columns.ndim < 2 or not 0 < columns.shape[-1] <= columns.shape[-2]:
        raise ValueError(f"columns must be [..., n, r] with 0 < r <= n, got shape {columns.shape}")
    return jnp.linalg.qr(columns.astype(accumulation_dtype(columns.dtype)))[0]


def principal_angles(first: ArrayLike, second: ArrayLike) -> Float[Array, "*b r"]:
    """Angles 0 ≤ θ_1 ≤ … ≤ θ_r ≤ π/2 between the spaces spanned by the columns, r that of the smaller.

        cos θ = singular values of QᵀP      sin θ = singular values of (I − Q Qᵀ) P

    Small angles are taken from the sine and large ones from the cosine, which keeps all of them to rounding. The
    gradient is that of any symmetric function of the angles also where some are equal, and zero at angles of zero,
    where there is a kink; second derivatives need distinct angles.

    Args:
        first, second: [*b, n, r] and [*b, n, s], linearly independent columns.

    Returns:
        Angles in radians, ascending (`scipy.linalg.subspace_angles` descends).

    Raises:
        ValueError for spaces of vectors of different length n.
    """
    first, second = orthonormal_basis(first), orthonormal_basis(second)
    if first.shape[-2] != second.shape[-2]:
        raise ValueError(f"second must have the n = {first.shape[-2]} rows of first, got {second.shape[-2]}")
    if first.shape[-1] < second.shape[-1]:
        first, second = second, first
    dtype = jnp.promote_types(first.dtype, second.dtype)
    leading = jnp.broadcast_shapes(first.shape[:-2], second.shape[:-2])
    return _angles(*(jnp.broadcast_to(q, leading + q.shape[-2:]).astype(dtype) for q in (first, second)))


def _transposed(matrix: Array) -> Array:
    return jnp.swapaxes(matrix, -1, -2)


def _outside(q: Array, p: Array) -> Array:
    """(I − Q Qᵀ) P, what of P lies outside Q; projected twice, for the rounding of the first to go."""
    for _ in range(2):
        p = p - q @ (_transposed(q) @ p)
    return p


def _from_sine(sines: Array, cosines: Array) -> tuple[Array, Array]:
    """Angles, and which of them are small: the split is put into the widest gap, never between equal angles."""
    small = jnp.arcsin(jnp.clip(sines, 0.0, 1.0))
    large = jnp.arccos(jnp.clip(cosines, 0.0, 1.0))
    ends = jnp.full_like(small[..., :1], CLEAR)
    placed = jnp.clip(0.5 * (small + large), CLEAR, 0.5 * math.pi - CLEAR)
    gaps = jnp.diff(jnp.concatenate([ends, placed, 0.5 * math.pi - ends], axis=-1), axis=-1)
    split = jnp.argmax(gaps, axis=-1, keepdims=True)
    is_small = jnp.broadcast_to(jnp.arange(small.shape[-1]), small.shape) < jnp.broadcast_to(split, small.shape)
    return jnp.where(is_small, small, large), is_small


@jax.custom_jvp
def _angles(q: Array, p: Array) -> Array:
    """Principal angles of orthonormal bases, the second with no more columns than the first."""
    sines = jnp.linalg.svd(_outside(q, p), compute_uv=False)[..., ::-1]
    cosines = jnp.linalg.svd(_transposed(q) @ p, compute_uv=False)
    return _from_sine(sines, cosines)[0]


@_angles.defjvp
def _angles_jvp(primals, tangents):
    """dθ_i = −n_i·dQ y_i − m_i·dP z_i with Q y_i and P z_i the principal vectors a_i and b_i, b = cos θ a + sin θ n.

    No difference of angles is divided by, so that equal ones do no harm.
    """
    (q, p), (dq, dp) = primals, tangents
    normal, sines, z_sine = jnp.linalg.svd(_outside(q, p), full_matrices=False)
    y_cosine, cosines, z_cosine = jnp.linalg.svd(_transposed(q) @ p, full_matrices=False)
    angles, is_small = _from_sine(sines[..., ::-1], cosines)
    small, cos, sin = is_small[..., None, :], jnp.cos(angles)[..., None, :], jnp.sin(angles)[..., None, :]
    z = jnp.where(small, _transposed(z_sine)[..., ::-1], _transposed(z_cosine))
    b = p @ z
    y = jnp.where(small, _transposed(q) @ b / jnp.where(small, cos, 1.0), y_cosine)
    a = q @ y
    normal = jnp.where(small, normal[..., ::-1], (b - cos * a) / jnp.where(small, 1.0, sin))
    normal = jnp.where(sin > tolerance(q.dtype), normal, 0.0)
    other = jnp.where(sin > tolerance(q.dtype), sin * a - cos * normal, 0.0)
    return angles, -jnp.sum(normal * (dq @ y), axis=-2) - jnp.sum(other * (dp @ z), axis=-2)


def grassmann_distance(first: ArrayLike, second: ArrayLike, *, normalised: bool = False) -> Float[Array, "*b"]:
    """Length of the geodesic between two subspaces, d = √Σ θ²; normalised by its largest value √r π/2 to [0, 1].

    Random subspaces are not at 1: compare with `random_baseline`.
    """
    angles = principal_angles(first, second)
    scale = math.sqrt(angles.shape[-1]) * 0.5 * math.pi if normalised else 1.0
    return safe_norm(angles, axis=-1) / scale


class Baseline(NamedTuple):
    """Distances between subspaces that have nothing to do with each other."""

    mean: Float[Array, ""]
    deviation: Float[Array, ""]
    """Standard deviation of one distance, not of the mean."""


def random_baseline(key: Array, n: int, r: int, *, samples: int = 64, normalised: bool = True) -> Baseline:
    """Mean and standard deviation of the Grassmann distance between independent uniform r-dimensional subspaces of Rⁿ.

    Args:
        key: random key.
        n, r: 1 ≤ r ≤ n.
        samples: pairs drawn, at least 2.
        normalised: as for `grassmann_distance`.

    Raises:
        ValueError for n, r or samples out of range.
    """
    if not 1 <= r <= n:
        raise ValueError(f"r must be between 1 and n = {n}, got {r}")
    samples = whole("samples", samples, 2)
    pairs = jax.random.normal(random_key("key", key), (2, samples, n, r))
    distances = grassmann_distance(pairs[0], pairs[1], normalised=normalised)
    return Baseline(jnp.mean(distances), jnp.std(distances, ddof=1))


class FactoredForm(NamedTuple):
    """A bilinear form J = left diag(values) rightᵀ. Build with `factored`."""

    left: Float[Array, "*b n r"]
    """U, orthonormal: where queries are read."""
    values: Float[Array, "*b r"]
    """Σ ≥ 0, descending: how strongly the directions are coupled."""
    right: Float[Array, "*b k r"]
    """V, orthonormal: where keys are read."""


def factored(
    query: ArrayLike, key: ArrayLike, query_bias: ArrayLike | None = None, key_bias: ArrayLike | None = None
) -> FactoredForm:
    """Singular value decomposition of J = W_Q W_Kᵀ from QR of its factors, in O(n r²) instead of O(n³).

    Args:
        query, key: W_Q [*b, n, r] and W_K [*b, k, r] with r ≤ n and r ≤ k, so that q = x W_Q and k = y W_K.
        query_bias, key_bias: [*b, r]; either of them makes J act on vectors with a 1 appended, of shape [n + 1, k + 1].

    Raises:
        ValueError for shapes that do not fit.

    Source: for the appended 1 the block matrix [[W_Q W_Kᵀ, W_Q b_K], [b_Q W_Kᵀ, b_Q·b_K]].
    """
    query, key = jnp.asarray(query), jnp.asarray(key)
    if query.ndim < 2 or key.ndim < 2 or query.shape[-1] != key.shape[-1]:
        raise ValueError(f"query and key must be [..., n, r] and [..., k, r], got shapes {query.shape}, {key.shape}")
    if query_bias is not None or key_bias is not None:
        query, key = _with_bias("query_bias", query, query_bias), _with_bias("key_bias", key, key_bias)
    if query.shape[-1] > min(query.shape[-2], key.shape[-2]):
        raise ValueError(f"query and key must have at most as many columns as rows, got {query.shape}, {key.shape}")
    dtype = accumulation_dtype(jnp.promote_types(query.dtype, key.dtype))
    (u, r_query), (v, r_key) = jnp.linalg.qr(query.astype(dtype)), jnp.linalg.qr(key.astype(dtype))
    inner_left, values, inner_right = jnp.linalg.svd(r_query @ _transposed(r_key), full_matrices=False)
    return FactoredForm(u @ inner_left, values, v @ _transposed(inner_right))


def _with_bias(name: str, weights: Array, bias: ArrayLike | None) -> Array:
    shape = (*weights.shape[:-2], weights.shape[-1])
    bias = jnp.zeros(shape, weights.dtype) if bias is None else jnp.asarray(bias)
    if bias.shape != shape:
        raise ValueError(f"{name} must have shape {shape}, got {bias.shape}")
    return jnp.concatenate([weights, bias[..., None, :].astype(weights.dtype)], axis=-2)


def product_distance(
    first: FactoredForm, second: FactoredForm, *, weights: tuple[float, float, float] = (1.0, 1.0, 1.0)
) -> Float[Array, "*b"]:
    """d² = w_0 d(U, U')² + w_1 d(V, V')² + w_2 ‖Σ − Σ'‖² on Gr × Gr × Rʳ.

    The terms differ in unit: angles do not grow with the weights of a head, its singular values do. Forms whose
    difference is small can be far apart here, since the order and mixing of near-equal values play no part in J.
    Raises ValueError for forms of different rank.
    """
    if first.values.shape[-1] != second.values.shape[-1]:
        raise ValueError(f"second must have rank {first.values.shape[-1]}, got {second.values.shape[-1]}")
    parts = (
        grassmann_distance(first.left, second.left),
        grassmann_distance(first.right, second.right),
        safe_norm(jnp.subtract(*jnp.broadcast_arrays(first.values, second.values)), axis=-1),
    )
    scaled = [math.sqrt(weight) * part for weight, part in zip(weights, parts, strict=True)]
    return safe_norm(jnp.stack(jnp.broadcast_arrays(*scaled), axis=-1), axis=-1)


def frobenius_distance(first: FactoredForm, second: FactoredForm) -> Float[Array, "*b"]:
    """‖J − J'‖_F, with no cancellation for forms that are nearly equal."""
    return _product_norm(*_difference(first, second))


def data_weighted_distance(
    first: FactoredForm, second: FactoredForm, queries: ArrayLike, keys: ArrayLike | None = None
) -> Float[Array, "*b"]:
    """‖C_q^½ (J − J') C_k^½‖_F with C = XᵀX / T: the root mean square difference of the scores of all pairs of rows.

    Args:
        first, second: forms [n, k] (with biases, the rows need the 1 appended).
        queries: rows X [T, n] that the forms are compared on.
        keys: rows [S, k]; None for the queries.

    Raises:
        ValueError for rows of another width.
    """
    left, right = _difference(first, second)
    sides = []
    for name, rows, side in (("queries", queries, left), ("keys", queries if keys is None else keys, right)):
        rows = jnp.asarray(rows)
        if rows.ndim != 2 or rows.shape[-1] != side.shape[-2]:
            raise ValueError(f"{name} must be rows [T, {side.shape[-2]}], got shape {rows.shape}")
        # The r factor stands for the rows: ‖X D‖ = ‖R D‖, and R is no larger than the form is wide.
        sides.append(jnp.einsum("tn,...nr->...tr", jnp.linalg.qr(rows, mode="r"), side) / math.sqrt(rows.shape[0]))
    return _product_norm(*sides)


def _difference(first: FactoredForm, second: FactoredForm) -> tuple[Array, Array]:
    """Factors of J − J' = [U Σ, −U' Σ'] [V, V']ᵀ."""
    if (first.left.shape[-2], first.right.shape[-2]) != (second.left.shape[-2], second.right.shape[-2]):
        widths = (first.left.shape[-2], first.right.shape[-2])
        raise ValueError(f"second must be a form {widths}, got {(second.left.shape[-2], second.right.shape[-2])}")
    leading = jnp.broadcast_shapes(first.values.shape[:-1], second.values.shape[:-1])
    scaled = (first.left * first.values[..., None, :], -second.left * second.values[..., None, :])
    pairs = (scaled, (first.right, second.right))
    joined = [[jnp.broadcast_to(part, leading + part.shape[-2:]) for part in pair] for pair in pairs]
    return jnp.concatenate(joined[0], axis=-1), jnp.concatenate(joined[1], axis=-1)


@jax.custom_jvp
def _product_norm(a: Array, b: Array) -> Array:
    """‖A Bᵀ‖_F through R factors, whose product is small where A Bᵀ is: a trace of Gram matrices would cancel."""
    small_a, small_b = jnp.linalg.qr(a, mode="r"), jnp.linalg.qr(b, mode="r")
    return safe_norm((small_a @ _transposed(small_b)).reshape((*a.shape[:-2], -1)), axis=-1)


@_product_norm.defjvp
def _product_norm_jvp(primals, tangents):
    """d‖D‖ = ⟨D, dD⟩ / ‖D‖ by Gram matrices, since QR has no derivative at dependent columns; zero at D = 0."""
    (a, b), (da, db) = primals, tangents
    norm = _product_norm(a, b)
    grams = [_transposed(x) @ y for x, y in ((a, a), (a, da), (b, b), (b, db))]
    slope = jnp.sum(grams[1] * grams[2] + grams[0] * grams[3], axis=(-2, -1))
    return norm, jnp.where(norm > 0, slope / jnp.where(norm > 0, norm, 1.0), 0.0)
