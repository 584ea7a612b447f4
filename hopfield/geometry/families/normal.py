"""Gaussians in n dimensions, points (μ [n], Σ [n, n]), mean and covariance both free.

    g = uᵀ Σ⁻¹ v + ½ tr(Σ⁻¹ U Σ⁻¹ V)      for tangent vectors (u, U), (v, V)

Every affine map of the space, (μ, Σ) ↦ (A μ + b, A Σ Aᵀ), is an isometry, so that all geodesics follow from those that
start at (0, I). Geodesics from a point have a closed form; the geodesic between two given points has none and is solved
for.

Source: Skovgaard, Scand. J. Stat. 11, 211 (1984); Eriksen (1987) and Calvo & Oller, Statistics & Decisions 9, 119
(1991) for geodesics; Kobayashi, Geodesics of multivariate normal distributions and a Toda lattice type Lax pair
(2023), for their lift to positive definite matrices.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from hopfield._arguments import real_vector
from hopfield._numerics import wide
from hopfield.geometry import spd
from hopfield.geometry._smooth import root_of
from hopfield.geometry.geodesics import LogInfo, shoot

WARM = 30
"""Corrections of the start at most."""


class Normal(NamedTuple):
    """A Gaussian, or a tangent vector at one: any pair (mean, covariance) will do in its place."""

    mean: Float[Array, "n"]
    covariance: Float[Array, "n n"]


def inner_product(tangent_vec_a: Normal, tangent_vec_b: Normal, base_point: Normal) -> Float[Array, ""]:
    """uᵀ Σ⁻¹ v + ½ tr(Σ⁻¹ U Σ⁻¹ V)."""
    pairs = {"tangent_vec_a": tangent_vec_a, "tangent_vec_b": tangent_vec_b, "base_point": base_point}
    (u, first), (v, second), (_, covariance) = _as_normals(**pairs)
    return u @ jnp.linalg.solve(covariance, v) + spd.inner_product(first, second, covariance) / 2


def norm(vector: Normal, base_point: Normal) -> Float[Array, ""]:
    """√(vᵀ Σ⁻¹ v + ½ tr(Σ⁻¹ V Σ⁻¹ V))."""
    (mean, along), (_, covariance) = _as_normals(vector=vector, base_point=base_point)
    white = jnp.linalg.solve(jnp.linalg.cholesky(covariance), mean)
    parts = white, spd.whitened(along, covariance) / jnp.sqrt(2.0)
    return root_of(lambda v: jnp.sum(v[0] * v[0]) + jnp.sum(v[1] * v[1]), parts)


def exp(tangent_vec: Normal, base_point: Normal) -> Normal:
    """End of the geodesic: with (x, B) the velocity at (0, I) and A = [[−B, x, 0], [xᵀ, 0, −xᵀ], [0, −x, B]],

    exp A = [[Δ, δ, ·], …]      Σ = Δ⁻¹      μ = Δ⁻¹ δ
    """
    return _exp(*_as_normals(tangent_vec=tangent_vec, base_point=base_point))


def log(
    point: Normal, base_point: Normal, *, tolerance: ArrayLike = 1e-12, max_iterations: ArrayLike = 50
) -> tuple[Normal, LogInfo]:
    """The tangent vector at `base_point` whose geodesic ends at `point`.

    By Newton steps from the geodesic between Kobayashi's lifts of both to matrices [2n + 1, 2n + 1]. That is the answer
    itself for n = 1, and in general but for the n(n − 1)/2 angles of a rotation that only the solution knows.

    Returns:
        The vector, and its residual, the number of Newton steps, at most `max_iterations`, and whether it converged.
        The residual is the miss of the end in coordinates in which `base_point` is (0, I), relative to 1 + its size.
        In 40 random directions of 2, 4 and 8 dimensions each, all converged up to a distance of 5, and 93 % at 6.
    """
    return _log(*_as_normals(point=point, base_point=base_point), tolerance, max_iterations)


def dist(
    point_a: Normal, point_b: Normal, *, tolerance: ArrayLike = 1e-12, max_iterations: ArrayLike = 50
) -> Float[Array, ""]:
    """Length of the geodesic that `log` finds. NaN if `log` has not converged."""
    tangent_vec, info = log(point_b, point_a, tolerance=tolerance, max_iterations=max_iterations)
    return jnp.where(info.converged, norm(tangent_vec, point_a), jnp.nan)


def _as_normals(**pairs: Normal) -> list[Normal]:
    """Pairs of a mean [n] and a matrix [n, n], of one n. ValueError for others."""
    found = []
    for name, (mean, matrix) in pairs.items():
        mean = wide(real_vector(f"{name}.mean", mean, like=found[0].mean if found else None))
        matrix = spd.as_symmetric(f"{name}.covariance", matrix)
        if matrix.shape != (mean.size, mean.size):
            raise ValueError(f"{name}.covariance must be [{mean.size}, {mean.size}], got shape {matrix.shape}")
        found.append(Normal(mean, matrix))
    return found


@jax.jit
def _exp(tangent_vec: Normal, base_point: Normal) -> Normal:
    root = jnp.linalg.cholesky(base_point[1])
    velocity = Normal(_solve_lower(root, tangent_vec[0][:, None])[:, 0], _solve_both_sides(root, tangent_vec[1]))
    mean, covariance = _from_standard(velocity)
    return Normal(base_point[0] + root @ mean, spd.symmetric(root @ covariance @ root.T))


@jax.jit
def _log(point: Normal, base_point: Normal, tolerance: ArrayLike, max_iterations: ArrayLike) -> tuple[Normal, LogInfo]:
    root = jnp.linalg.cholesky(base_point[1])
    mean = _solve_lower(root, (point[0] - base_point[0])[:, None])[:, 0]
    target = Normal(mean, _solve_both_sides(root, point[1]))
    scale = 1.0 + jax.lax.stop_gradient(jnp.linalg.norm(_packed(target)))

    def miss(flat: Array) -> Array:
        return (_packed(_from_standard(_unpacked(flat, mean.size))) - _packed(target)) / scale

    start = _start(jax.lax.stop_gradient(target))
    flat, info = shoot(miss, start, tolerance=tolerance, max_iterations=max_iterations)
    standard = _unpacked(flat, mean.size)
    return Normal(root @ standard.mean, spd.symmetric(root @ standard.covariance @ root.T)), info


def _start(target: Normal) -> Array:
    """Initial velocity for shooting: the lifted logarithm, corrected by the gap at its end while the gap shrinks."""
    n, wanted = target.mean.size, _packed(_lifted_log(target))

    def step(state):
        count, best, gap, tried, _ = state
        lacking = wanted - _packed(_lifted_log(_from_standard(_unpacked(tried, n))))
        distance = jnp.linalg.norm(lacking)
        nearer = distance < gap
        best, gap = jnp.where(nearer, tried, best), jnp.where(nearer, distance, gap)
        return count + 1, best, gap, tried + lacking, nearer

    def unfinished(state):
        return (state[0] < WARM) & state[4] & (state[2] > 1e-2)

    state = (0, wanted, jnp.asarray(jnp.inf, wanted.dtype), wanted, jnp.array(True))
    return jax.lax.while_loop(unfinished, step, state)[1]


def _from_standard(velocity: Normal) -> Normal:
    """End of the geodesic from (0, I)."""
    x, b = velocity
    n, zero = x.size, jnp.zeros_like(b)
    column, corner = x[:, None], jnp.zeros((1, 1), b.dtype)
    matrix = jnp.block([[-b, column, zero], [column.T, corner, -column.T], [zero, -column, b]])
    grown = jax.scipy.linalg.expm(matrix)
    covariance = jnp.linalg.inv(spd.symmetric(grown[:n, :n]))
    return Normal(covariance @ grown[:n, n], spd.symmetric(covariance))


def _lifted_log(target: Normal) -> Normal:
    """Velocity at (0, I) of the lifted geodesic: log G = A up to rotations, G = M diag(Σ⁻¹, 1, Σ) Mᵀ."""
    mean, covariance = target
    n, dtype = mean.size, mean.dtype
    eye, zero = jnp.eye(n, dtype=dtype), jnp.zeros((n, n), dtype)
    column, one = mean[:, None], jnp.ones((1, 1), dtype)
    lower = jnp.block(
        [[eye, 0 * column, zero], [column.T, one, 0 * column.T], [-0.5 * jnp.outer(mean, mean), -column, eye]]
    )
    middle = jax.scipy.linalg.block_diag(jnp.linalg.inv(covariance), one, covariance)
    grown = spd.log(spd.symmetric(lower @ middle @ lower.T), jnp.eye(2 * n + 1, dtype=dtype))
    return Normal(grown[:n, n], (grown[n + 1 :, n + 1 :] - grown[:n, :n]) / 2)


def _packed(point: Normal) -> Array:
    return jnp.concatenate([point[0], point[1][jnp.tril_indices(point[0].size)]])


def _unpacked(flat: Array, n: int) -> Normal:
    lower = jnp.zeros((n, n), flat.dtype).at[jnp.tril_indices(n)].set(flat[n:])
    return Normal(flat[:n], lower + lower.T - jnp.diag(jnp.diag(lower)))


def _solve_lower(root: Array, columns: Array) -> Array:
    return jax.scipy.linalg.solve_triangular(root, columns, lower=True)


def _solve_both_sides(root: Array, matrix: Array) -> Array:
    """L⁻¹ M L⁻ᵀ."""
    return spd.symmetric(_solve_lower(root, _solve_lower(root, matrix).T))
