"""Arguments of attention: whole numbers, identity metrics, additive scores, kernel regression."""

import jax
import numpy as np

from hopfield import attention
from hopfield.attention import core
from tests.hopfield.attention.rows import BY_HEAD, KEY, QUERY, VALUE, H

RNG = np.random.default_rng(0)


def test_scores_of_one_query_have_weights_of_one_query():
    scores, used = np.asarray([1.0, 2.0, 0.5]), np.asarray([True, False, True])
    warm = np.exp(scores / 2.0)
    np.testing.assert_allclose(jax.jit(core.weights)(scores, temperature=2.0), warm / warm.sum())
    found = jax.jit(core.weights)(scores, mask=used)
    np.testing.assert_allclose(found, np.asarray([1.0, 0.0, np.exp(-0.5)]) / (1.0 + np.exp(-0.5)), atol=1e-12)


def test_kernel_regression_takes_a_semidefinite_metric_for_what_it_is_despite_rounding():
    """Gaps in the null space of g = u uᵀ have squares of either sign in rounding, and are of length zero."""
    u = RNG.normal(size=(3, 1))
    away = RNG.normal(size=(50, 3))
    null = away - (away @ u) @ u.T / (u.T @ u)
    value = RNG.normal(size=(50, 2))
    for call in (attention.kernel_regression, BY_HEAD["kernel"]):
        found = call(np.zeros((1, 3)), null, value, metric=u @ u.T)
        np.testing.assert_allclose(found[0], value.mean(0), atol=1e-12)


def test_kernel_regression_has_a_metric_for_each_head():
    factors = RNG.normal(size=(H, 3, 3))
    matrices = factors @ np.swapaxes(factors, -1, -2)
    regression = BY_HEAD["kernel"]
    found = regression(QUERY, KEY, VALUE, metric=matrices)
    for h in range(H):
        one = regression(QUERY[:, h], KEY[:, h], VALUE[:, h], metric=matrices[h])
        np.testing.assert_allclose(found[:, h], one, atol=1e-12)
