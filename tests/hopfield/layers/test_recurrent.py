"""Layers of fast weights: chunks, steps and formulas agree, in batches with padding and documents as one by one."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

from hopfield.layers import RecurrentMemory, RecurrentOptions

X = jax.random.normal(jax.random.key(0), (2, 19, 8), jnp.float32)  # more tokens than a chunk has
KINDS = [("outer", False), ("outer", True), ("delta", False), ("delta", True)]
FULL = RecurrentOptions(gated=True, output_gate=True, max_strength=2.0, key_features=3, value_features=5)


def layer_of(rule="delta", gated=False, **options):
    return RecurrentMemory(2, 8, options=RecurrentOptions(rule=rule, gated=gated, **options), rngs=nnx.Rngs(0))


def by_hand(layer, inputs):
    """Outputs of tokens [T, F] in numpy, step by step in float64."""
    sigmoid = lambda x: 1 / (1 + np.exp(-np.asarray(x, float)))
    tokens, (heads, memories) = len(inputs), (layer.num_heads, layer.memories)
    rows = np.pad(np.asarray(layer.projection(inputs), float), ((3, 0), (0, 0)))
    mixed = sum(rows[i : i + tokens] * np.asarray(layer.filter[i], float) for i in range(4))
    mixed = mixed * sigmoid(mixed)
    query, key, value = np.split(mixed, np.cumsum(layer.widths)[:-1], axis=-1)
    query, key = query.reshape(tokens, heads, -1), key.reshape(tokens, memories, -1)
    query, key = (part / np.sqrt((part**2).sum(-1, keepdims=True) + 1e-6) for part in (query, key))
    value, read = value.reshape(tokens, memories, -1), np.zeros((tokens, heads, layer.values))
    strength, decay = (
        np.ones((tokens, memories)) if gate is None else sigmoid(gate(inputs)) for gate in (layer.strength, layer.decay)
    )
    for h in range(heads):
        m, state = h // (heads // memories), 0.0
        for t in range(tokens):
            k, v, s = key[t, m], value[t, m], layer.max_strength * strength[t, m]
            state = state * decay[t, m] + np.zeros((layer.keys, layer.values))
            state = state + s * np.outer(k, v - (k @ state if layer.rule == "delta" else 0))
            read[t, h] = query[t, h] @ state
    read = np.asarray(layer.norm(jnp.asarray(read, jnp.float32))).reshape(tokens, -1)
    gate = 1.0 if layer.gate is None else np.asarray(layer.gate(inputs), float) * sigmoid(layer.gate(inputs))
    return (read * gate) @ np.asarray(layer.out.kernel, float)


@pytest.mark.parametrize(("rule", "gated"), KINDS)
def test_chunks_are_steps_by_hand(rule, gated):
    layer = layer_of(rule, gated)
    np.testing.assert_allclose(layer(X), [by_hand(layer, x) for x in X], atol=2e-5)


def test_gates_widths_and_grouped_heads_are_steps_by_hand_and_decode():
    layer = RecurrentMemory(4, 8, 2, options=FULL, rngs=nnx.Rngs(0))
    once = layer(X)
    np.testing.assert_allclose(once, [by_hand(layer, x) for x in X], atol=2e-5)
    layer.init_cache(X.shape)
    parts = [layer(X[:, :17], decode=True), layer(X[:, 17:], decode=True)]
    np.testing.assert_allclose(jnp.concatenate(parts, 1), once, atol=2e-5)
    assert layer.matrix[...].shape == (2, 2, 3, 5)


@pytest.mark.parametrize(("rule", "gated"), KINDS[1:3])
def test_decoding_goes_on_where_it_ended(rule, gated):
    layer = layer_of(rule, gated)
    with pytest.raises(ValueError, match="decode must follow init_cache"):
        layer(X, decode=True)
    layer.init_cache(X.shape)
    decode = nnx.jit(lambda layer, x: layer(x, decode=True))
    parts = [decode(layer, X[:, :17]), decode(layer, X[:, 17:18]), decode(layer, X[:, 18:])]
    np.testing.assert_allclose(jnp.concatenate(parts, 1), layer(X), atol=2e-5)
    assert layer.matrix[...].shape == (2, 2, 4, 4)


def test_padding_and_documents_read_as_sequences_of_their_own():
    layer, spoilt = RecurrentMemory(4, 8, 2, options=FULL, rngs=nnx.Rngs(0)), X.at[0, :3].set(jnp.nan)
    apart = [layer(X[:1, 3:])[0], layer(X[1:, :16])[0]]
    places = jnp.stack([jnp.arange(19) - 3, jnp.where(jnp.arange(19) < 16, jnp.arange(19), -1)])
    padded = layer(spoilt.at[1, 16:].set(jnp.nan), positions=places)
    np.testing.assert_allclose(padded[0, 3:], apart[0], atol=2e-5)
    np.testing.assert_allclose(padded[1, :16], apart[1], atol=2e-5)
    assert not np.asarray(padded)[[0, 1], [0, 16]].any()
    by_length = layer(X.at[1, 16:].set(jnp.nan), lengths=jnp.array([19, 16]))
    np.testing.assert_allclose(by_length, jnp.stack([layer(X)[0], jnp.pad(apart[1], ((0, 3), (0, 0)))]), atol=2e-5)
    ids = jnp.array([0] * 2 + [1] * 15 + [2] * 2)
    packed = layer(X, segments=ids)
    for part in (slice(2), slice(2, 17), slice(17, 19)):
        np.testing.assert_allclose(packed[:, part], layer(X[:, part]), atol=2e-5)
    restarted = jnp.concatenate([jnp.arange(2), jnp.arange(15), jnp.arange(2)])
    np.testing.assert_allclose(layer(X, positions=restarted), packed, atol=1e-6)
    layer.init_cache(X.shape)
    layer(spoilt.at[1, 16:].set(jnp.nan), positions=places, decode=True)
    after = layer(X[:, :2], decode=True)
    whole = [layer(jnp.concatenate([X[0, 3:], X[0, :2]])), layer(jnp.concatenate([X[1, :16], X[1, :2]]))]
    np.testing.assert_allclose(after, [x[-2:] for x in whole], atol=2e-5)
    with pytest.raises(ValueError, match="segments must be left out in decoding"):
        layer(X, segments=ids, decode=True)


def test_decays_begin_as_those_of_retnet_and_parameters_have_a_type_of_their_own():
    layer = RecurrentMemory(4, 8, options=RecurrentOptions(gated=True), dtype="bfloat16", rngs=nnx.Rngs(0))
    np.testing.assert_allclose(jax.nn.sigmoid(layer.decay.bias[...]), 1 - 2.0 ** -np.arange(5, 9), rtol=1e-6)
    assert {leaf.dtype for leaf in jax.tree.leaves(nnx.state(layer))} == {jnp.dtype("float32")}
    assert layer(X).dtype == jnp.bfloat16


def test_every_parameter_learns():
    layer = RecurrentMemory(4, 8, 2, options=FULL, rngs=nnx.Rngs(0))
    slopes = nnx.jit(nnx.grad(lambda layer: jnp.mean((layer(X) - 1) ** 2)))(layer)
    assert all(float(jnp.abs(leaf).max()) > 0 for leaf in jax.tree.leaves(slopes))
