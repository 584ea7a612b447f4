"""Softmax₁ is attention with one more key, of score zero and value zero: in value and gradient, on every path."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.special

from hopfield import Memory
from hopfield.attention import attend, attend_blockwise, causal
from hopfield.large import reading
from hopfield.layers import AssociationOptions, HopfieldAssociation
from hopfield.patterns import sources
from hopfield.separations import SoftmaxOne
from tests.hopfield.contracts.parts import quick

RNG = np.random.default_rng(8)
QUERY, KEY, VALUE = (jnp.asarray(RNG.normal(size=shape)) for shape in ((2, 5, 4), (2, 7, 4), (2, 7, 3)))
BETA = 0.8


def with_zero_key(query, key, value):
    """Softmax attention in which every query may also read a key of zeros, whose value is zero."""
    key, value = (jnp.pad(x, ((0, 0), (0, 1), (0, 0))) for x in (key, value))
    return attend(query, key, value, beta=BETA)


def of_memories(query, key, value):
    def read(query, key, value):
        memory = Memory(key, values=value, separation="softmax1").replace(beta=jnp.asarray(BETA))
        return jax.vmap(memory.read)(query)

    return jax.vmap(read)(query, key, value)


def of_large_reads(query, key, value):
    def read(query, key, value):
        memory = Memory(sources.as_source(key), values=sources.as_source(value), separation="softmax1")
        return reading.read(memory.replace(beta=jnp.asarray(BETA)), query, block=3).output

    return jnp.stack([read(*rows) for rows in zip(query, key, value, strict=True)])


def of_layers(query, key, value):
    layer = HopfieldAssociation(1, 4, AssociationOptions(separation="softmax1", beta=BETA))
    return layer(*(x[:, :, None, :] for x in (query, key, value)))[:, :, 0, :]


PATHS = {
    "dense": lambda q, k, v: attend(q, k, v, beta=BETA, separation="softmax1"),
    "blockwise": lambda q, k, v: attend_blockwise(q, k, v, beta=BETA, separation="softmax1", blocks=(2, 3)),
    "memory": of_memories,
    "large": of_large_reads,
    "layer": of_layers,
}


def value_and_slopes(path):
    def both(*rows):
        output, pull = jax.vjp(path, *rows)
        return output, *pull(jnp.sin(jnp.arange(output.size, dtype=output.dtype)).reshape(output.shape))

    return quick(both)


@pytest.mark.parametrize("path", PATHS.values(), ids=PATHS)
def test_softmax1_is_attention_with_a_key_of_score_zero_in_value_and_gradient(path):
    found = value_and_slopes(path)(QUERY, KEY, VALUE)
    expected = value_and_slopes(with_zero_key)(QUERY, KEY, VALUE)
    tolerance = 1e-6 if path is of_layers else 1e-12  # a layer holds β in float32
    for got, wanted in zip(found, expected, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=0, atol=tolerance * 0.1)


def test_blockwise_softmax1_reads_what_a_mask_leaves_and_says_its_potential():
    query, key, value = QUERY, QUERY, VALUE[:, :5]
    output, potential = attend_blockwise(
        query, key, value, separation="softmax1", mask=causal(), blocks=(2, 2), return_potential=True
    )
    np.testing.assert_allclose(output, attend(query, key, value, separation="softmax1", mask=causal()), atol=1e-12)
    first = 0.5 * np.sum(np.asarray(query[:, 0]) ** 2, axis=1)  # β = 1/√4: the first query reads itself only
    np.testing.assert_allclose(potential[:, 0], np.log1p(np.exp(first)), rtol=1e-12)


def test_layer_with_softmax1_is_a_softmax_layer_with_one_empty_slot():
    query, key = (x[:, :, None, :] for x in (QUERY, KEY))
    one = HopfieldAssociation(1, 4, AssociationOptions(separation="softmax1", update_steps=2))
    slot = HopfieldAssociation(1, 4, AssociationOptions(memory_slots=1, update_steps=2))
    np.testing.assert_allclose(one(query, key, key), slot(query, key, key), atol=1e-12)


def test_what_is_left_over_is_the_exponential_of_minus_the_potential():
    z = jnp.asarray(RNG.normal(size=6)) * 3
    p, left = SoftmaxOne().weights(z), SoftmaxOne().leftover(z)
    np.testing.assert_allclose(left, 1 - np.sum(p), rtol=1e-12)
    np.testing.assert_allclose(left, np.exp(-SoftmaxOne().potential(z)), rtol=1e-12)
    np.testing.assert_allclose(left, scipy.special.softmax(np.append(z, 0.0))[-1], rtol=1e-12)
    assert SoftmaxOne().leftover(z, jnp.zeros(6, bool)) == 1.0
    assert SoftmaxOne().leftover(jnp.float32([1e4, 0.0])) == 0.0
    assert np.isnan(SoftmaxOne().leftover(jnp.array([jnp.nan, 0.0])))


def test_regulariser_counts_the_weight_that_is_left_and_its_maximum_is_the_potential():
    z = jnp.asarray(RNG.normal(size=6))
    separation = SoftmaxOne()
    reached = jnp.dot(separation.weights(z), z) + separation.regulariser(separation.weights(z))
    np.testing.assert_allclose(reached, separation.potential(z), rtol=1e-12)
    others = RNG.dirichlet(np.ones(7), size=50)[:, :6]
    assert all(p @ z + separation.regulariser(jnp.asarray(p)) < reached for p in others)
    assert separation.regulariser(jnp.full(6, 0.2)) == -np.inf
    np.testing.assert_allclose(separation.regulariser(jnp.zeros(6)), 0.0)
