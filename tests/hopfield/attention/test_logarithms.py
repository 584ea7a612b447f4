"""Logarithms of weights: exact of weights that floats hold, and finite where weights underflow."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield.attention import log_weights, weights

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("separation", ["softmax", "softmax1", "sparsemax", "entmax:1.5"])
def test_they_are_the_logarithms_of_the_weights(separation):
    scores = jnp.asarray(RNG.normal(size=(2, 3, 5)))
    mask = jnp.asarray(RNG.random((2, 3, 5)) < 0.7).at[0, 0].set(False)
    with np.errstate(divide="ignore"):
        expected = np.log(np.asarray(weights(scores, separation=separation, mask=mask)))
    np.testing.assert_allclose(log_weights(scores, separation=separation, mask=mask), expected, atol=1e-5)


def test_they_are_exact_where_weights_underflow():
    """ln p = −1000 − ln(1 + e^−1000) of a weight that no float holds."""
    np.testing.assert_allclose(log_weights(jnp.array([[0.0, -1000.0]])), [[0.0, -1000.0]])
    np.testing.assert_allclose(log_weights(jnp.array([[-1000.0]]), separation="softmax1"), [[-1000.0]])


def test_gradients_are_finite_where_everything_is_masked():
    def total(scores):
        found = log_weights(scores, mask=jnp.array([[False, False], [True, False]]))
        return jnp.sum(jnp.where(jnp.isinf(found), 0.0, found))

    assert jnp.isfinite(jax.grad(total)(jnp.ones((2, 2)))).all()
