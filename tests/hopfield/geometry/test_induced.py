"""The metric of attention: Hessian of the log-sum-exp, Jacobian of the update, third cumulants, lengths."""

import jax
import numpy as np
import pytest
import scipy.special

from hopfield import Memory, trajectory
from hopfield.geometry import (
    attention_christoffels,
    attention_christoffels_first,
    attention_metric_matrix,
    fisher_length,
    manifolds,
)
from hopfield.geometry.families import categorical
from tests.hopfield.contracts.parts import quick

PATTERNS = np.random.default_rng(0).normal(size=(7, 3))
QUERY = np.array([0.3, -0.4, 0.2])
BETA = 1.3


def potential(q):
    return jax.nn.logsumexp(BETA * PATTERNS @ q)


def test_it_is_the_hessian_of_the_log_sum_exp_and_beta_times_the_jacobian_of_the_update():
    metric = attention_metric_matrix(QUERY, PATTERNS, BETA)
    np.testing.assert_allclose(metric, jax.jit(jax.hessian(potential))(QUERY), atol=1e-12)
    update = Memory(PATTERNS, BETA).update
    np.testing.assert_allclose(metric, BETA * jax.jit(jax.jacfwd(update))(QUERY), atol=1e-12)


def test_it_is_the_fisher_information_of_the_weights_pulled_back():
    weights = lambda q: jax.nn.softmax(BETA * PATTERNS @ q)
    pulled = jax.jit(manifolds.pullback_metric(weights, categorical.metric_matrix))(QUERY)
    np.testing.assert_allclose(attention_metric_matrix(QUERY, PATTERNS, BETA), pulled, atol=1e-12)


def test_christoffel_symbols_are_half_the_third_derivative_of_the_log_sum_exp():
    third = jax.jit(jax.jacfwd(jax.hessian(potential)))(QUERY)
    np.testing.assert_allclose(attention_christoffels_first(QUERY, PATTERNS, BETA), third / 2, atol=1e-11)
    field = lambda q: attention_metric_matrix(q, PATTERNS, BETA)
    np.testing.assert_allclose(
        attention_christoffels(QUERY, PATTERNS, BETA), manifolds.christoffels(QUERY, field), atol=1e-10
    )


def test_too_few_patterns_leave_it_singular():
    with pytest.raises(ValueError, match="patterns must spread in all 3 directions"):
        attention_christoffels(QUERY, PATTERNS[:3], BETA)


def test_the_length_of_a_retrieval_converges_and_is_never_below_the_distance_of_its_ends():
    memory = Memory(PATTERNS, BETA)
    states = trajectory(memory, 2 * QUERY, 6)
    of = quick(lambda states: fisher_length(states, PATTERNS, BETA))
    length = float(of(states))
    finer = float(quick(lambda states: fisher_length(states, PATTERNS, BETA, pieces=256))(states))
    assert length <= finer == pytest.approx(length, rel=1e-3)
    first, last = (scipy.special.softmax(BETA * np.asarray(PATTERNS) @ np.asarray(states[i])) for i in (0, -1))
    assert length >= float(quick(categorical.dist)(first, last))
    back = float(of(np.asarray(states)[::-1]))
    assert back == pytest.approx(length, rel=1e-12)
    assert float(fisher_length(states[:1], PATTERNS, BETA)) == 0.0
