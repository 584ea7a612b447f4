"""Gaussians of one mean, points Σ [n, n]: half the affine-invariant metric, ½ tr(Σ⁻¹ U Σ⁻¹ V).

Source: Skovgaard, Scand. J. Stat. 11, 211 (1984). geomstats: `CenteredNormalMetric`.
"""

import jax.numpy as jnp
from jaxtyping import Array, Float

from hopfield._arguments import public
from hopfield.geometry import spd
from hopfield.geometry.spd import exp, log, parallel_transport

__all__ = ["dist", "exp", "inner_product", "log", "norm", "parallel_transport"]
__dir__ = public(__all__)
Matrix = Float[Array, "*b n n"]


def inner_product(tangent_vec_a: Matrix, tangent_vec_b: Matrix, base_point: Matrix) -> Float[Array, "*b"]:
    """½ tr(Σ⁻¹ U Σ⁻¹ V)."""
    return spd.inner_product(tangent_vec_a, tangent_vec_b, base_point) / 2


def norm(vector: Matrix, base_point: Matrix) -> Float[Array, "*b"]:
    """√(½ tr(Σ⁻¹ V Σ⁻¹ V))."""
    return spd.norm(vector, base_point) / jnp.sqrt(2.0)


def dist(point_a: Matrix, point_b: Matrix) -> Float[Array, "*b"]:
    """√(½ Σ ln² λ_i), λ the eigenvalues of A⁻¹ B."""
    return spd.dist(point_a, point_b) / jnp.sqrt(2.0)
