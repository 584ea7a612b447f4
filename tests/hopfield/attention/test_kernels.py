"""Additive scores and kernel regression: against loops in numpy, and by their properties."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield.attention import core, kernels

RNG = np.random.default_rng(11)
START = RNG.bit_generator.state


@pytest.fixture(autouse=True)
def the_same_numbers_in_any_order():
    RNG.bit_generator.state = START


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
    """‖q − k‖² = ‖q‖² + ‖k‖² − 2 q·k, of which only the last depends on the key: β = 1/h²."""
    query, key, value = drawn()
    key = key / jnp.linalg.norm(key, axis=-1, keepdims=True)
    found = kernels.kernel_regression(query, key, value, bandwidth=0.5)
    np.testing.assert_allclose(found, core.attend(query, key, value, beta=4.0), atol=1e-14)


def test_kernel_regression_has_a_bandwidth_per_head():
    query, key, value = (jnp.asarray(RNG.normal(size=(2, 2, n, 3))) for n in (4, 5, 5))
    found = kernels.kernel_regression(query, key, value, bandwidth=np.array([0.5, 2.0]))
    for head, bandwidth in enumerate((0.5, 2.0)):
        expected = kernels.kernel_regression(query[:, head], key[:, head], value[:, head], bandwidth=bandwidth)
        np.testing.assert_allclose(found[:, head], expected, rtol=1e-12)
    with pytest.raises(ValueError, match=r"bandwidth must broadcast to the leading axes \[2, 2\], got shape \(5,\)"):
        kernels.kernel_regression(query, key, value, bandwidth=np.ones(5))


def test_a_query_far_from_all_keys_reads_the_nearest_one():
    """Gaussians that all underflow, or squares beyond half precision, are no mask; 1/2 and 1/4 are exact in float16."""
    key, value = jnp.asarray([[0.0, 1.0], [1.0, 0.0]]), jnp.asarray([[1.0], [2.0]])
    for scale, bandwidth in ((1e200, 1.0), (1.0, 1e-200)):
        query = scale * jnp.asarray([[0.6, 0.5]])
        found = kernels.kernel_regression(query, scale * key, value, bandwidth=bandwidth)
        np.testing.assert_array_equal(found, [[2.0]])
    rows = [jnp.asarray([[0.0, 0.5], [1.0, 0.25]]) * 2.0**10] * 2
    found = kernels.kernel_regression(*(x.astype(jnp.float16) for x in (*rows, value)), bandwidth=2.0**10)
    np.testing.assert_allclose(found, kernels.kernel_regression(*rows, value, bandwidth=2.0**10), rtol=1e-3)
    compact = partial(kernels.kernel_regression, log_kernel=lambda d: jnp.where(d < 0.1, 0.0, -jnp.inf))
    np.testing.assert_array_equal(compact(rows[0], rows[0] + 1.0, value), 0.0)


@pytest.mark.parametrize("metric", [None, np.eye(3)])
def test_regression_is_smooth_where_a_query_is_a_key(metric):
    """Of two keys it is a sigmoid of a linear function of the query: f'' = f (1 − f)(1 − 2f) in every entry."""
    keys = jnp.stack([jnp.arange(3.0), jnp.arange(3.0) + 1])
    read = lambda query: kernels.kernel_regression(query[None], keys, jnp.array([[0.0], [1.0]]), metric=metric)[0, 0]
    value = float(read(keys[0]))
    np.testing.assert_allclose(jax.hessian(read)(keys[0]), value * (1 - value) * (1 - 2 * value), rtol=1e-5)


def test_kernel_regression_reads_the_keys_of_its_mask_alone():
    query, key, value = drawn()
    used = jnp.array([True, False, True, True, False])
    found = kernels.kernel_regression(query, key, value, mask=used[None])
    np.testing.assert_allclose(found, kernels.kernel_regression(query, key[used], value[used]), atol=1e-14)
    assert np.all(np.abs(found - kernels.kernel_regression(query, key, value)) > 1e-6)
