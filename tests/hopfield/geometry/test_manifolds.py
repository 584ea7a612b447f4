"""Curved spaces against closed forms, and the identities that hold on all of them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield.geometry import manifolds
from hopfield.geometry.families.univariate_normal import metric_matrix as gaussian


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
    "gaussian": (gaussian, jnp.array([0.5, 1.2])),
    "bumpy": (bumpy, jnp.array([0.2, -0.3, 0.4])),
}


def test_christoffel_symbols_of_the_sphere_and_the_half_plane():
    metric, x = POINTS["sphere"]
    found = np.asarray(manifolds.christoffels(x, metric))
    expected = np.zeros((2, 2, 2))
    expected[0, 1, 1] = -np.sin(1.1) * np.cos(1.1)
    expected[1, 0, 1] = expected[1, 1, 0] = np.cos(1.1) / np.sin(1.1)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    metric, x = POINTS["half_plane"]
    expected = np.zeros((2, 2, 2))
    expected[0, 0, 1] = expected[0, 1, 0] = -1 / 0.8
    expected[1, 0, 0], expected[1, 1, 1] = 1 / 0.8, -1 / 0.8
    np.testing.assert_allclose(manifolds.christoffels(x, metric), expected, atol=1e-12)


@pytest.mark.parametrize(("name", "curvature"), [("sphere", 2 / 4), ("half_plane", -2.0), ("gaussian", -1.0)])
def test_scalar_curvature_of_constant_curvature(name, curvature):
    """2/r² on the sphere, −2 on the half-plane, −1 for Gaussians, whose plane has curvature −½."""
    metric, x = POINTS[name]
    assert float(manifolds.scalar_curvature(x, metric)) == pytest.approx(curvature, abs=1e-10)
    ricci = manifolds.ricci_tensor(x, metric)
    np.testing.assert_allclose(ricci, curvature / 2 * metric(x), atol=1e-10)


@pytest.mark.parametrize("name", POINTS)
def test_symmetries_and_bianchi_identities_of_the_curvature(name):
    metric, x = POINTS[name]
    lowered = jnp.einsum("ae,ebcd->abcd", metric(x), manifolds.riemann_tensor(x, metric))
    np.testing.assert_allclose(lowered, -jnp.swapaxes(lowered, 0, 1), atol=1e-10)
    np.testing.assert_allclose(lowered, -jnp.swapaxes(lowered, 2, 3), atol=1e-10)
    np.testing.assert_allclose(lowered, jnp.transpose(lowered, (2, 3, 0, 1)), atol=1e-10)
    cyclic = lowered + jnp.transpose(lowered, (0, 2, 3, 1)) + jnp.transpose(lowered, (0, 3, 1, 2))
    assert jnp.max(jnp.abs(cyclic)) < 1e-10
    if name == "bumpy":
        slope = manifolds.covariant_derivative(lambda x: manifolds.riemann_tensor(x, metric), x, metric, upper=1)
        second = slope + jnp.einsum("abdec->abcde", slope) + jnp.einsum("abecd->abcde", slope)
        assert jnp.max(jnp.abs(second)) < 1e-9 * jnp.max(jnp.abs(slope))


def test_geodesics_of_the_half_plane_are_vertical_lines_and_circles():
    metric, x = POINTS["half_plane"]
    tangent = jnp.array([0.0, 0.8 * 0.7])
    end = manifolds.exp(tangent, x, metric)
    np.testing.assert_allclose(end, [0.3, 0.8 * np.exp(0.7)], rtol=1e-10)
    velocity = manifolds.parallel_transport(tangent, x, tangent, metric)
    np.testing.assert_allclose(velocity, [0.0, 0.7 * end[1]], atol=1e-10)
    end = manifolds.exp(jnp.array([0.8, 0.0]), x, metric)  # unit speed along the circle of radius 0.8
    np.testing.assert_allclose(end, [0.3 + 0.8 * np.tanh(1.0), 0.8 / np.cosh(1.0)], rtol=1e-10)


@pytest.mark.parametrize("name", ["sphere", "half_plane", "bumpy"])
def test_log_undoes_exp_and_dist_is_its_length(name):
    metric, x = POINTS[name]
    tangent = jnp.array([0.3, -0.2, 0.25])[: x.size]
    end = manifolds.exp(tangent, x, metric)
    found, info = manifolds.log(end, x, metric)
    assert bool(info.converged)
    np.testing.assert_allclose(found, tangent, atol=1e-10)
    length = float(manifolds.norm(tangent, x, metric))
    assert float(manifolds.dist(x, end, metric)) == pytest.approx(length, rel=1e-10)
    np.testing.assert_allclose(manifolds.exp(found, x, metric), end, atol=1e-10)
    still, info = manifolds.log(x, x, metric)
    np.testing.assert_array_equal(still, 0)
    assert bool(info.converged)


def test_a_logarithm_that_has_not_converged_says_so():
    """Too few geodesics tried; and a point behind the edge of the half-plane, which none reaches."""
    metric, x = POINTS["half_plane"]
    far = jnp.array([3.0, 0.2])
    _, info = manifolds.log(far, x, metric)
    assert bool(info.converged)
    few, short = manifolds.log(far, x, metric, max_iterations=2)
    assert not bool(short.converged)
    assert int(short.iterations) == 2 < int(info.iterations)
    gap = np.linalg.norm(manifolds.exp(few, x, metric) - far)
    assert float(short.residual) == pytest.approx(gap, rel=1e-6)
    assert np.isnan(manifolds.dist(x, far, metric, max_iterations=2))
    _, none = manifolds.log(jnp.array([0.3, -0.5]), x, metric)
    assert not bool(none.converged)
    assert float(none.residual) > 0.4


@pytest.mark.slow
def test_geodesics_are_differentiated_in_both_modes_under_compilation_and_batches():
    """∇_b ½d²(a, b) = −log_b(a), lowered with the metric; also where the field closes over what is differentiated."""
    metric, a = POINTS["half_plane"]
    b = jnp.array([0.9, 1.1])
    expected = -metric(b) @ manifolds.log(a, b, metric)[0]
    half_square = lambda b: 0.5 * manifolds.dist(a, b, metric) ** 2
    np.testing.assert_allclose(jax.grad(half_square)(b), expected, rtol=1e-9)

    @jax.jit
    @jax.jacfwd
    def scaled(scale):  # ends of one length in the metric scale · g: the tangent is what it was, so the end is as well
        return jax.vmap(lambda v: manifolds.exp(v, a, lambda x: scale * metric(x)))(jnp.eye(2))

    np.testing.assert_allclose(scaled(2.0), 0, atol=1e-10)
