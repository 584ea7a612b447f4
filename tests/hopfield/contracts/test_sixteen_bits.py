"""Arrays of 16 bits: what is factored, which nothing does in 16 bits, is taken as 32 bits of the same values."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from hopfield import Couplings, geometry, metrics, optim
from hopfield.attention import FastWeights, attend_truncated

ROWS = np.random.default_rng(5).normal(size=(6, 2))
OTHER = np.random.default_rng(6).normal(size=(6, 2))
LEVELS = np.array([[2.0, 0.5], [0.5, 1.0]])
NORMAL, SPD = geometry.families.normal, geometry.spd


FORMS = [np.asarray(part) for rows in ((ROWS, OTHER), (OTHER, ROWS)) for part in geometry.factored(*rows)]


def _field(point: jax.Array) -> jax.Array:
    return jnp.eye(2, dtype=point.dtype) * (1 + point @ point)


def _forms(function: Callable) -> Callable:
    """A function of two forms, given as their parts."""
    return lambda *parts: function(geometry.FactoredForm(*parts[:3]), geometry.FactoredForm(*parts[3:6]), *parts[6:])


def _riemannian_step(manifold: str) -> Callable:
    def step(params):
        optimiser = optim.riemannian_gradient_descent(0.1, manifold, momentum=0.9)
        updates, _ = optimiser.update(jnp.ones_like(params), optimiser.init(params), params)
        assert updates.dtype == params.dtype
        return optax.apply_updates(params, updates)

    return step


CASES = {
    "spd.dist": (SPD.dist, LEVELS, np.eye(2)),
    "spd.exp": (SPD.exp, LEVELS, LEVELS),
    "spd.log": (SPD.log, LEVELS, np.eye(2)),
    "spd.norm": (SPD.norm, LEVELS, LEVELS),
    "spd.parallel_transport": (SPD.parallel_transport, LEVELS, LEVELS, LEVELS),
    "normal.dist": (lambda m, c: NORMAL.dist((m, c), (0 * m, 2 * c)), ROWS[0], LEVELS),
    "normal.inner_product": (lambda m, c: NORMAL.inner_product((m, c), (m, c), (m, c)), ROWS[0], LEVELS),
    "location_normal.dist": (geometry.families.location_normal.dist, ROWS[0], ROWS[1], LEVELS),
    "christoffels": (lambda x: geometry.manifolds.christoffels(x, _field), ROWS[0]),
    "scalar_curvature": (lambda x: geometry.manifolds.scalar_curvature(x, _field), ROWS[0]),
    "attention_christoffels": (geometry.attention_christoffels, ROWS[0], ROWS),
    "frobenius_distance": (_forms(geometry.frobenius_distance), *FORMS),
    "product_distance": (_forms(geometry.product_distance), *FORMS),
    "data_weighted_distance": (_forms(geometry.data_weighted_distance), *FORMS, np.eye(6)),
    "grassmann_distance": (geometry.grassmann_distance, ROWS, OTHER),
    "inverse": (lambda g: metrics.inverse(g).matrix, LEVELS),
    "eigenvalues": (metrics.eigenvalues, LEVELS),
    "condition_number": (metrics.condition_number, LEVELS),
    "stiefel": (_riemannian_step("stiefel"), np.eye(3, 2)),
    "positive_definite": (_riemannian_step("positive_definite"), LEVELS),
    "pseudo_inverse": (lambda x, y: FastWeights(2, 2, rule="pseudo_inverse").attend(x, x, y)[0], ROWS, OTHER),
    "couplings": (lambda w: Couplings(w - jnp.diag(jnp.diag(w))).memory().patterns ** 2, LEVELS),
    "attend_truncated": (lambda q, k: attend_truncated(q, k, k, rank=2), ROWS, OTHER),
}


@pytest.mark.parametrize("dtype", [jnp.float16, jnp.bfloat16])
@pytest.mark.parametrize("name", CASES)
def test_what_is_factored_is_taken_as_32_bits(name, dtype):
    function, *arrays = CASES[name]
    half = [jnp.asarray(array, dtype) for array in arrays]
    want = function(*(array.astype(jnp.float32) for array in half))
    found = function(*half)
    rounding = 8 * float(jnp.finfo(found.dtype).eps)
    np.testing.assert_allclose(np.asarray(found, np.float64), want, rtol=rounding, atol=rounding)
