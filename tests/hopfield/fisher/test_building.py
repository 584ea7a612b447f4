"""Refusals of a Fisher information, in one sentence, before anything is computed."""

import jax.numpy as jnp
import numpy as np
import pytest

from hopfield.fisher import fisher


def test_weights_are_relative_even_where_their_sum_overflows():
    inputs = jnp.asarray(np.arange(6.0).reshape(3, 2), jnp.float32)

    def build(weights):
        return fisher(lambda p, x: x @ p, jnp.zeros((2, 1)), likelihood="gaussian", inputs=inputs, weights=weights)

    np.testing.assert_allclose(build(jnp.full(3, 2e38, jnp.float32)).trace(), build(None).trace(), rtol=1e-6)


def test_a_model_whose_examples_depend_on_one_another_is_refused():
    normed = lambda w, x: (x - x.mean(0, keepdims=True)) @ w
    x, w = np.random.default_rng(0).normal(size=(5, 3)), jnp.ones((3, 2))
    with pytest.raises(ValueError, match=r"^outputs of model_fn must not depend on other examples or on chance"):
        fisher(normed, w, likelihood="gaussian", inputs=x)
    fisher(normed, w, likelihood="gaussian", inputs=x[:1])
    fisher(lambda w, x: x @ w, w, likelihood="gaussian", inputs=x)
