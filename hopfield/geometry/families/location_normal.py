"""Gaussians of one covariance Σ, points μ [n]: flat, with the metric Σ⁻¹.

Source: Mahalanobis 1936.
"""

import jax.numpy as jnp
from jaxtyping import Array, Float

from hopfield._arguments import real_array
from hopfield._numerics import wide
from hopfield.geometry._points import alike
from hopfield.geometry._smooth import root_of
from hopfield.geometry.spd import as_symmetric

Point = Float[Array, "n"]
Covariance = Float[Array, "n n"]


def metric_matrix(base_point: Point, covariance: Covariance) -> Float[Array, "n n"]:
    """Σ⁻¹, the same everywhere."""
    del base_point
    inner = jnp.linalg.inv(jnp.linalg.cholesky(as_symmetric("covariance", covariance)))
    return inner.T @ inner


def inner_product(
    tangent_vec_a: Point, tangent_vec_b: Point, base_point: Point, covariance: Covariance
) -> Float[Array, ""]:
    """uᵀ Σ⁻¹ v."""
    del base_point
    covariance = as_symmetric("covariance", covariance)
    first, second, _ = alike(tangent_vec_a=tangent_vec_a, tangent_vec_b=tangent_vec_b, covariance=covariance)
    root = jnp.linalg.cholesky(covariance)
    return jnp.linalg.solve(root, first) @ jnp.linalg.solve(root, second)


def norm(vector: Point, base_point: Point, covariance: Covariance) -> Float[Array, ""]:
    """√(vᵀ Σ⁻¹ v)."""
    del base_point
    vector, covariance = alike(vector=vector, covariance=as_symmetric("covariance", covariance))
    white = jnp.linalg.solve(jnp.linalg.cholesky(covariance), vector)
    return root_of(lambda v: jnp.sum(v * v), white)


def exp(tangent_vec: Point, base_point: Point, covariance: Covariance) -> Point:
    """μ + v: geodesics are straight."""
    del covariance
    tangent_vec, base_point = alike(tangent_vec=tangent_vec, base_point=base_point)
    return base_point + tangent_vec


def log(point: Point, base_point: Point, covariance: Covariance) -> Point:
    """μ′ − μ."""
    del covariance
    point, base_point = alike(point=point, base_point=base_point)
    return point - base_point


def dist(point_a: Point, point_b: Point, covariance: Covariance) -> Float[Array, ""]:
    """Mahalanobis's distance √((μ − μ′)ᵀ Σ⁻¹ (μ − μ′))."""
    point_a, point_b = alike(point_a=point_a, point_b=point_b)
    return norm(wide(point_b) - wide(point_a), point_a, covariance)


def parallel_transport(tangent_vec: Point, base_point: Point, direction: Point, covariance: Covariance) -> Point:
    """The vector itself."""
    del base_point, direction, covariance
    return real_array("tangent_vec", tangent_vec)
