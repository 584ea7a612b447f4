"""Gaussians on the line, points (μ, σ): √2 times the hyperbolic half-plane of (μ/√2, σ).

    g = diag(1, 2)/σ²

Source: Atkinson & Mitchell, Sankhyā A 43, 345 (1981); Costa, Santos & Strapasson, Discrete Appl. Math. 197, 59 (2015).
geomstats: `UnivariateNormalMetric`.
"""

import jax.numpy as jnp
from jaxtyping import Array, Float

from hopfield.numerics import safe_norm, unit

Point = Float[Array, "2"]


def metric_matrix(base_point: Point) -> Float[Array, "2 2"]:
    """diag(1, 2)/σ²."""
    return jnp.diag(jnp.array([1.0, 2.0], base_point.dtype)) / base_point[1] ** 2


def inner_product(tangent_vec_a: Point, tangent_vec_b: Point, base_point: Point) -> Float[Array, ""]:
    """(u_μ v_μ + 2 u_σ v_σ)/σ²."""
    return 2.0 * jnp.sum(_plane(tangent_vec_a) * _plane(tangent_vec_b)) / base_point[1] ** 2


def norm(vector: Point, base_point: Point) -> Float[Array, ""]:
    """√(v_μ² + 2 v_σ²)/σ."""
    return jnp.sqrt(2.0) * safe_norm(_plane(vector)) / base_point[1]


def exp(tangent_vec: Point, base_point: Point) -> Point:
    """End of the geodesic: half an ellipse over the μ-axis, or a vertical line."""
    return _end(tangent_vec, base_point)[0]


def log(point: Point, base_point: Point) -> Point:
    """The only geodesic from `base_point` to `point`: no two points have another."""
    a, b = _plane(base_point), _plane(point)
    across = b[0] - a[0]
    # Of (z' − z)/(z' − z̄), which maps the half-plane to a disc around z, the argument, turned by a quarter.
    heading = unit(jnp.stack([2 * a[1] * across, across**2 + (b[1] - a[1]) * (b[1] + a[1])]))
    return _statistics(heading * a[1] * dist(base_point, point) / jnp.sqrt(2.0))


def dist(point_a: Point, point_b: Point) -> Float[Array, ""]:
    """√2 arccosh(1 + ((μ − μ′)²/2 + (σ − σ′)²)/2σσ′)."""
    # arccosh(1 + 2 u²) = 2 arcsinh u, which does not cancel for neighbours
    gap = safe_norm(_plane(point_a) - _plane(point_b))
    return 2.0 * jnp.sqrt(2.0) * jnp.arcsinh(gap / (2 * jnp.sqrt(point_a[1] * point_b[1])))


def parallel_transport(tangent_vec: Point, base_point: Point, direction: Point) -> Point:
    """A tangent vector carried along the geodesic of `direction`, to which it keeps its angle and its length."""
    end, after = _end(direction, base_point)
    before = _plane(direction) / jnp.where(jnp.any(direction != 0), safe_norm(_plane(direction)), 1.0)
    # The metric is conformal: the turn of the velocity, and the ratio of the heights.
    turn = jnp.stack([jnp.sum(after * before), after[1] * before[0] - after[0] * before[1]])
    vector = _plane(tangent_vec) * end[1] / base_point[1]
    turned = jnp.stack([turn[0] * vector[0] - turn[1] * vector[1], turn[1] * vector[0] + turn[0] * vector[1]])
    return jnp.where(jnp.any(direction != 0), _statistics(turned), tangent_vec)


def _end(tangent_vec: Point, base_point: Point) -> tuple[Point, Point]:
    """The end of a geodesic, and its heading there, a unit vector of the half-plane."""
    (x, y), velocity = _plane(base_point), _plane(tangent_vec)
    length, (sine, cosine) = safe_norm(velocity) / y, unit(velocity)
    # z = x + y (sinh s · sin + i) / (cosh s − sinh s · cos), unit speed, up for cos = 1; nothing cancels
    fall = (jnp.exp(-length) * (1 + cosine) + jnp.exp(length) * _one_less(sine, cosine)) / 2
    end = _statistics(jnp.stack([x + y * jnp.sinh(length) * sine / fall, y / fall]))
    heading = jnp.stack([sine, jnp.cosh(length) * cosine - jnp.sinh(length)]) / fall
    return jnp.where(length > 0, end, base_point), heading


def _one_less(sine: Array, cosine: Array) -> Array:
    """1 − cos, to all digits where it is small."""
    return jnp.where(cosine > 0, sine**2 / jnp.where(cosine > 0, 1 + cosine, 1.0), 1 - cosine)


def _plane(x: Point) -> Point:
    return x / jnp.array([2.0**0.5, 1.0], x.dtype)


def _statistics(x: Point) -> Point:
    return x * jnp.array([2.0**0.5, 1.0], x.dtype)
