"""Curved spaces against closed forms, and the identities that hold on all of them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield.geometry import manifolds
from hopfield.geometry.families import gaussian_metric


def sphere(x):
    """Radius 2, coordinates (θ, φ)."""
    return 4.0 * jnp.diag(jnp.array([1.0, jnp.sin(x[0]) ** 2]))


def half_plane(x):
    return jnp.eye(2) / x[1] ** 2


def bumpy(x):
    """A metric of three dimensions without symmetry."""
    a = jnp.array([[1.0, 0.2, 0.0], [0.0, 1.0, 0.3], [0.1, 0.0, 1.0]]) + 0.2 * jnp.outer(jnp.sin(x), jnp.cos(x[::-1]))
    return a @ a.T + jnp.diag(1 + x**2)


POINTS = {
    "sphere": (sphere, jnp.array([1.1, 0.4])),
    "half_plane": (half_plane, jnp.array([0.3, 0.8])),
    "gaussian": (gaussian_metric, jnp.array([0.5, 1.2])),
    "bumpy": (bumpy, jnp.array([0.2, -0.3, 0.4])),
}


def test_christoffel_symbols_of_the_sphere_and_the_half_plane():
    metric, x = POINTS["sphere"]
    found = np.asarray(manifolds.christoffel(metric, x))
    expected = np.zeros((2, 2, 2))
    expected[0, 1, 1] = -np.sin(1.1) * np.cos(1.1)
    expected[1, 0, 1] = expected[1, 1, 0] = np.cos(1.1) / np.sin(1.1)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    metric, x = POINTS["half_plane"]
    expected = np.zeros((2, 2, 2))
    expected[0, 0, 1] = expected[0, 1, 0] = -1 / 0.8
    expected[1, 0, 0], expected[1, 1, 1] = 1 / 0.8, -1 / 0.8
    np.testing.assert_allclose(manifolds.christoffel(metric, x), expected, atol=1e-12)


@pytest.mark.parametrize(("name", "curvature"), [("sphere", 2 / 4), ("half_plane", -2.0), ("gaussian", -1.0)])
def test_scalar_curvature_of_constant_curvature(name, curvature):
    """2/r² on the sphere, −2 on the half-plane, −1 for Gaussians, whose plane has curvature −½."""
    metric, x = POINTS[name]
    assert float(manifolds.scalar_curvature(metric, x)) == pytest.approx(curvature, abs=1e-10)
    ricci = manifolds.ricci(metric, x)
    np.testing.assert_allclose(ricci, curvature / 2 * metric(x), atol=1e-10)


@pytest.mark.parametrize("name", POINTS)
def test_the_metric_is_constant_under_its_own_connection(name):
    metric, x = POINTS[name]
    assert jnp.max(jnp.abs(manifolds.covariant_derivative(metric, metric, x))) < 1e-11
    inverse = lambda x: jnp.linalg.inv(metric(x))  # noqa: E731
    assert jnp.max(jnp.abs(manifolds.covariant_derivative(metric, inverse, x, upper=2))) < 1e-11
    mixed = lambda x: jnp.eye(x.size)  # noqa: E731
    assert jnp.max(jnp.abs(manifolds.covariant_derivative(metric, mixed, x, upper=1))) < 1e-12


@pytest.mark.parametrize("name", POINTS)
def test_symmetries_and_bianchi_identities_of_the_curvature(name):
    metric, x = POINTS[name]
    lowered = jnp.einsum("ae,ebcd->abcd", metric(x), manifolds.riemann(metric, x))
    np.testing.assert_allclose(lowered, -jnp.swapaxes(lowered, 0, 1), atol=1e-10)
    np.testing.assert_allclose(lowered, -jnp.swapaxes(lowered, 2, 3), atol=1e-10)
    np.testing.assert_allclose(lowered, jnp.transpose(lowered, (2, 3, 0, 1)), atol=1e-10)
    cyclic = lowered + jnp.transpose(lowered, (0, 2, 3, 1)) + jnp.transpose(lowered, (0, 3, 1, 2))
    assert jnp.max(jnp.abs(cyclic)) < 1e-10
    if name == "bumpy":
        slope = manifolds.covariant_derivative(metric, lambda x: manifolds.riemann(metric, x), x, upper=1)
        second = slope + jnp.einsum("abdec->abcde", slope) + jnp.einsum("abecd->abcde", slope)
        assert jnp.max(jnp.abs(second)) < 1e-9 * jnp.max(jnp.abs(slope))


def test_the_second_covariant_derivative_of_a_scalar_is_symmetric():
    metric, x = POINTS["bumpy"]
    gradient = lambda x: manifolds.covariant_derivative(metric, lambda x: jnp.sum(jnp.exp(x)), x)  # noqa: E731
    hessian = manifolds.covariant_derivative(metric, gradient, x)
    np.testing.assert_allclose(hessian, hessian.T, atol=1e-12)


def test_geodesics_of_the_half_plane_are_vertical_lines_and_circles():
    metric, x = POINTS["half_plane"]
    end, velocity = manifolds.exp(metric, x, jnp.array([0.0, 0.8 * 0.7]))
    np.testing.assert_allclose(end, [0.3, 0.8 * np.exp(0.7)], rtol=1e-9)
    np.testing.assert_allclose(velocity, [0.0, 0.7 * end[1]], atol=1e-9)
    end, _ = manifolds.exp(metric, x, jnp.array([0.8, 0.0]))  # unit speed along the circle of radius 0.8
    np.testing.assert_allclose(end, [0.3 + 0.8 * np.tanh(1.0), 0.8 / np.cosh(1.0)], rtol=1e-9)


@pytest.mark.parametrize("name", ["sphere", "half_plane", "bumpy"])
def test_log_undoes_exp_and_distance_is_its_length(name):
    metric, x = POINTS[name]
    tangent = jnp.array([0.3, -0.2, 0.25])[: x.size]
    end, _ = manifolds.exp(metric, x, tangent)
    np.testing.assert_allclose(manifolds.log(metric, x, end), tangent, atol=1e-8)
    length = float(jnp.sqrt(tangent @ metric(x) @ tangent))
    assert float(manifolds.distance(metric, x, end)) == pytest.approx(length, rel=1e-8)


def test_distances_on_the_sphere_are_angles_times_the_radius():
    metric, a = POINTS["sphere"]
    b = jnp.array([1.5, 0.9])
    unit = lambda x: np.array([np.sin(x[0]) * np.cos(x[1]), np.sin(x[0]) * np.sin(x[1]), np.cos(x[0])])  # noqa: E731
    assert float(manifolds.distance(metric, a, b)) == pytest.approx(2 * np.arccos(unit(a) @ unit(b)), rel=1e-9)


@pytest.mark.parametrize("name", ["sphere", "bumpy"])
def test_transport_keeps_inner_products_and_the_velocity(name):
    metric, x = POINTS[name]
    v, u, w = (jax.random.normal(key, x.shape) * 0.3 for key in jax.random.split(jax.random.key(0), 3))
    end, velocity = manifolds.exp(metric, x, v)
    carried = [manifolds.parallel_transport(metric, x, v, y) for y in (u, w, v)]
    inner = lambda p, a, b: float(a @ metric(p) @ b)  # noqa: E731
    assert inner(end, carried[0], carried[1]) == pytest.approx(inner(x, u, w), rel=1e-8)
    assert inner(end, carried[0], carried[0]) == pytest.approx(inner(x, u, u), rel=1e-8)
    np.testing.assert_allclose(carried[2], velocity, rtol=1e-8)


def test_the_sphere_is_the_pull_back_of_space():
    def embed(x):
        return 2 * jnp.stack([jnp.sin(x[0]) * jnp.cos(x[1]), jnp.sin(x[0]) * jnp.sin(x[1]), jnp.cos(x[0])])

    metric, x = POINTS["sphere"]
    np.testing.assert_allclose(manifolds.pullback(lambda y: jnp.eye(3), embed)(x), metric(x), atol=1e-12)
