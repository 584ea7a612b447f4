"""Additive scores and kernel regression: against loops in numpy, and by their properties."""

import jax.numpy as jnp
import numpy as np

from hopfield.attention import core, kernels

RNG = np.random.default_rng(11)


def normal(*shape, dtype=jnp.float64):
    return jnp.asarray(RNG.normal(size=shape), dtype)


def drawn(*leading, t=3, s=5, d=4, v=2):
    return normal(*leading, t, d), normal(*leading, s, d), normal(*leading, s, v)


def test_additive_scores_are_those_of_the_formula():
    query, key = normal(2, 3, 4), normal(2, 5, 6)
    w_query, w_key, vector, bias = normal(4, 7), normal(6, 7), normal(7), normal(7)
    found = kernels.additive_scores(query, key, w_query, w_key, vector, bias)
    for b, i, j in np.ndindex(2, 3, 5):
        expected = vector @ np.tanh(query[b, i] @ w_query + key[b, j] @ w_key + bias)
        np.testing.assert_allclose(found[b, i, j], expected, atol=1e-14)


def test_kernel_regression_is_the_weighted_mean_of_the_kernel():
    query, key, value = map(np.asarray, drawn(2))
    found = kernels.kernel_regression(query, key, value, bandwidth=0.7)
    for b, i in np.ndindex(2, 3):
        near = np.exp(-np.sum((query[b, i] - key[b]) ** 2, axis=-1) / (2 * 0.49))
        np.testing.assert_allclose(found[b, i], near @ value[b] / near.sum(), atol=1e-13)


def test_kernel_regression_of_keys_on_a_sphere_is_attention():
    """‖q − k‖² = ‖q‖² + ‖k‖² − 2 q·k; only the last term depends on the key: β = 1/h²."""
    query, key, value = drawn()
    key = key / jnp.linalg.norm(key, axis=-1, keepdims=True)
    found = kernels.kernel_regression(query, key, value, bandwidth=0.5)
    np.testing.assert_allclose(found, core.attend(query, key, value, beta=4.0), atol=1e-14)
