"""Masks in layers: those of sequences with as many heads, and arrays whose meaning cannot be told."""

import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

from hopfield.attention import masks
from hopfield.layers import (
    DecoderBlock,
    EncoderBlock,
    EnergyTransformerBlock,
    Hopfield,
    HopfieldAssociation,
    HopfieldAttention,
    HopfieldLayer,
    HopfieldPooling,
)
from tests.hopfield.layers.building import layer

RNG = np.random.default_rng(0)
B = 2
LENGTHS = jnp.asarray([2, 5])
X, Y = (jnp.asarray(RNG.normal(size=(B, n, 8)), jnp.float32) for n in (5, 5))


def attention(**options) -> HopfieldAttention:
    """As many heads as there are sequences."""
    return layer(B, 8, **options)


def inside() -> nnx.MultiHeadAttention:
    return nnx.MultiHeadAttention(B, 8, decode=False, attention_fn=HopfieldAssociation(B, 4), rngs=nnx.Rngs(0))


MODULES = {
    "attention": lambda: attention(),
    "iterated": lambda: attention(update_steps=3, memory_slots=1, separation="sparsemax"),
    "grouped": lambda: attention(num_kv_heads=1),
    "in flax": inside,
    "hopfield": lambda: Hopfield(attention(), rngs=nnx.Rngs(1)),
    "pooling": lambda: HopfieldPooling(attention(), 3, rngs=nnx.Rngs(1)),
    "lookup": lambda: HopfieldLayer(attention(), 5, rngs=nnx.Rngs(1)),
    "encoder": lambda: EncoderBlock(attention(), rngs=nnx.Rngs(1)),
    "energy": lambda: EnergyTransformerBlock(8, B, 6, steps=2, rngs=nnx.Rngs(0)),
}


@pytest.mark.parametrize("name", MODULES)
def test_a_mask_is_one_of_sequences_with_as_many_heads(name):
    module = MODULES[name]()
    run = nnx.jit(lambda module, x, lengths: module(x, mask=masks.padding(lengths)))
    found = run(module, X, LENGTHS)
    for b in range(B):
        np.testing.assert_allclose(found[b : b + 1], run(module, X[b : b + 1], LENGTHS[b]), atol=1e-5)
    if hasattr(module, "inspect"):
        weights = module.inspect(X, mask=masks.padding(LENGTHS)).weights
        assert np.all(np.asarray(weights)[0, :, :, 2:5] == 0)


def test_both_masks_of_a_decoder_are_of_sequences():
    module = DecoderBlock(attention(), attention(), rngs=nnx.Rngs(1))
    own, cross = masks.causal() & masks.padding(LENGTHS), masks.padding(LENGTHS)
    found = module(X, Y, mask=own, cross_mask=cross)
    for b in range(B):
        own, cross = masks.causal() & masks.padding(LENGTHS[b]), masks.padding(LENGTHS[b])
        one = module(X[b : b + 1], Y[b : b + 1], mask=own, cross_mask=cross)
        np.testing.assert_allclose(found[b : b + 1], one, atol=1e-5)


def test_a_mask_in_decoding_is_that_of_the_place_in_the_cache():
    window = masks.sliding_window(1) & masks.causal()
    module = attention(decode=True)
    module.init_cache(X.shape, jnp.float32)
    found = jnp.concatenate([module(X[:, t : t + 1], mask=window) for t in range(5)], axis=1)
    np.testing.assert_allclose(found, module(X, mask=window, decode=False), atol=1e-5)
