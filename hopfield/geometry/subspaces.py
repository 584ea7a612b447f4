"""Subspaces of Rⁿ: principal angles between them, and their distance on the Grassmann manifold.

Subspaces are given by the columns of matrices [*b, n, r], linearly independent but not necessarily orthonormal; leading
axes *b broadcast, so that `grassmann_distance(u[:, None], u[None])` is the matrix of all pairs.

Source: Golub & Van Loan, Matrix Computations, §6.4.3; Edelman, Arias & Smith, SIAM J. Matrix Anal. 20, 303 (1998);
Knyazev & Argentati, SIAM J. Sci. Comput. 23, 2008 (2002) for the sines.
"""

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from hopfield._arguments import flag, integer, random_key, real_array
from hopfield._arrays import transposed
from hopfield._numerics import largest, power_of_two, safe_norm, tolerance, wide

Frame = Float[Array, "*b n r"]
CLEAR = 0.25
"""Angles at least this far from 0 and from π/2 are found equally well from the sine and from the cosine."""


def orthonormal_basis(columns: ArrayLike) -> Frame:
    """An orthonormal basis [*b, n, r] of the space spanned by linearly independent columns, by QR. NaN for others.

    Raises ValueError for fewer than two axes and for more columns than rows.
    """
    return _basis("columns", columns)


def _basis(name: str, columns: ArrayLike) -> Frame:
    columns = real_array(name, columns)
    if columns.ndim < 2 or not 0 < columns.shape[-1] <= columns.shape[-2]:
        raise ValueError(f"{name} must be [..., n, r] with 0 < r <= n, got shape {columns.shape}")
    columns = wide(columns)
    columns = columns / power_of_two(largest(jnp.abs(columns), axis=-2, keepdims=True))  # only directions count
    basis, triangle = jnp.linalg.qr(columns)
    size = jnp.abs(jnp.diagonal(triangle, axis1=-2, axis2=-1))
    least = columns.shape[-2] * float(jnp.finfo(basis.dtype).eps) * jnp.max(size, axis=-1)
    # Above zeros a NaN is passed over by the reflections, and stands in the triangle alone.
    independent = jax.lax.stop_gradient((jnp.min(size, axis=-1) > least) & jnp.isfinite(triangle).all((-2, -1)))
    return jnp.where(independent[..., None, None], basis, jnp.nan)


def principal_angles(first: ArrayLike, second: ArrayLike) -> Float[Array, "*b r"]:
    """Angles 0 ≤ θ_1 ≤ … ≤ θ_r ≤ π/2 between the spaces spanned by the columns, r the smaller of their dimensions.

        cos θ = singular values of QᵀP      sin θ = singular values of (I − Q Qᵀ) P

    Small angles are taken from the sine and large ones from the cosine, which keeps all of them to rounding. Gradients
    of symmetric functions of the angles are right also where angles are equal, and zero at angles of zero, which are
    kinks; second derivatives need distinct angles.

    Args:
        first, second: [*b, n, r] and [*b, n, s], linearly independent columns.

    Returns:
        Angles in radians, ascending (`scipy.linalg.subspace_angles` descends).

    Raises:
        ValueError for spaces of vectors of different length n.
    """
    first, second = _basis("first", first), _basis("second", second)
    if first.shape[-2] != second.shape[-2]:
        raise ValueError(f"second must have the n = {first.shape[-2]} rows of first, got {second.shape[-2]}")
    if first.shape[-1] < second.shape[-1]:
        first, second = second, first
    dtype = jnp.promote_types(first.dtype, second.dtype)
    leading = jnp.broadcast_shapes(first.shape[:-2], second.shape[:-2])
    return _angles(*(jnp.broadcast_to(q, leading + q.shape[-2:]).astype(dtype) for q in (first, second)))


def _outside(q: Array, p: Array) -> Array:
    """(I − Q Qᵀ) P, the part of P outside the span of Q. It is projected twice to remove rounding errors."""
    for _ in range(2):
        p = p - q @ (transposed(q) @ p)
    return p


def _from_sine(sines: Array, cosines: Array) -> tuple[Array, Array]:
    """Angles, and flags of small angles: the widest gap splits small from large, never two equal angles."""
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
    cosines = jnp.linalg.svd(transposed(q) @ p, compute_uv=False)
    return _from_sine(sines, cosines)[0]


@_angles.defjvp
def _angles_jvp(primals, tangents):
    """dθ_i = −n_i·dQ y_i − m_i·dP z_i with Q y_i and P z_i the principal vectors a_i and b_i, b = cos θ a + sin θ n.

    No formula divides by a difference of angles, so that equal angles do no harm.
    """
    (q, p), (dq, dp) = primals, tangents
    normal, sines, z_sine = jnp.linalg.svd(_outside(q, p), full_matrices=False)
    y_cosine, cosines, z_cosine = jnp.linalg.svd(transposed(q) @ p, full_matrices=False)
    angles, is_small = _from_sine(sines[..., ::-1], cosines)
    small, cos, sin = is_small[..., None, :], jnp.cos(angles)[..., None, :], jnp.sin(angles)[..., None, :]
    z = jnp.where(small, transposed(z_sine)[..., ::-1], transposed(z_cosine))
    b = p @ z
    y = jnp.where(small, transposed(q) @ b / jnp.where(small, cos, 1.0), y_cosine)
    a = q @ y
    normal = jnp.where(small, normal[..., ::-1], (b - cos * a) / jnp.where(small, 1.0, sin))
    normal = jnp.where(sin > tolerance(q.dtype), normal, 0.0)
    other = jnp.where(sin > tolerance(q.dtype), sin * a - cos * normal, 0.0)
    return angles, -jnp.sum(normal * (dq @ y), axis=-2) - jnp.sum(other * (dp @ z), axis=-2)


def grassmann_distance(first: ArrayLike, second: ArrayLike, *, normalised: bool = False) -> Float[Array, "*b"]:
    """Length of the geodesic between two subspaces, d = √Σ θ²; normalised by √r π/2, its largest value up to r = n/2.

    Of larger subspaces 2r − n angles are always 0. Random subspaces are not at 1: compare with `random_baseline`.
    """
    angles = principal_angles(first, second)
    scale = math.sqrt(angles.shape[-1]) * 0.5 * math.pi if flag("normalised", normalised) else 1.0
    return safe_norm(angles, axis=-1) / scale


class Baseline(NamedTuple):
    """Distances between subspaces that have nothing to do with each other.

    Example:
        >>> from hopfield.geometry import random_baseline
        >>> baseline = random_baseline(jax.random.key(0), 8, 2, samples=100)
        >>> bool(baseline.mean > 0.5)
        True
    """

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
    n, r = integer("n", n), integer("r", r)
    if r > n:
        raise ValueError(f"r must be between 1 and n = {n}, got {r}")
    samples = integer("samples", samples, 2)
    pairs = jax.random.normal(random_key("key", key), (2, samples, n, r))
    distances = grassmann_distance(pairs[0], pairs[1], normalised=normalised)
    return Baseline(jnp.mean(distances), jnp.std(distances, ddof=1))
