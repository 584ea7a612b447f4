"""Gaussians on the line, points (μ, σ): √2 times the hyperbolic half-plane of (μ/√2, σ).

    g = diag(1, 2)/σ²

Points of σ ≤ 0 are refused, and traced ones NaN.

Source: Atkinson & Mitchell, Sankhyā A 43, 345 (1981); Costa, Santos & Strapasson, Discrete Appl. Math. 197, 59 (2015).
geomstats: `UnivariateNormalMetric`.
"""

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from hopfield._arguments import real_vector
from hopfield._arrays import length
from hopfield.geometry._points import positive_scale
from hopfield.geometry._smooth import arc, away, ratio, root_of, sinc, versine

Point = Float[Array, "2"]


def metric_matrix(base_point: Point) -> Float[Array, "2 2"]:
    """diag(1, 2)/σ²."""
    base_point = positive_scale("base_point", base_point)
    return jnp.diag(jnp.array([1.0, 2.0], base_point.dtype)) / base_point[1] ** 2


def inner_product(tangent_vec_a: Point, tangent_vec_b: Point, base_point: Point) -> Float[Array, ""]:
    """(u_μ v_μ + 2 u_σ v_σ)/σ²."""
    base_point = positive_scale("base_point", base_point)
    return 2.0 * jnp.sum((_plane(tangent_vec_a) / base_point[1]) * (_plane(tangent_vec_b) / base_point[1]))


def norm(vector: Point, base_point: Point) -> Float[Array, ""]:
    """√(v_μ² + 2 v_σ²)/σ."""
    sigma = positive_scale("base_point", base_point)[1]
    return root_of(lambda v: 2.0 * jnp.sum(v * v), _plane(vector) / sigma)


def exp(tangent_vec: Point, base_point: Point) -> Point:
    """End of the geodesic: half an ellipse over the μ-axis, or a vertical line."""
    return _end(tangent_vec, positive_scale("base_point", base_point))[0]


def log(point: Point, base_point: Point) -> Point:
    """The only geodesic from `base_point` to `point`: no two points have another."""
    point, base_point = positive_scale("point", point), positive_scale("base_point", base_point)
    a, b = _plane(base_point), _plane(point)
    across = b[0] - a[0]
    # Of (z' − z)/(z' − z̄), which maps the half-plane to a disc around z, the argument, turned by a quarter.
    heading = jnp.stack([2 * a[1] * across, across**2 + (b[1] - a[1]) * (b[1] + a[1])])
    # Its norm is 2 σσ′ sinh s, and s/sinh s = (1 − t²) artanh t / t for t = tanh s/2.
    square, near = _half_length(base_point, point)
    far = away(heading, near) * a[1] * dist(base_point, point) / jnp.sqrt(2.0)
    return _statistics(jnp.where(near, heading * (1 - square) * arc(-square) / (2 * b[1]), far))


def dist(point_a: Point, point_b: Point) -> Float[Array, ""]:
    """√2 arccosh(1 + ((μ − μ′)²/2 + (σ − σ′)²)/2σσ′)."""
    point_a, point_b = positive_scale("point_a", point_a), positive_scale("point_b", point_b)
    square, near = _half_length(point_a, point_b)
    # arccosh(1 + 2 u²) = 2 arcsinh u, which does not cancel for neighbours
    gap = jnp.linalg.norm(jnp.where(near, 1.0, _plane(point_a) - _plane(point_b)))
    far = jnp.arcsinh(gap / (2 * jnp.sqrt(point_a[1] * point_b[1])))
    return 2.0 * jnp.sqrt(2.0) * jnp.where(near, length(square) * arc(-square), far)


def parallel_transport(tangent_vec: Point, base_point: Point, direction: Point) -> Point:
    """A tangent vector carried along the geodesic of `direction`, to which it keeps its angle and its length."""
    base_point = positive_scale("base_point", base_point)
    end, turn = _end(direction, base_point)
    # The metric is conformal: the turn of the velocity, and the ratio of the heights.
    vector = _plane(tangent_vec) * end[1] / base_point[1]
    return _statistics(
        jnp.stack([turn[0] * vector[0] - turn[1] * vector[1], turn[1] * vector[0] + turn[0] * vector[1]])
    )


def _end(tangent_vec: Point, base_point: Point) -> tuple[Point, Point]:
    """The end of a geodesic, and by how much its heading has turned there, cosine and sine.

    z = x + y (sinh s · sin + i) / (cosh s − sinh s · cos), unit speed, up for cos = 1.
    """
    (x, y), velocity = _plane(base_point), _plane(tangent_vec) / base_point[1]
    square = jnp.sum(velocity * velocity)
    near = square < 0.25
    small, rest = _near_end(velocity, jnp.where(near, square, 0.0)), _far_end(velocity, near)
    across, height, turn = (jnp.where(near, a, b) for a, b in zip(small, rest, strict=True))
    return _statistics(jnp.stack([x + y * across, y * height])), turn


def _near_end(velocity: Point, square: Array) -> tuple[Array, Array, Point]:
    """From (0, 1) a short way: smooth at rest."""
    right, up = velocity
    slope, bend = sinc(-square), versine(-square)
    fall = 1 + square * bend - slope * up
    turn = jnp.stack([1 + bend * up**2 - slope * up, (bend * up - slope) * right]) / fall
    return slope * right / fall, 1 / fall, turn


def _far_end(velocity: Point, near: Array) -> tuple[Array, Array, Point]:
    """From (0, 1) any longer way: nothing cancels, and nothing overflows but a height that does."""
    velocity = jnp.where(near, 1.0, velocity)
    way = jnp.linalg.norm(velocity)
    sine, cosine = velocity / way
    decay = jnp.exp(-way)
    # e^−s (cosh s − sinh s cos) = (a² + b²)/2w, with tan of half the heading at the end a : b.
    upward = cosine > 0
    weight = 1 + jnp.abs(cosine)
    a, b = jnp.where(upward, decay * weight, decay * sine), jnp.where(upward, sine, weight)
    size = jnp.maximum(jnp.abs(a), jnp.abs(b))
    beyond = size == 0  # straight up, past the largest number
    size = jnp.where(beyond, 1.0, size)
    a, b = jnp.where(beyond, 1.0, a / size), b / size
    root = jnp.hypot(a, b)
    a, b, size = a / root, b / root, size * root
    across = (1 - decay**2) * jnp.where(upward, b, sine / size) * weight / size
    height = jnp.where(beyond, jnp.inf, 2 * jnp.where(upward, a, decay * weight / size) / size)
    after = jnp.stack([2 * a * b, (a - b) * (a + b)])
    turn = jnp.stack([after[0] * sine + after[1] * cosine, after[1] * sine - after[0] * cosine])
    return across, height, turn


def _half_length(point_a: Point, point_b: Point) -> tuple[Float[Array, ""], Array]:
    """tanh² s/2 = |z − z′|²/|z − z̄′|² where small, and a flag for small."""
    apart = _plane(point_a) - _plane(point_b)
    square = jnp.sum(apart * apart)
    return ratio(square, square + 4 * point_a[1] * point_b[1])


def _plane(x: Point) -> Point:
    x = real_vector("tangent_vec", x, like=jax.ShapeDtypeStruct((2,), float))
    return x / jnp.array([2.0**0.5, 1.0], x.dtype)


def _statistics(x: Point) -> Point:
    return x * jnp.array([2.0**0.5, 1.0], x.dtype)
