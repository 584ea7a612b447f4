"""Approximate natural gradients: averages equal the curvature's, and steps are exact where the averages are."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield import optim
from hopfield.fisher import fisher

X = jax.random.normal(jax.random.key(0), (20, 3))
TARGETS = X @ jnp.array([[1.0], [-2.0], [0.5]]) + 0.3


kronecker_natural_gradient, diagonal_fisher = (
    partial(form, fisher="exact") for form in (optim.kronecker_natural_gradient, optim.diagonal_fisher)
)


def linear(w, x):
    return x @ w


def loss(w):
    return 0.5 * jnp.mean((linear(w, X) - TARGETS) ** 2)


def step_of(optimiser, w, state=None, inputs=X):
    """Step and next state."""
    after, state = optimiser.step(w, optimiser.init(w) if state is None else state, inputs, TARGETS[: len(inputs)])
    return after - w, state


def test_for_one_linear_output_the_kronecker_step_is_the_natural_gradient():
    w = jnp.ones((3, 1))
    step, _ = step_of(kronecker_natural_gradient(linear, "gaussian", damping=1e-9), w)
    np.testing.assert_allclose(w + step, jnp.linalg.lstsq(X, TARGETS)[0], rtol=1e-6)


def test_the_diagonal_is_averaged_and_corrected_for_its_start():
    """With decay 0.5 and two different batches the average is (½ a + b) / 1.5."""
    optimiser = diagonal_fisher(linear, "gaussian", damping=0.1, decay=0.5)
    w = jnp.ones((3, 1))
    state, found = optimiser.init(w), []
    for part in (X[:10], X[10:]):
        step, state = step_of(optimiser, w, state, part)
        found.append(fisher(linear, w, likelihood="gaussian", inputs=part).diagonal())
    slope = jax.grad(lambda w: 0.5 * jnp.mean((linear(w, X[10:]) - TARGETS[:10]) ** 2))(w)
    np.testing.assert_allclose(step, -slope / ((0.5 * found[0] + found[1]) / 1.5 + 0.1), rtol=1e-12)


BOTH = pytest.mark.parametrize("factory", [kronecker_natural_gradient, diagonal_fisher])


@BOTH
def test_the_trust_radius_bounds_the_step_in_the_metric_of_the_examples(factory):
    step, _ = step_of(factory(linear, "gaussian", damping=1e-6, trust_radius=0.05), jnp.ones((3, 1)))
    assert float(jnp.sqrt(step.T @ X.T @ X @ step / 20)[0, 0]) == pytest.approx(0.05, rel=1e-9)


@BOTH
def test_a_step_goes_to_the_least_value_of_the_quadratic_model_along_its_direction(factory):
    """The loss of a linear model is quadratic: with hardly any damping, the slope along the step ends at zero."""
    w = jnp.ones((3, 1))
    step, state = step_of(factory(linear, "gaussian", initial_damping=1e-9), w)
    assert float(jnp.sum(step * jax.grad(loss)(w + step))) == pytest.approx(0.0, abs=1e-6)
    assert float(state.gain) == pytest.approx(1.0, rel=1e-6)


@BOTH
def test_a_step_that_raises_the_loss_is_rejected_and_damped_more(factory):
    w = jnp.ones((3, 1))
    for rate, taken, factor in ((100.0, False, 4.0), (0.5, True, 1.0)):
        step, state = step_of(factory(linear, "gaussian", rate, initial_damping=1e-2), w)
        assert bool(state.accepted) == taken == bool(jnp.any(step != 0))
        assert not taken or loss(w + step) < loss(w)
        # The gain of a half-way step, and of none, is between a quarter and three quarters, or less.
        assert float(state.damping) == pytest.approx(1e-2 * factor) or taken


@BOTH
def test_the_curvature_is_that_of_64_examples_unless_more_are_asked_for(factory):
    inputs = jax.random.normal(jax.random.key(1), (128, 3))
    w = jnp.ones((3, 1))
    steps = []
    for options in ({}, {"examples": 64}, {"examples": None}):
        optimiser = factory(linear, "gaussian", damping=0.1, **options)
        steps.append(optimiser.step(w, optimiser.init(w), inputs, inputs[:, :1])[0])
    np.testing.assert_array_equal(steps[0], steps[1])
    assert float(jnp.abs(steps[0] - steps[2]).max()) > 1e-4
