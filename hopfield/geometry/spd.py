"""Symmetric positive definite matrices with the affine-invariant metric tr(P⁻¹ U P⁻¹ V), batched over leading axes.

Every map P ↦ A P Aᵀ is an isometry. geomstats has it as `SPDAffineMetric`.

Source: Pennec, Fillard & Ayache, IJCV 66, 41 (2006); Sra & Hosseini, SIAM J. Optim. 25, 713 (2015) for the transport.
"""

from functools import partial

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from hopfield._arguments import real_array, real_rows
from hopfield._arrays import length
from hopfield._numerics import tolerance, wide
from hopfield.geometry._points import on_manifold
from hopfield.geometry._smooth import log_of_gram, of_spectrum, root_of

Matrix = Float[Array, "*b n n"]


def symmetric(matrix: Matrix) -> Matrix:
    """(A + Aᵀ)/2."""
    matrix = real_rows("matrix", matrix, 2)
    if matrix.shape[-1] != matrix.shape[-2]:
        raise ValueError(f"matrix must be square, got shape {matrix.shape}")
    return (matrix + jnp.swapaxes(matrix, -1, -2)) / 2


def as_symmetric(name: str, matrix: ArrayLike) -> Matrix:
    """A matrix, of 16 bits as float32. ValueError unless symmetric to rounding; a traced one that is not is NaN."""
    matrices = real_array(name, matrix)
    if matrices.ndim < 2 or matrices.shape[-1] != matrices.shape[-2]:
        raise ValueError(f"{name} must be square matrices [..., n, n], got shape {matrices.shape}")
    gap = jnp.max(jnp.abs(matrices - jnp.swapaxes(matrices, -1, -2)), axis=(-2, -1), keepdims=True, initial=0.0)
    size = jnp.max(jnp.abs(matrices), axis=(-2, -1), keepdims=True, initial=0.0)
    skew = gap > 10.0 * tolerance(matrices.dtype) * size
    return wide(on_manifold(name, matrices, skew, "be symmetric", gap))


def inner_product(tangent_vec_a: Matrix, tangent_vec_b: Matrix, base_point: Matrix) -> Float[Array, "*b"]:
    """tr(P⁻¹ U P⁻¹ V)."""
    tangent_vec_a, tangent_vec_b = (
        as_symmetric("tangent_vec_a", tangent_vec_a),
        as_symmetric("tangent_vec_b", tangent_vec_b),
    )
    base_point = as_symmetric("base_point", base_point)
    root = jnp.linalg.cholesky(base_point)
    first, second = (
        jnp.linalg.solve(root, jnp.swapaxes(jnp.linalg.solve(root, x), -1, -2)) for x in (tangent_vec_a, tangent_vec_b)
    )
    return jnp.sum(first * second, axis=(-2, -1))


def norm(vector: Matrix, base_point: Matrix) -> Float[Array, "*b"]:
    """√tr(P⁻¹ V P⁻¹ V)."""
    form = partial(root_of, lambda v: jnp.sum(v * v))
    return jnp.vectorize(form, signature="(n,n)->()")(whitened(vector, base_point))


def whitened(vector: Matrix, base_point: Matrix) -> Matrix:
    """Whitened vector L⁻¹ V L⁻ᵀ at P = L Lᵀ. Its squared entries add up to the squared norm of V."""
    vector, root = as_symmetric("vector", vector), jnp.linalg.cholesky(as_symmetric("base_point", base_point))
    return jnp.linalg.solve(root, jnp.swapaxes(jnp.linalg.solve(root, vector), -1, -2))


def exp(tangent_vec: Matrix, base_point: Matrix) -> Matrix:
    """P^½ exp(P^−½ V P^−½) P^½."""
    tangent_vec, (root, inverse) = as_symmetric("tangent_vec", tangent_vec), _roots(base_point)
    return symmetric(root @ of_spectrum(jnp.exp, inverse @ tangent_vec @ inverse, relative=False) @ root)


def log(point: Matrix, base_point: Matrix) -> Matrix:
    """P^½ log(P^−½ Q P^−½) P^½."""
    root, between = _cholesky_and_ratio(as_symmetric("base_point", base_point), as_symmetric("point", point))
    return symmetric(root @ log_of_gram(between) @ jnp.swapaxes(root, -1, -2))


def dist(point_a: Matrix, point_b: Matrix) -> Float[Array, "*b"]:
    """√(Σ ln² λ_i), λ the eigenvalues of A⁻¹ B."""
    _, between = _cholesky_and_ratio(as_symmetric("point_a", point_a), as_symmetric("point_b", point_b))
    grown = log_of_gram(between)
    return length(jnp.sum(grown * grown, axis=(-2, -1)))


def parallel_transport(tangent_vec: Matrix, base_point: Matrix, direction: Matrix) -> Matrix:
    """E U Eᵀ along the geodesic of `direction`, E = (Q P⁻¹)^½ with Q its end.

    E = P^½ exp(½ P^−½ V P^−½) P^−½, which keeps inner products because E P Eᵀ = Q.
    """
    tangent_vec, direction = as_symmetric("tangent_vec", tangent_vec), as_symmetric("direction", direction)
    root, inverse = _roots(base_point)
    half = of_spectrum(jnp.exp, inverse @ direction @ inverse / 2, relative=False)
    carrier = root @ half @ inverse
    return symmetric(carrier @ tangent_vec @ jnp.swapaxes(carrier, -1, -2))


def _roots(base_point: Matrix) -> tuple[Matrix, Matrix]:
    """P^½ and P^−½."""
    matrix = as_symmetric("base_point", base_point)
    return of_spectrum(jnp.sqrt, matrix), of_spectrum(jax.lax.rsqrt, matrix)


def _cholesky_and_ratio(first: Matrix, second: Matrix) -> tuple[Matrix, Matrix]:
    """L and L⁻¹ M at P = L Lᵀ and Q = M Mᵀ, whose singular values are the roots of the eigenvalues of P⁻¹ Q."""
    root, other = jnp.broadcast_arrays(jnp.linalg.cholesky(first), jnp.linalg.cholesky(second))
    return root, jax.lax.linalg.triangular_solve(root, other, left_side=True, lower=True)
