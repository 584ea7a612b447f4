"""Encoder and decoder blocks take any association and keep what attention promises."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

from hopfield.layers import DecoderBlock, EncoderBlock, Hopfield, HopfieldLayer, RecurrentMemory
from tests.hopfield.layers.building import layer

ASSOCIATIONS = {
    "attention": lambda: attention(metric="diagonal"),
    "hopfield": lambda: Hopfield(attention(update_steps=2), rngs=nnx.Rngs(1)),
    "look-up": lambda: HopfieldLayer(attention(separation="sparsemax"), 4, rngs=nnx.Rngs(1)),
}

X = jax.random.normal(jax.random.key(0), (2, 5, 8), jnp.float32)
MEMORY = jax.random.normal(jax.random.key(1), (2, 7, 6), jnp.float32)


def attention(**options):
    return layer(2, 8, **options)


def test_a_decoder_is_causal_and_reads_the_encoder():
    block = DecoderBlock(attention(), attention(in_kv_features=6), 12, dropout_rate=0.3, rngs=nnx.Rngs(2))
    run = nnx.jit(lambda m, x, encoded: m(x, encoded))
    found = run(block, X, MEMORY)
    later = X.at[:, 3:].add(1.0)
    np.testing.assert_allclose(run(block, later, MEMORY)[:, :3], found[:, :3], atol=1e-6)
    assert float(jnp.abs(run(block, later, MEMORY) - found)[:, 3:].max()) > 0.1
    assert float(jnp.abs(run(block, X, 2.0 * MEMORY) - found).max()) > 1e-3
    assert float(jnp.abs(block(X, MEMORY, deterministic=False) - found).max()) > 1e-3


@pytest.mark.parametrize("name", ASSOCIATIONS)
def test_an_encoder_is_two_residual_layers_around_any_association(name):
    block = EncoderBlock(ASSOCIATIONS[name](), 12, rngs=nnx.Rngs(2))
    after = X + block.attention(block.attention_norm(X))
    expected = after + block.mlp(block.mlp_norm(after))
    np.testing.assert_allclose(nnx.jit(lambda m, x: m(x))(block, X), expected, atol=1e-5)
    assert block.inspect(X).weights.shape[:3] == (2, 2, 5)


SELF = {
    "rotary": lambda: attention(positions="rotary"),
    "recurrent": lambda: RecurrentMemory(2, 8, rngs=nnx.Rngs(1)),
    "hopfield": lambda: Hopfield(attention(), rngs=nnx.Rngs(1)),
}


@pytest.mark.parametrize("name", SELF)
def test_documents_that_are_packed_read_as_sequences_of_their_own(name):
    block, ids = EncoderBlock(SELF[name](), 12, rngs=nnx.Rngs(2)), jnp.array([0, 0, 1, 1, 1])
    packed = block(X, segments=ids, is_causal=True)
    alone = [block(X[:, part], is_causal=True) for part in (slice(2), slice(2, 5))]
    np.testing.assert_allclose(packed, jnp.concatenate(alone, 1), atol=1e-5)
    if name != "recurrent":
        past = jnp.tril(jnp.ones((1, 1, 5, 5), bool))
        np.testing.assert_allclose(block(X, segments=ids, mask=past), packed, atol=1e-6)
    if name != "hopfield":
        decoder = DecoderBlock(SELF[name](), attention(in_kv_features=6), 12, rngs=nnx.Rngs(2))
        places = jnp.array([0, 1, 0, 1, 2])
        restarted = decoder(X, MEMORY, segments=ids, positions=places)
        np.testing.assert_allclose(restarted[:, 2:], decoder(X[:, 2:], MEMORY), atol=1e-5)
