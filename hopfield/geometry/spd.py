"""Symmetric positive definite matrices with the affine-invariant metric tr(P⁻¹ U P⁻¹ V), batched over leading axes.

Every map P ↦ A P Aᵀ is an isometry. geomstats has it as `SPDAffineMetric`.

Source: Pennec, Fillard & Ayache, IJCV 66, 41 (2006); Sra & Hosseini, SIAM J. Optim. 25, 713 (2015) for the transport.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from hopfield.geometry._smooth import length, of_spectrum

Matrix = Float[Array, "*b n n"]


def symmetric(matrix: Matrix) -> Matrix:
    """(A + Aᵀ)/2."""
    return (matrix + jnp.swapaxes(matrix, -1, -2)) / 2


def inner_product(tangent_vec_a: Matrix, tangent_vec_b: Matrix, base_point: Matrix) -> Float[Array, "*b"]:
    """tr(P⁻¹ U P⁻¹ V)."""
    first, second = (jnp.linalg.solve(base_point, x) for x in (tangent_vec_a, tangent_vec_b))
    return jnp.sum(first * jnp.swapaxes(second, -1, -2), axis=(-2, -1))


def norm(vector: Matrix, base_point: Matrix) -> Float[Array, "*b"]:
    """√tr(P⁻¹ V P⁻¹ V)."""
    root = jnp.linalg.cholesky(base_point)
    inner = jnp.linalg.solve(root, jnp.swapaxes(jnp.linalg.solve(root, vector), -1, -2))
    return length(jnp.sum(inner * inner, axis=(-2, -1)))


def exp(tangent_vec: Matrix, base_point: Matrix) -> Matrix:
    """P^½ exp(P^−½ V P^−½) P^½."""
    root, inverse = _roots(base_point)
    return symmetric(root @ of_spectrum(jnp.exp, inverse @ tangent_vec @ inverse, relative=False) @ root)


def log(point: Matrix, base_point: Matrix) -> Matrix:
    """P^½ log(P^−½ Q P^−½) P^½."""
    root, inverse = _roots(base_point)
    return symmetric(root @ of_spectrum(jnp.log, inverse @ point @ inverse) @ root)


def dist(point_a: Matrix, point_b: Matrix) -> Float[Array, "*b"]:
    """√(Σ ln² λ_i), λ the eigenvalues of A⁻¹ B."""
    root = jnp.linalg.cholesky(point_a)
    inner = jnp.linalg.solve(root, jnp.swapaxes(jnp.linalg.solve(root, point_b), -1, -2))
    grown = of_spectrum(jnp.log, inner)
    return length(jnp.sum(grown * grown, axis=(-2, -1)))


def parallel_transport(tangent_vec: Matrix, base_point: Matrix, direction: Matrix) -> Matrix:
    """E U Eᵀ along the geodesic of `direction`, E = (Q P⁻¹)^½ with Q its end.

    E = P^½ exp(½ P^−½ V P^−½) P^−½, which keeps inner products because E P Eᵀ = Q.
    """
    root, inverse = _roots(base_point)
    half = of_spectrum(jnp.exp, inverse @ direction @ inverse / 2, relative=False)
    carrier = root @ half @ inverse
    return symmetric(carrier @ tangent_vec @ jnp.swapaxes(carrier, -1, -2))


def _roots(matrix: Matrix) -> tuple[Matrix, Matrix]:
    """P^½ and P^−½."""
    return of_spectrum(jnp.sqrt, matrix), of_spectrum(jax.lax.rsqrt, matrix)
