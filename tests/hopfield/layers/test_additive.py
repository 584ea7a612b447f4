"""Additive association inside Flax's layer: scores as written, masks, dropout and shared keys."""

import jax
import jax.numpy as jnp
import numpy as np
import scipy.special
from flax import nnx

from hopfield.attention import causal
from hopfield.layers import AdditiveAssociation

RNG = np.random.default_rng(0)


def drawn(*shape):
    return RNG.normal(size=shape).astype(np.float32)


def test_scores_are_those_of_the_network_of_each_head():
    layer = AdditiveAssociation(2, 3, 5, rngs=nnx.Rngs(0))
    query, key = drawn(4, 2, 3), drawn(6, 2, 3)
    found = jax.jit(layer.weights)(query, key)
    w_query, w_key, vector = (np.asarray(parameter[...]) for parameter in (layer.w_query, layer.w_key, layer.vector))
    for head in range(2):
        left, right = query[:, head] @ w_query[head], key[:, head] @ w_key[head]
        scores = np.tanh(left[:, None, :] + right[None, :, :]) @ vector[head]
        np.testing.assert_allclose(found[head], scipy.special.softmax(scores, axis=-1), atol=1e-6)


def test_it_goes_into_flax_with_masks_and_shared_keys():
    associate = AdditiveAssociation(4, 2, separation="sparsemax", rngs=nnx.Rngs(0))
    layer = nnx.MultiHeadAttention(4, 8, num_kv_heads=2, decode=False, attention_fn=associate, rngs=nnx.Rngs(1))
    x = drawn(2, 5, 8)
    mask, read = np.asarray(causal().dense(5, 5))[None, None], nnx.jit(lambda layer, x, mask: layer(x, mask=mask))
    np.testing.assert_allclose(read(layer, x, mask)[:, :3], read(layer, x[:, :3], mask[..., :3, :3]), atol=1e-5)
    slopes = nnx.jit(nnx.grad(lambda layer: jnp.sum(layer(x, mask=mask) ** 2)))(layer)
    assert all(np.isfinite(leaf).all() for leaf in jax.tree.leaves(slopes))
    assert np.any(np.asarray(slopes["attention_fn"]["vector"][...]) != 0)


def test_dropped_weights_are_scaled_up():
    layer = AdditiveAssociation(1, 3, rngs=nnx.Rngs(0))
    query, key, value = drawn(2000, 1, 3), drawn(4, 1, 3), np.ones((4, 1, 3))
    dropout = {"dropout_rng": jax.random.key(0), "dropout_rate": 0.5, "broadcast_dropout": False}
    found = np.asarray(jax.jit(lambda *rows: layer(*rows, **dropout))(query, key, value))
    assert abs(found.mean() - 1.0) < 0.05
    assert found.std() > 0.1
