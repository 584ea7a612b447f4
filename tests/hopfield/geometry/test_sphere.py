"""The unit sphere: great circles and transport along them, by rotations of the space."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.linalg import expm

from hopfield._numerics import unit
from hopfield.geometry import sphere

KEYS = jax.random.split(jax.random.key(0), 3)
ROWS = unit(jax.random.normal(KEYS[0], (3, 4)))
ARCS = [sphere.to_tangent(jax.random.normal(key, (3, 4)), ROWS) for key in KEYS[1:]]


def test_great_circles_there_and_back():
    end = sphere.exp(ARCS[0], ROWS)
    length = jnp.linalg.norm(ARCS[0], axis=1)
    np.testing.assert_allclose(sphere.log(end, ROWS), ARCS[0], atol=1e-12)
    np.testing.assert_allclose(sphere.dist(ROWS, end), length, rtol=1e-12)
    np.testing.assert_allclose(jnp.sum(ROWS * end, axis=1), jnp.cos(length), atol=1e-14)
    np.testing.assert_array_equal(sphere.exp(0 * ARCS[0], ROWS), unit(ROWS))
    np.testing.assert_array_equal(sphere.log(ROWS, ROWS), 0)


def test_neighbours_and_antipodes_keep_their_digits():
    point, across = jnp.array([0.6, 0.8, 0.0]), jnp.array([0.0, 0.0, 1.0])
    for angle in (1e-9, np.pi - 1e-9):
        end = point * np.cos(angle) + across * np.sin(angle)
        assert float(sphere.dist(point, end)) == pytest.approx(angle, rel=1e-9 if angle < 1 else 1e-15)
        np.testing.assert_allclose(sphere.log(end, point), angle * across, atol=1e-15 if angle < 1 else 1e-6)
    np.testing.assert_array_equal(sphere.log(-point, point), 0)
    gradient = jax.grad(lambda x: jnp.sum(sphere.log(sphere.exp(x, point), point)))(jnp.zeros(3))
    assert np.all(np.isfinite(gradient))


def test_transport_on_the_sphere_turns_only_what_lies_along_the_arc():
    """By the rotation exp(θ (e xᵀ − x eᵀ)) of the space."""
    carried = sphere.parallel_transport(ARCS[1], ROWS, ARCS[0])
    for point, arc, vector, found in zip(ROWS, ARCS[0], ARCS[1], carried, strict=True):
        np.testing.assert_allclose(found, expm(np.outer(arc, point) - np.outer(point, arc)) @ vector, atol=1e-13)
    np.testing.assert_allclose(sphere.parallel_transport(ARCS[1], ROWS, 0 * ARCS[0]), ARCS[1], atol=1e-15)
