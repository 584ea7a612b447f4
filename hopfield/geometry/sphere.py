"""The unit sphere in its space: rows of unit norm along the last axis, great circles.

Source: Absil, Mahony & Sepulchre, Optimization Algorithms on Matrix Manifolds, §8.1 (2008).
"""

import jax.numpy as jnp
from jaxtyping import Array, Float

from hopfield.numerics import safe_norm, unit

Row = Float[Array, "*b n"]


def to_tangent(vector: Row, base_point: Row) -> Row:
    """The part of a vector that is tangent to the sphere."""
    return vector - base_point * jnp.sum(base_point * vector, axis=-1, keepdims=True)


def exp(tangent_vec: Row, base_point: Row) -> Row:
    """x cos ‖v‖ + v sin ‖v‖ / ‖v‖, brought back to unit norm against rounding."""
    angle = safe_norm(tangent_vec, axis=-1, keepdims=True)
    return unit(base_point * jnp.cos(angle) + unit(tangent_vec) * jnp.sin(angle))


def log(point: Row, base_point: Row) -> Row:
    """The shorter arc from `base_point` to `point`; zero between antipodes, where no arc is the shorter one."""
    # From the chord, so that neighbours keep their digits.
    return unit(to_tangent(point - base_point, base_point)) * dist(base_point, point)[..., None]


def dist(point_a: Row, point_b: Row) -> Float[Array, "*b"]:
    """The angle 2 atan2(‖x − y‖, ‖x + y‖), accurate near 0 and near π."""
    return 2.0 * jnp.arctan2(safe_norm(point_a - point_b, axis=-1), safe_norm(point_a + point_b, axis=-1))


def parallel_transport(tangent_vec: Row, base_point: Row, direction: Row) -> Row:
    """u + (e·u)(e (cos θ − 1) − x sin θ) along the great circle of direction θ e."""
    angle, along = safe_norm(direction, axis=-1, keepdims=True), unit(direction)
    part = jnp.sum(along * tangent_vec, axis=-1, keepdims=True)
    return tangent_vec - part * (2 * along * jnp.sin(angle / 2) ** 2 + base_point * jnp.sin(angle))
