"""Arguments of attention: whole numbers, identity metrics, additive scores, kernel regression."""

from functools import partial

import jax
import numpy as np
import pytest

from hopfield import attention, metrics
from hopfield.attention import core
from tests.hopfield.attention.rows import BY_HEAD, KEY, MIXES, QUERY, VALUE, H

RNG = np.random.default_rng(0)

ROWS = {
    "attend": core.attend,
    "decompose": core.decompose,
    "scores": lambda q, k, v: core.scores(q, k),
    "read": lambda q, k, v: core.read(core.weights(core.scores(q, k)), v),
    "blockwise": partial(attention.attend_blockwise, blocks=(2, 3)),
    "heads": attention.attend_heads,
    "low rank": lambda q, k, v: attention.attend_low_rank(q, k, v, MIXES.astype(v.dtype)),
    "linear": attention.linear_attention,
    "random features": partial(
        attention.linear_attention, features=attention.PositiveFeatures(jax.random.key(0), 4, 8)
    ),
    "causal linear": lambda q, k, v: attention.linear_attention(k, k, v, causal=True, chunk=2),
    "local": partial(attention.attend_locally, left=1),
    "kernel": attention.kernel_regression,
    "gradients": lambda q, k, v: attention.attention_gradients(q, k, v, np.ones((3, 4, 4)))[:3],
    "rotary": lambda q, k, v: attention.rotary(q),
    "relative": lambda q, k, v: attention.relative_bias(q[0], k[0], 6),
    "weights": lambda q, k, v: core.weights(q, temperature=1.5),
}


def test_scores_of_one_query_have_weights_of_one_query():
    scores, used = np.asarray([1.0, 2.0, 0.5]), np.asarray([True, False, True])
    warm = np.exp(scores / 2.0)
    np.testing.assert_allclose(jax.jit(core.weights)(scores, temperature=2.0), warm / warm.sum())
    found = jax.jit(core.weights)(scores, mask=used)
    np.testing.assert_allclose(found, np.asarray([1.0, 0.0, np.exp(-0.5)]) / (1.0 + np.exp(-0.5)), atol=1e-12)


@pytest.mark.parametrize("shape", [(5,), (36, 106), (1, 2, 36, 106)], ids=str)
def test_scores_that_are_not_numbers_have_no_weights(shape):
    for function in (core.softmax, jax.jit(core.softmax), jax.jit(core.weights)):
        found = function(np.full(shape, np.nan, np.float32))
        assert found.shape == shape
        assert np.isnan(found).all()
    np.testing.assert_array_equal(jax.jit(core.softmax)(np.full(shape, -np.inf)), 0.0)


@pytest.mark.parametrize("function", BY_HEAD)
def test_a_metric_has_one_head_or_those_of_the_rows(function):
    with pytest.raises(ValueError, match=r"^metric must broadcast to the leading axes \[2, 2\], got \[3\]$"):
        ROWS[function](QUERY, KEY, VALUE, metric=np.stack([np.eye(3)] * 3))


INDEFINITE = {
    "negative": -np.eye(3),
    "of both signs": np.diag([1.0, -0.5, 1.0]),
    "diagonal": metrics.Diagonal(np.asarray([1.0, -0.5, 1.0])),
    "one of the heads": np.stack([np.eye(3), -np.eye(3)]),
}


@pytest.mark.parametrize("metric", INDEFINITE)
def test_kernel_regression_needs_a_metric_of_lengths(metric):
    g = INDEFINITE[metric]
    with pytest.raises(ValueError, match=r"^metric must be positive semidefinite, got one with the eigenvalue -"):
        attention.kernel_regression(QUERY, KEY, VALUE, metric=g)
    query, key = np.zeros((2, 1, 3)), np.asarray([[0.0, 1.0, 0.0], [0.0, 0.5, 0.1]])
    found = jax.jit(lambda g: attention.kernel_regression(query, key, key, metric=g))(g)
    assert np.isnan(found[-1]).all()
    assert np.isnan(found[0]).all() == (metric != "one of the heads")


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
