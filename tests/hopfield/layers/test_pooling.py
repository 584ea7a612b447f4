"""Pooling and look-up layers are the association of learned queries or learned patterns."""

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

from hopfield.layers import Hopfield, HopfieldLayer, HopfieldPooling
from tests.hopfield.layers.building import layer as built

X = jax.random.normal(jax.random.key(0), (2, 5, 8), jnp.float32)


def attention(**options):
    return built(2, 8, **options)


def test_without_norms_it_is_attention():
    np.testing.assert_array_equal(Hopfield(attention(), normalise=False, rngs=nnx.Rngs(1))(X), attention()(X))


def test_stored_patterns_are_read_at_their_places():
    """With added positions what is read in no other's place has them, too, as in the attention itself."""
    attend = attention(positions="sinusoidal")
    whole = Hopfield(attend, normalise=False, rngs=nnx.Rngs(1))
    np.testing.assert_allclose(whole(X), attend(X), atol=1e-6)
    np.testing.assert_allclose(whole(X, X, X), attend(X, X, X), atol=1e-6)
    query = jnp.ones((2, 3, 8), jnp.float32)
    pooling = HopfieldPooling(attend, 3, normalise=False, rngs=nnx.Rngs(1))
    pooling.queries[...] = query[0]
    np.testing.assert_allclose(pooling(X).reshape(2, 3, 8), attend(query, X), atol=1e-6)
    layer = HopfieldLayer(attend, 5, normalise=False, rngs=nnx.Rngs(1))
    stored = jnp.broadcast_to(layer.patterns[...], (2, 5, 8))
    np.testing.assert_allclose(layer(X), attend(X, stored), atol=1e-6)


def test_pooling_is_association_with_learned_queries_in_any_order():
    """A set is pooled: permuting the inputs changes nothing, padding that is masked changes nothing."""
    layer = HopfieldPooling(attention(out_features=3), quantity=4, rngs=nnx.Rngs(1))
    pooled = layer(X)
    assert pooled.shape == (2, 12)
    np.testing.assert_allclose(layer(X[:, ::-1]), pooled, atol=1e-6)
    padded = jnp.concatenate([X, 50.0 * jnp.ones((2, 3, 8))], axis=1)
    mask = (jnp.arange(8) < 5).reshape(1, 1, 1, 8)
    np.testing.assert_allclose(layer(padded, mask=mask), pooled, atol=1e-6)
    by_hand = layer.hopfield(jnp.broadcast_to(layer.queries[...], (2, 4, 8)), X)
    np.testing.assert_allclose(by_hand.reshape(2, 12), pooled, atol=1e-6)
    assert layer.inspect(X).weights.shape == (2, 2, 4, 5)


def test_layer_looks_up_learned_patterns_apart_from_their_targets():
    layer = HopfieldLayer(attention(beta=60.0), quantity=6, separate_targets=True, normalise=False, rngs=nnx.Rngs(1))
    layer.hopfield.attention.query.kernel[...] = layer.hopfield.attention.key.kernel[...]
    layer.patterns[...] = jax.random.normal(jax.random.key(2), (6, 8), jnp.float32)
    keys = layer.hopfield.attention.key(layer.patterns[...])
    own = jnp.einsum("shd,thd->hst", keys, keys)
    clear = np.asarray(jnp.all(jnp.argmax(own, -1) == jnp.arange(6)[None, :], axis=0))  # nearest to itself in all heads
    assert clear.sum() >= 2
    found = layer(layer.patterns[...][None])[0]
    value = layer.hopfield.attention.value(layer.targets[...])
    np.testing.assert_allclose(found[clear], layer.hopfield.attention.out(value)[clear], atol=1e-2)
