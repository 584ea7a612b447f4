"""The association inside the layers, on heads that are not projected."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield import Memory, metrics, retrieve
from hopfield.layers import AssociationOptions, HopfieldAssociation

KEYS = jax.random.normal(jax.random.key(0), (9, 1, 6), jnp.float64)
ITERATED = AssociationOptions(update_steps=31, beta=0.4, rtol=1e-6)
QUERIES = jax.random.normal(jax.random.key(1), (4, 1, 6), jnp.float64)


def test_steps_energy_and_status_are_those_of_the_memory_of_the_keys():
    """One head, keys as patterns: `retrieve` of the same Memory, query by query."""
    associate = HopfieldAssociation(1, 6, ITERATED)
    found = associate.inspect(QUERIES, KEYS)
    memory = Memory(KEYS[:, 0], 0.4)
    expected = jax.vmap(lambda state: retrieve(memory, state, max_steps=30, rtol=1e-6))(QUERIES[:, 0])
    np.testing.assert_array_equal(found.steps[0], expected.steps)
    np.testing.assert_array_equal(found.status[0], expected.status)
    np.testing.assert_array_equal(found.converged[0], expected.converged)
    np.testing.assert_allclose(found.energy[0], expected.energy, rtol=1e-6)
    np.testing.assert_allclose(found.weights[0], jax.vmap(memory.weights)(expected.state), atol=1e-6)
    read = HopfieldAssociation(1, 6, ITERATED)(QUERIES, KEYS, KEYS)
    np.testing.assert_allclose(read[:, 0], jax.vmap(memory.read)(expected.state), atol=1e-6)


def test_a_bias_is_added_to_the_scores():
    bias = jnp.linspace(-1.0, 1.0, 36).reshape(1, 4, 9)
    weights = HopfieldAssociation(1, 6).inspect(QUERIES, KEYS, bias=bias).weights
    scores = QUERIES[:, 0] @ KEYS[:, 0].T / np.sqrt(6.0) + bias[0]
    np.testing.assert_allclose(weights[0], jax.nn.softmax(scores), atol=1e-6)


@pytest.mark.parametrize("steps", [1, 3])
def test_a_slot_scores_zero_under_a_metric_with_biases(steps):
    """Weights e^s / (2 + Σ e^s) of the keys, which a metric with biases would change for keys of zeros."""
    rng = np.random.default_rng(3)
    w_query, w_key, query, key = (rng.normal(size=(n, 2)) for n in (2, 2, 3, 4))
    b_query, b_key = rng.normal(size=2), rng.normal(size=2)
    options = AssociationOptions(
        metric=metrics.Projected(w_query, w_key, b_query, b_key), memory_slots=2, beta=1.3, update_steps=steps
    )
    state = query
    for _ in range(steps):
        sizes = np.exp(1.3 * (state @ w_query + b_query) @ (key @ w_key + b_key).T)
        weights = sizes / (2 + sizes.sum(axis=1, keepdims=True))
        state = weights @ key
    module = HopfieldAssociation(1, 2, options)
    found = module(query[None, :, None], key[None, :, None], key[None, :, None])
    np.testing.assert_allclose(found[0, :, 0], state, rtol=1e-5)
