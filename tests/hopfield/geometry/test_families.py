"""Fisher–Rao geometry: metrics are Fisher informations, closed forms match the geodesics of the metric."""

from functools import partial
from types import SimpleNamespace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.test_util import check_grads

from hopfield.fisher import as_likelihood
from hopfield.geometry import manifolds
from hopfield.geometry.families import categorical, centered_normal, location_normal, normal, univariate_normal

COVARIANCE = jnp.array([[1.3, 0.4], [0.4, 0.8]])
LOWER = np.tril_indices(2)


def matrix(x):
    return jnp.array([[x[0], x[1]], [x[1], x[2]]])


def fixed(covariance):
    """The family of one covariance, with the arguments of the others."""
    names = ("inner_product", "norm", "exp", "log", "dist", "parallel_transport")
    return SimpleNamespace(**{name: partial(getattr(location_normal, name), covariance=covariance) for name in names})


# Per family: its functions, coordinates ↦ point, the coordinates of two points, and two tangent vectors at the first.
FAMILIES = {
    "categorical": (
        categorical,
        lambda x: jnp.concatenate([1.0 - jnp.sum(x, keepdims=True), x]),
        [[0.3, 0.5], [0.25, 0.25]],
        [[0.1, -0.2], [0.3, 0.1]],
    ),
    "univariate_normal": (univariate_normal, lambda x: x, [[0.3, 0.9], [1.1, 1.6]], [[0.7, -0.4], [0.2, 0.5]]),
    "centered_normal": (
        centered_normal,
        matrix,
        [[1.3, 0.4, 0.8], [2.0, 0.3, 1.0]],
        [[0.5, -0.3, 0.2], [0.1, 0.4, -0.2]],
    ),
    "location_normal": (fixed(COVARIANCE), lambda x: x, [[0.3, 0.5], [1.0, -0.2]], [[0.1, -0.2], [0.3, 0.1]]),
    "normal": (
        normal,
        lambda x: normal.Normal(x[:2], matrix(x[2:])),
        [[0.3, -0.2, 1.3, 0.4, 0.8], [1.0, 0.4, 2.0, 0.3, 1.0]],
        [[0.4, -0.7, 0.5, -0.3, 0.2], [0.1, 0.2, 0.1, 0.4, -0.2]],
    ),
}


def case(name):
    family, chart, points, tangents = FAMILIES[name]
    coordinates = [jnp.array(x) for x in points]
    base, end = (chart(x) for x in coordinates)
    vectors = [jax.jvp(chart, (coordinates[0],), (jnp.array(v),))[1] for v in tangents]
    return family, base, end, vectors


def logarithm(family, point, base_point):
    found = family.log(point, base_point)
    if family is not normal:
        return found
    assert bool(found[1].converged)
    return found[0]


def close(a, b, **tolerance):
    jax.tree.map(lambda x, y: np.testing.assert_allclose(x, y, **tolerance), a, b)


@pytest.mark.parametrize("name", FAMILIES)
def test_exp_and_log_undo_each_other_and_the_distance_is_the_length(name):
    family, base, end, (v, _) = case(name)
    close(family.exp(logarithm(family, end, base), base), end, atol=1e-10)
    close(logarithm(family, family.exp(v, base), base), v, atol=1e-10)
    length = float(family.norm(logarithm(family, end, base), base))
    assert float(family.dist(base, end)) == pytest.approx(length, rel=1e-10)
    assert float(family.dist(end, base)) == pytest.approx(length, rel=1e-10)
    assert length == pytest.approx(float(family.inner_product(*[logarithm(family, end, base)] * 2, base)) ** 0.5)


@pytest.mark.parametrize("name", FAMILIES)
def test_closed_forms_are_the_geodesics_and_the_transport_of_the_metric(name):
    """Against the numerical flow of the metric in coordinates, which knows its inner product only."""
    family, chart, (x, _), (v, u) = FAMILIES[name]
    x, v, u = jnp.array(x), jnp.array(v), jnp.array(u)

    def metric_matrix(x):
        columns = jax.vmap(lambda e: jax.jvp(chart, (x,), (e,))[1])(jnp.eye(x.size))
        inner = lambda a, b: family.inner_product(a, b, chart(x))
        return jax.vmap(lambda a: jax.vmap(lambda b: inner(a, b))(columns))(columns)

    tangent = lambda at, vector: jax.jvp(chart, (at,), (vector,))[1]
    end = manifolds.exp(v, x, metric_matrix)
    close(family.exp(tangent(x, v), chart(x)), chart(end), atol=1e-10)
    if hasattr(family, "parallel_transport"):
        carried = manifolds.parallel_transport(u, x, v, metric_matrix)
        found = family.parallel_transport(tangent(x, u), chart(x), tangent(x, v))
        close(found, tangent(end, carried), atol=1e-10)


def test_the_metric_of_gaussians_is_the_expected_curvature_of_the_log_probability():
    """−E[∇² log p], whose expectation over x is that over x − μ and (x − μ)(x − μ)ᵀ: exact for the quadratic log p."""
    mean, covariance = FAMILIES["normal"][1](jnp.array(FAMILIES["normal"][2][0]))

    @jax.jit
    @jax.hessian
    def curvature(flat):
        other, moment = matrix(flat[2:]), jnp.outer(mean - flat[:2], mean - flat[:2]) + covariance
        return 0.5 * jnp.linalg.slogdet(other)[1] + 0.5 * jnp.trace(jnp.linalg.solve(other, moment))

    expected = curvature(jnp.concatenate([mean, covariance[LOWER]]))
    basis = [normal.Normal(e[:2], matrix(e[2:])) for e in jnp.eye(5)]
    found = [[normal.inner_product(a, b, (mean, covariance)) for b in basis] for a in basis]
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_the_categorical_metric_is_that_of_softmax():
    logits = jnp.array([0.2, -0.5, 0.9])
    found = manifolds.pullback_metric(jax.nn.softmax, categorical.metric_matrix)(logits)
    factor = as_likelihood("categorical").fisher_factor(logits)
    np.testing.assert_allclose(found, factor @ factor.T, atol=1e-12)


@pytest.mark.slow
def test_gradients_of_squared_distances_are_the_logarithm():
    """∇_b ½d² = −log_b(a) in the metric, and finite at distance zero."""
    _, base, end, (v, _) = case("normal")
    slope = jax.jit(jax.grad(lambda a, b: normal.dist(b, a) ** 2 / 2))(base, end)
    expected = -normal.inner_product(normal.log(end, base)[0], v, base)
    np.testing.assert_allclose(sum(jnp.sum(s * t) for s, t in zip(slope, v, strict=True)), expected, rtol=1e-9)
    check_grads(
        jax.jit(univariate_normal.log), (jnp.array([0.3, 0.9]), jnp.array([1.1, 1.6])), order=1, atol=1e-7, rtol=1e-7
    )


@pytest.mark.parametrize("dtype", [jnp.float32, jnp.float64])
@pytest.mark.parametrize("name", ["categorical", "univariate_normal"])
def test_derivatives_at_rest_are_the_identity_and_the_squared_distance_curves_as_the_metric(name, dtype):
    family, base, _, (v, u) = case(name)
    base, v, u = (x.astype(dtype) for x in (base, v, u))
    tolerance, zero = 1e-5 if dtype == jnp.float32 else 1e-12, jnp.zeros_like(v)

    def both(derivative):
        return derivative(lambda x: family.exp(x, base))(zero), derivative(lambda x: family.log(x, base))(base)

    for derivative in (jax.jacfwd, jax.jacrev):
        rest, log = jax.jit(partial(both, derivative))()
        for tangent in (v, u):
            np.testing.assert_allclose(rest @ tangent, tangent, atol=tolerance)
            np.testing.assert_allclose(log @ tangent, tangent, atol=tolerance)
    curved = jax.jit(jax.hessian(lambda x: family.dist(x, base) ** 2))(base)
    for a, b in ((v, v), (v, u), (u, u)):
        assert float(a @ curved @ b) == pytest.approx(2 * float(family.inner_product(a, b, base)), rel=1e-5)
