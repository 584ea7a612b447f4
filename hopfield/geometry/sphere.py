"""The unit sphere in its space: rows of unit norm along the last axis, great circles.

Points off the sphere by more than 1e-3 in their squared norm are refused, and traced ones NaN.

Source: Absil, Mahony & Sepulchre, Optimization Algorithms on Matrix Manifolds, §8.1 (2008).
"""

import jax.numpy as jnp
from jaxtyping import Array, Float

from hopfield._arguments import real_rows
from hopfield._arrays import length
from hopfield._numerics import safe_norm, unit
from hopfield.geometry._points import alike, unit_rows
from hopfield.geometry._smooth import arc, away, ratio, sinc, versine

Row = Float[Array, "*b n"]


def projection(point: Row) -> Row:
    """The nearest point of the sphere, x / ‖x‖ at any scale. Zero has none and stays zero."""
    return unit(real_rows("point", point))


def to_tangent(vector: Row, base_point: Row) -> Row:
    """The part of a vector that is tangent to the sphere."""
    vector, base_point = alike(vector=vector, base_point=unit_rows("base_point", base_point))
    return vector - base_point * jnp.sum(base_point * vector, axis=-1, keepdims=True)


def exp(tangent_vec: Row, base_point: Row) -> Row:
    """x cos ‖v‖ + v sin ‖v‖ / ‖v‖, brought back to unit norm against rounding."""
    tangent_vec, base_point = alike(tangent_vec=tangent_vec, base_point=unit_rows("base_point", base_point))
    square = jnp.sum(tangent_vec * tangent_vec, axis=-1, keepdims=True)
    return unit(base_point * (1 - square * versine(square)) + tangent_vec * sinc(square))


def log(point: Row, base_point: Row) -> Row:
    """The shorter arc from `base_point` to `point`. It is zero between antipodes, where no arc is the shorter one."""
    point, base_point = alike(point=unit_rows("point", point), base_point=unit_rows("base_point", base_point))
    # From the chord, so that neighbours keep their digits; θ/sin θ = (1 + t²) arctan t / t for t = tan θ/2.
    chord = to_tangent(point - base_point, base_point)
    square, near = _half_angle(base_point, point)
    # Towards the point is away from its antipode, whose chord keeps its digits there.
    far = away(to_tangent(point + base_point, base_point), near) * dist(base_point, point)[..., None]
    return jnp.where(near[..., None], chord * ((1 + square) * arc(square))[..., None], far)


def dist(point_a: Row, point_b: Row) -> Float[Array, "*b"]:
    """The angle 2 atan2(‖x − y‖, ‖x + y‖), accurate near 0 and near π."""
    point_a, point_b = alike(point_a=unit_rows("point_a", point_a), point_b=unit_rows("point_b", point_b))
    square, near = _half_angle(point_a, point_b)
    between = jnp.where(near[..., None], 1.0, point_a - point_b)
    far = 2.0 * jnp.arctan2(safe_norm(between, axis=-1), safe_norm(point_a + point_b, axis=-1))
    return jnp.where(near, 2.0 * length(square) * arc(square), far)


def parallel_transport(tangent_vec: Row, base_point: Row, direction: Row) -> Row:
    """u + (e·u)(e (cos θ − 1) − x sin θ) along the great circle of direction θ e."""
    base_point = unit_rows("base_point", base_point)
    tangent_vec, direction, base_point = alike(tangent_vec=tangent_vec, direction=direction, base_point=base_point)
    square = jnp.sum(direction * direction, axis=-1, keepdims=True)
    part = jnp.sum(direction * tangent_vec, axis=-1, keepdims=True)
    return tangent_vec - part * (direction * versine(square) + base_point * sinc(square))


def _half_angle(point_a: Row, point_b: Row) -> tuple[Float[Array, "*b"], Array]:
    """tan² θ/2 where small, and a flag for small."""
    apart, together = point_a - point_b, point_a + point_b
    return ratio(jnp.sum(apart * apart, axis=-1), jnp.sum(together * together, axis=-1))
