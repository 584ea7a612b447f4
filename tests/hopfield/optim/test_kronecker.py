"""Approximate natural gradients: the averages are those of the curvature, and where they are exact they are exact."""

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from hopfield.fisher import fisher
from hopfield.optim import diagonal_fisher, kronecker_natural_gradient

X = jax.random.normal(jax.random.key(0), (20, 3))
TARGETS = X @ jnp.array([[1.0], [-2.0], [0.5]]) + 0.3


def linear(w, x):
    return x @ w


def grads(w):
    return jax.grad(lambda w: 0.5 * jnp.mean((linear(w, X) - TARGETS) ** 2))(w)


def test_for_one_linear_output_the_kronecker_step_is_the_natural_gradient():
    w = jnp.ones((3, 1))
    optimiser = kronecker_natural_gradient(1.0, likelihood="gaussian", damping=1e-9)
    update = jax.jit(lambda g, state, w: optimiser.update(g, state, w, model_fn=linear, inputs=X))
    step, _ = update(grads(w), optimiser.init(w), w)
    np.testing.assert_allclose(w + step, jnp.linalg.lstsq(X, TARGETS)[0], rtol=1e-6)


def test_the_diagonal_is_averaged_and_corrected_for_its_start():
    """With decay 0.5 and two different batches the average is (½ a + b) / 1.5."""
    optimiser = diagonal_fisher(1.0, likelihood="gaussian", damping=0.1, decay=0.5)
    w = jnp.ones((3, 1))
    state, found = optimiser.init(w), []
    for part in (X[:10], X[10:]):
        step, state = optimiser.update(grads(w), state, w, model_fn=linear, inputs=part)
        found.append(fisher(linear, w, likelihood="gaussian", inputs=part).diagonal())
    expected = -grads(w) / ((0.5 * found[0] + found[1]) / 1.5 + 0.1)
    np.testing.assert_allclose(step, expected, rtol=1e-12)


@pytest.mark.parametrize("factory", [kronecker_natural_gradient, diagonal_fisher])
def test_the_average_reaches_the_curvature_in_half_precision(factory):
    w, x = jnp.ones((3, 1), jnp.bfloat16), X.astype(jnp.bfloat16)
    optimiser = factory(0.0, likelihood="gaussian")
    update = jax.jit(lambda state: optimiser.update(jnp.zeros_like(w), state, w, model_fn=linear, inputs=x)[1])
    first = update(optimiser.init(w))
    last = first
    for _ in range(150):
        last = update(last)
    rise = (1 - 0.95**151) / (1 - 0.95)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(b, rise * a, rtol=1e-4), first.average, last.average)


BOTH = pytest.mark.parametrize("factory", [kronecker_natural_gradient, diagonal_fisher])


@BOTH
def test_the_trust_radius_bounds_the_step_in_the_metric_of_the_examples(factory):
    w = jnp.ones((3, 1))
    optimiser = factory(1.0, likelihood="gaussian", damping=1e-6, trust_radius=0.05)
    step, _ = optimiser.update(grads(w), optimiser.init(w), w, model_fn=linear, inputs=X)
    assert float(jnp.sqrt(step.T @ X.T @ X @ step / 20)[0, 0]) == pytest.approx(0.05, rel=1e-9)


@BOTH
def test_a_step_that_raises_the_loss_is_rejected_and_damped_more(factory):
    def value_fn(w):
        return 0.5 * jnp.mean((linear(w, X) - TARGETS) ** 2)

    w = jnp.ones((3, 1))
    told = {"model_fn": linear, "inputs": X, "value": value_fn(w), "value_fn": value_fn}
    for rate, taken, factor in ((100.0, False, 4.0), (0.5, True, 1.0)):
        optimiser = factory(rate, likelihood="gaussian", damping="lm", initial_damping=1e-2)
        step, state = optimiser.update(grads(w), optimiser.init(w), w, **told)
        assert bool(state.accepted) == taken == bool(jnp.any(step != 0))
        assert not taken or value_fn(w + step) < value_fn(w)
        # The gain of a half-way step, and of none, is between a quarter and three quarters, or less.
        assert float(state.damping) == pytest.approx(1e-2 * factor) or taken


@BOTH
def test_a_curvature_that_is_no_number_is_left_out_of_the_average(factory):
    optimiser, w = factory(1.0, likelihood="gaussian", damping=0.1, decay=0.5), jnp.ones((3, 1))
    step, state = optimiser.update(grads(w), optimiser.init(w), w, model_fn=linear, inputs=X.at[0, 0].set(jnp.nan))
    assert not state.finite
    np.testing.assert_allclose(step, -grads(w) / jnp.linalg.norm(grads(w)), rtol=1e-9)
    step, state = optimiser.update(grads(w), state, w, model_fn=linear, inputs=X)
    fresh, _ = optimiser.update(grads(w), optimiser.init(w), w, model_fn=linear, inputs=X)
    assert state.finite
    np.testing.assert_allclose(step, fresh, rtol=1e-12)


@BOTH
def test_wrong_input_is_one_sentence(factory):
    for options, message in (
        ({"damping": 0.0}, "damping must be positive and finite, got 0.0"),
        ({"damping": float("nan")}, "damping must be positive and finite, got nan"),
        ({"damping": "lmm"}, "damping must be a number, a schedule or 'lm', got 'lmm'"),
        ({"trust_radius": float("nan")}, "trust_radius must be positive or None, got nan"),
        ({"damping": "lm", "initial_damping": 0.0}, "initial_damping must be positive and finite, got 0.0"),
        ({"decay": 1.0}, "decay must lie in \\[0, 1\\), got 1.0"),
        ({"fisher": "x"}, "fisher must be one of exact, monte_carlo, empirical, got 'x'"),
    ):
        with pytest.raises(ValueError, match=message):
            factory(0.1, likelihood="gaussian", **options)
    optimiser = factory(0.1, likelihood="gaussian")
    with pytest.raises(ValueError, match="params must be given to update"):
        optimiser.update(jnp.ones(2), optimiser.init(jnp.ones(2)), model_fn=linear)
    with pytest.raises(ValueError, match="model_fn must be given to update"):
        optimiser.update(jnp.ones(2), optimiser.init(jnp.ones(2)), jnp.ones(2))
    with pytest.raises(ValueError, match="params must be whole for the natural gradient"):
        optax.masked(optimiser, {"a": True, "b": False}).init({"a": jnp.ones(2), "b": jnp.ones(2)})
