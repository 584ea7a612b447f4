"""Fisher–Rao geometry: metrics are Fisher informations, distances those of the geodesics of the metric."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield.curvature import as_likelihood
from hopfield.geometry import families, manifolds

A, B = jnp.array([0.3, 0.9]), jnp.array([1.1, 1.6])


def test_the_gaussian_metric_is_the_expected_curvature_of_the_log_probability():
    """By Gauss–Hermite quadrature over the observation."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(30)
    x = A[0] + A[1] * jnp.asarray(nodes)

    def log_density(point, x):
        return -0.5 * ((x - point[0]) / point[1]) ** 2 - jnp.log(point[1])

    curvature = jax.vmap(lambda x: jax.hessian(log_density)(A, x))(x)
    expected = -np.einsum("n,nij->ij", weights / weights.sum(), curvature)
    np.testing.assert_allclose(families.gaussian_metric(A), expected, atol=1e-12)


def test_the_categorical_metric_is_that_of_softmax_in_other_coordinates():
    logits = jnp.array([0.2, -0.5, 0.9])
    jacobian = jax.jacfwd(lambda x: jax.nn.softmax(x)[1:])(logits)
    p = jax.nn.softmax(logits)
    factor = as_likelihood("categorical").fisher_factor(logits)
    np.testing.assert_allclose(
        jacobian.T @ families.categorical_metric(p[1:]) @ jacobian, factor @ factor.T, atol=1e-12
    )


def test_gaussian_distance_and_geodesics_are_those_of_the_metric():
    by_geodesic = manifolds.distance(families.gaussian_metric, A, B)
    assert float(families.gaussian_distance(A, B)) == pytest.approx(float(by_geodesic), rel=1e-9)
    tangent = jnp.array([0.7, -0.4])
    end, _ = manifolds.exp(families.gaussian_metric, A, tangent)
    np.testing.assert_allclose(families.gaussian_exp(A, tangent), end, rtol=1e-9)
    length = float(jnp.sqrt(tangent @ families.gaussian_metric(A) @ tangent))
    assert float(families.gaussian_distance(A, families.gaussian_exp(A, tangent))) == pytest.approx(length, rel=1e-10)
    np.testing.assert_array_equal(families.gaussian_exp(A, jnp.zeros(2)), A)


def test_distances_of_equal_means_and_equal_deviations():
    """√2 |ln σ/σ′| along the vertical; the known arccosh for equal σ."""
    vertical = families.gaussian_distance(jnp.array([0.0, 1.0]), jnp.array([0.0, 3.0]))
    assert float(vertical) == pytest.approx(np.sqrt(2) * np.log(3), rel=1e-12)
    level = families.gaussian_distance(jnp.array([0.0, 1.0]), jnp.array([2.0, 1.0]))
    assert float(level) == pytest.approx(np.sqrt(2) * np.arccosh(1 + 4 / 4), rel=1e-12)


def test_the_categorical_distance_is_an_angle_and_accurate_for_neighbours():
    p, q = jnp.array([0.2, 0.3, 0.5]), jnp.array([0.5, 0.25, 0.25])
    expected = 2 * np.arccos(np.sum(np.sqrt(np.asarray(p) * np.asarray(q))))
    assert float(families.categorical_distance(p, q)) == pytest.approx(expected, rel=1e-12)
    by_geodesic = manifolds.distance(families.categorical_metric, p[1:], q[1:])
    assert float(by_geodesic) == pytest.approx(expected, rel=1e-8)
    step = jnp.array([1e-9, -1e-9, 0.0])
    near = float(families.categorical_distance(p, p + step))
    assert near == pytest.approx(float(jnp.sqrt(jnp.sum(step**2 / p))), rel=1e-6)


def test_covariances_are_half_as_far_squared_as_in_the_affine_invariant_metric():
    a = jnp.diag(jnp.array([1.0, 4.0]))
    assert float(families.covariance_distance(a, 9 * a)) == pytest.approx(np.sqrt(0.5 * 2 * np.log(9) ** 2), rel=1e-12)
    turn = jnp.array([[1.0, 2.0], [0.5, -1.0]])
    b = jnp.array([[2.0, 0.3], [0.3, 1.0]])
    moved = families.covariance_distance(turn @ a @ turn.T, turn @ b @ turn.T)
    assert float(moved) == pytest.approx(float(families.covariance_distance(a, b)), rel=1e-10)
    one = families.covariance_distance(jnp.array([[4.0]]), jnp.array([[9.0]]))
    two = families.gaussian_distance(jnp.array([0.0, 2.0]), jnp.array([0.0, 3.0]))
    assert float(one) == pytest.approx(float(two), rel=1e-12)
