"""What a Fisher information is refused for, in one sentence, before anything is computed."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield.fisher import as_likelihood, fisher

B, D, K = 7, 4, 3
INPUTS = jax.random.normal(jax.random.key(0), (B, D))
PARAMS = {
    "w": 0.5 * jax.random.normal(jax.random.key(1), (D, 5)),
    "b": jnp.array([0.1, -0.2, 0.3, 0.0, 0.2]),
    "v": 0.5 * jax.random.normal(jax.random.key(2), (5, K)),
}
NAMES = ["categorical", "bernoulli", "gaussian", "poisson"]


def model(params, inputs):
    return jnp.tanh(inputs @ params["w"] + params["b"][None]) @ params["v"]


IMPOSSIBLE = {
    "categorical": (np.full(B, K), "classes, whole numbers from 0 to below 3, got 3"),
    "negative class": (np.full(B, -1), "classes, whole numbers from 0 to below 3, got -1"),
    "too many": (np.zeros((B, K), int), r"shape \[7\], got \[7, 3\]"),
    "bernoulli": (np.full((B, K), 1.5), r"between 0 and 1, got 1\.5"),
    "gaussian": (np.full((B, K), np.nan), "finite numbers, got nan"),
    "poisson": (np.full((B, K), -1.0), r"non-negative and finite, got -1\.0"),
}


@pytest.mark.parametrize("name", IMPOSSIBLE)
def test_targets_that_the_family_does_not_have_are_refused_or_not_a_number(name):
    targets, message = IMPOSSIBLE[name]
    family = as_likelihood(name if name in NAMES else "categorical")
    given = {"likelihood": family, "inputs": INPUTS, "kind": "empirical"}
    with pytest.raises(ValueError, match=f"^targets must (be|have) {message}$"):
        fisher(model, PARAMS, targets=targets, **given)
    if name != "too many":
        traced = jax.jit(lambda t: fisher(model, PARAMS, targets=t, **given).trace())(targets)
        assert np.isnan(traced)
        assert np.isnan(family.log_probability(model(PARAMS, INPUTS), jnp.asarray(targets))).all()


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
