"""Layers of fast weights: chunks, steps and formulas agree, and what a state holds is what its theory says."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

from hopfield.layers import RecurrentMemory

X = jax.random.normal(jax.random.key(0), (2, 19, 8), jnp.float32)  # more tokens than a chunk has
KINDS = [("outer", False), ("outer", True), ("delta", False), ("delta", True)]


@pytest.mark.parametrize(("rule", "gated"), KINDS)
def test_chunks_are_steps_by_hand(rule, gated):
    layer = RecurrentMemory(2, 8, rule=rule, gated=gated, rngs=nnx.Rngs(0))
    rows, past = layer.projection(X), 3
    rows = np.pad(np.asarray(rows, float), ((0, 0), (past, 0), (0, 0)))
    mixed = sum(rows[:, i : i + 19] * np.asarray(layer.filter[i]) for i in range(4))
    mixed = mixed / (1 + np.exp(-mixed))
    query, key, value = (part.reshape(2, 19, 2, 4) for part in np.split(mixed, 3, axis=-1))
    query, key = (part / np.sqrt((part**2).sum(-1, keepdims=True) + 1e-6) for part in (query, key))
    gate = lambda linear: np.ones((2, 19, 2)) if linear is None else 1 / (1 + np.exp(-np.asarray(linear(X), float)))
    strength, decay = gate(layer.strength), gate(layer.decay)
    read = np.zeros((2, 19, 2, 4))
    for b, h in np.ndindex(2, 2):
        state = np.zeros((4, 4))
        for t in range(19):
            k, v, s = key[b, t, h], value[b, t, h], strength[b, t, h]
            state = state * decay[b, t, h]
            state = state + s * np.outer(k, v - (k @ state if rule == "delta" else 0))
            read[b, t, h] = query[b, t, h] @ state
    expected = layer.out(layer.norm(jnp.asarray(read, jnp.float32)).reshape(2, 19, 8))
    np.testing.assert_allclose(layer(X), expected, atol=2e-5)


@pytest.mark.parametrize(("rule", "gated"), KINDS[1:3])
def test_decoding_goes_on_where_it_ended(rule, gated):
    layer = RecurrentMemory(2, 8, rule=rule, gated=gated, rngs=nnx.Rngs(0))
    with pytest.raises(ValueError, match="decode must follow init_cache"):
        layer(X, decode=True)
    layer.init_cache(X.shape)
    decode = nnx.jit(lambda layer, x: layer(x, decode=True))
    parts = [decode(layer, X[:, :17]), decode(layer, X[:, 17:18]), decode(layer, X[:, 18:])]
    np.testing.assert_allclose(jnp.concatenate(parts, 1), layer(X), atol=2e-5)
    assert layer.matrix[...].shape == (2, 2, 4, 4)


def test_every_parameter_learns():
    layer = RecurrentMemory(2, 8, gated=True, rngs=nnx.Rngs(0))
    slopes = nnx.jit(nnx.grad(lambda layer: jnp.mean((layer(X) - 1) ** 2)))(layer)
    assert all(float(jnp.abs(leaf).max()) > 0 for leaf in jax.tree.leaves(slopes))
