"""AttentionFunction: user-defined associations inside Flax's attention, with its masks and its dropout."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

from hopfield import attention
from hopfield.layers import AttentionFunction

X = jax.random.normal(jax.random.key(4), (2, 5, 8), jnp.float32)
MASK = np.random.default_rng(0).random((2, 1, 5, 5)) < 0.6
MASK |= np.eye(5, dtype=bool)


class Products(AttentionFunction):
    """Softmax of scaled products, once more."""

    def read_heads(self, query, key, value, *, scope, dropout=None, precision=None, module=None):
        query, key, value = (jnp.swapaxes(x, -2, -3) for x in (query, key, value))
        scores = query @ jnp.swapaxes(key, -1, -2) / query.shape[-1] ** 0.5
        allowed = scope.allowed(jnp.arange(scores.shape[-2]), scores.shape[-1], scores.ndim)
        weights = attention.weights(scores if scope.bias is None else scores + scope.bias, mask=allowed)
        if module is not None:
            module.sow(nnx.Intermediate, "attention_weights", weights)
        weights = weights if dropout is None else dropout.applied(weights, weights.shape[-2])
        return jnp.swapaxes(jnp.matmul(weights, value, precision=precision), -2, -3)


def layer(**options) -> nnx.MultiHeadAttention:
    return nnx.MultiHeadAttention(2, 8, decode=False, rngs=nnx.Rngs(0), **options)


@pytest.mark.parametrize("mask", [None, MASK], ids=["all keys", "mask"])
def test_products_of_ones_own_are_those_of_flax(mask):
    own, theirs = layer(attention_fn=Products()), layer()
    np.testing.assert_allclose(own(X, mask=mask), theirs(X, mask=mask), atol=1e-6)
    _, found = nnx.capture(lambda m: m(X, mask=mask, sow_weights=True), nnx.Intermediate)(own)
    (weights,) = map(np.asarray, jax.tree.leaves(found["attention_weights"]))
    np.testing.assert_allclose(weights.sum(-1), 1.0, rtol=1e-6)
    assert mask is None or not np.any(weights[np.broadcast_to(~mask, weights.shape)])


def test_causality_bias_and_dropout_come_to_read_heads():
    heads = X.reshape(2, 5, 2, 4)
    bias = jax.random.normal(jax.random.key(1), (1, 2, 5, 5), jnp.float32)
    found = Products()(heads, heads, heads, bias, is_causal=True)
    np.testing.assert_allclose(found, nnx.dot_product_attention(heads, heads, heads, bias, is_causal=True), atol=1e-6)
    dropped = Products()(heads, heads, heads, dropout_rng=jax.random.key(0), dropout_rate=0.5)
    assert not np.allclose(dropped, Products()(heads, heads, heads))
