"""Positive definite matrices: geodesics and transport, matrix by matrix against scipy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.linalg import expm, logm, sqrtm

from hopfield.geometry import spd

KEYS = jax.random.split(jax.random.key(1), 3)
ROOTS = jax.random.normal(KEYS[0], (2, 3, 3))
MATRICES = ROOTS @ jnp.swapaxes(ROOTS, 1, 2) + jnp.eye(3)[None]
SYMMETRIC = [spd.symmetric(jax.random.normal(key, (2, 3, 3))) for key in KEYS[1:]]


def test_geodesics_and_transport_are_those_of_scipy():
    end = spd.exp(SYMMETRIC[0], MATRICES)
    carried = spd.parallel_transport(SYMMETRIC[1], MATRICES, SYMMETRIC[0])
    for p, v, u, q, w in zip(MATRICES, *SYMMETRIC, end, carried, strict=True):
        root, inverse = np.real(sqrtm(p)), np.linalg.inv(np.real(sqrtm(p)))
        np.testing.assert_allclose(q, root @ expm(inverse @ v @ inverse) @ root, rtol=1e-10, atol=1e-12)
        carrier = np.real(sqrtm(q @ np.linalg.inv(p)))
        np.testing.assert_allclose(w, carrier @ u @ carrier.T, rtol=1e-10, atol=1e-10)
        levels = np.linalg.eigvals(np.linalg.solve(p, q))
        np.testing.assert_allclose(spd.dist(p, q), np.sqrt(np.sum(np.log(np.real(levels)) ** 2)), rtol=1e-10)
        np.testing.assert_allclose(spd.log(q, p), p @ np.real(logm(np.linalg.solve(p, q))), atol=1e-10)
    np.testing.assert_allclose(spd.log(end, MATRICES), SYMMETRIC[0], atol=1e-10)
    np.testing.assert_allclose(spd.norm(SYMMETRIC[0], MATRICES), spd.dist(MATRICES, end), rtol=1e-10)


@pytest.mark.parametrize("dtype", [pytest.param(jnp.float32, marks=pytest.mark.exhaustive), jnp.float64])
def test_derivatives_where_all_eigenvalues_coincide(dtype):
    """exp at zero and log at the base point are the identity of symmetric matrices, ∇² d² is twice the metric."""
    eye, tolerance = jnp.eye(2, dtype=dtype), 1e-5 if dtype == jnp.float32 else 1e-12
    chart = lambda x: jnp.array([[x[0], x[1]], [x[1], x[2]]])
    basis = jax.vmap(chart)(jnp.eye(3, dtype=dtype))
    for scale in (3.0,):
        base = scale * eye
        at_rest, at_base = jnp.zeros(3, dtype), scale * jnp.array([1.0, 0.0, 1.0], dtype)
        for derivative in (jax.jacfwd, jax.jacrev):
            for function, start in ((spd.exp, at_rest), (spd.log, at_base)):
                found = jax.jit(derivative(lambda x, f=function, b=base: f(chart(x), b)))(start)
                np.testing.assert_allclose(jnp.moveaxis(found, -1, 0), basis, atol=tolerance)
            moved = jax.jit(derivative(lambda x, b=base: spd.parallel_transport(basis[1], b, chart(x))))(at_rest)
            expected = [(a @ basis[1] + basis[1] @ a) / (2 * scale) for a in basis]
            np.testing.assert_allclose(jnp.moveaxis(moved, -1, 0), expected, atol=tolerance)
        curved = jax.jit(jax.hessian(lambda x, b=base: spd.dist(chart(x), b) ** 2))(at_base)
        metric = [[spd.inner_product(a, b, base) for b in basis] for a in basis]
        np.testing.assert_allclose(curved, 2 * np.array(metric), atol=tolerance)


SKEW = np.array([[2.0, 1.0], [0.0, 2.0]])
EYE = np.eye(2)


def test_a_traced_matrix_that_is_not_symmetric_is_not_a_number():
    assert np.isnan(jax.jit(spd.dist)(SKEW, EYE))
    rounded = EYE + np.array([[0.0, 1e-7], [0.0, 0.0]])
    assert spd.dist(rounded.astype(np.float32), EYE.astype(np.float32)) < 1e-6  # rounding is no asymmetry
