"""Masks in layers: masks of sequences with as many heads, and arrays whose meaning cannot be told."""

import jax.numpy as jnp
import numpy as np
from flax import nnx

from hopfield.attention import masks
from hopfield.layers import (
    DecoderBlock,
    HopfieldAttention,
)
from tests.hopfield.layers.building import layer

RNG = np.random.default_rng(0)
B = 2
LENGTHS = jnp.asarray([2, 5])
X, Y = (jnp.asarray(RNG.normal(size=(B, n, 8)), jnp.float32) for n in (5, 5))


def attention(**options) -> HopfieldAttention:
    """As many heads as there are sequences."""
    return layer(B, 8, **options)


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
