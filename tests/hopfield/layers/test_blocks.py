"""Encoder and decoder blocks take any association and keep what attention promises."""

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from hopfield.layers import DecoderBlock
from tests.hopfield.layers.building import layer

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
