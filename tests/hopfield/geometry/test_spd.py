"""Positive definite matrices: geodesics and transport, matrix by matrix against scipy."""

import jax
import jax.numpy as jnp
import numpy as np
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


def test_transport_keeps_inner_products():
    end = spd.exp(SYMMETRIC[0], MATRICES)
    moved = [spd.parallel_transport(x, MATRICES, SYMMETRIC[0]) for x in SYMMETRIC]
    before = spd.inner_product(*SYMMETRIC, MATRICES)
    np.testing.assert_allclose(spd.inner_product(*moved, end), before, rtol=1e-10)
    for vector, old in zip(moved, SYMMETRIC, strict=True):
        np.testing.assert_allclose(spd.norm(vector, end), spd.norm(old, MATRICES), rtol=1e-10)
        np.testing.assert_allclose(spd.inner_product(old, old, MATRICES), spd.norm(old, MATRICES) ** 2, rtol=1e-10)
