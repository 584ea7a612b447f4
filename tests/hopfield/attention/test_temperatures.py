"""Temperatures and biases given to attention: their types, their shapes, and what they change."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield import attention
from hopfield.attention import core
from tests.hopfield.attention.rows import KEY, MIXES, QUERY, VALUE, WEIGHTS, X

RNG = np.random.default_rng(2)


@pytest.mark.parametrize("differentiate", [jax.jacfwd, jax.jacrev])
def test_a_score_of_minus_infinity_has_a_derivative_in_the_temperature(differentiate):
    """p = softmax(s / T) of s = (1, 2): dp_1/dT = p_1 p_2 (s_2 − s_1)/T²."""
    scores = np.asarray([[1.0, 2.0, -np.inf]])
    p = np.exp(scores[0] / 1.5) / np.sum(np.exp(scores[0] / 1.5))
    slope = jax.jit(differentiate(lambda t: core.weights(scores, temperature=t)))(1.5)[0]
    np.testing.assert_allclose(slope, np.asarray([1.0, -1.0, 0.0]) * p[0] * p[1] / 1.5**2, atol=1e-12)


BIASED = {
    "attend": lambda bias: core.attend(QUERY, KEY, VALUE, bias=bias),
    "decompose": lambda bias: core.decompose(QUERY, KEY, VALUE, bias=bias).output,
    "scores": lambda bias: core.scores(QUERY, KEY, bias=bias),
    "heads": lambda bias: attention.attend_heads(QUERY, KEY, VALUE, bias=bias),
    "shared keys": lambda bias: attention.attend_heads(QUERY, KEY[:, :1], VALUE[:, :1], bias=bias),
    "gradients": lambda bias: attention.attention_gradients(QUERY, KEY, VALUE, QUERY, bias=bias).query,
    "verification": lambda bias: attention.verify_gradients(QUERY, KEY, VALUE, bias=bias).passed,
}
REFUSED = {
    "truth values": (np.tri(4, 5, dtype=bool), r"^bias must be real numbers, got bool"),
    "complex numbers": (np.ones((4, 5), complex), r"^bias must be real numbers, got complex"),
    "a word": ("alibi", r"^bias must be an array of real numbers, got str"),
    "too many keys": (np.ones(7), r"^bias must broadcast to the scores \[.*4, 5\], got shape \(7,\)"),
    "too many queries": (np.ones((3, 1)), r"^bias must broadcast to the scores \[.*4, 5\], got shape \(3, 1\)"),
}


@pytest.mark.parametrize("bias", REFUSED)
@pytest.mark.parametrize("function", BIASED)
def test_a_bias_is_real_numbers_that_broadcast_to_the_scores(function, bias):
    given, message = REFUSED[bias]
    with pytest.raises(ValueError, match=message):
        BIASED[function](given)


def test_one_query_has_no_bias_of_several():
    with pytest.raises(ValueError, match=r"^bias must broadcast to the scores \[2, 2, 1, 5\], got shape \(4, 5\)"):
        core.attend(QUERY[..., :1, :], KEY, VALUE, bias=np.zeros((4, 5)))


THREE = [RNG.normal(size=(3, n, 2)) for n in (4, 5, 5)]
TEMPERED = {
    "attend": core.attend,
    "scores": lambda q, k, v, beta: core.scores(q, k, beta=beta),
    "blockwise": attention.attend_blockwise,
    "heads": attention.attend_heads,
    "shared keys": lambda q, k, v, beta: attention.attend_heads(q, k[:1], v[:1], beta=beta),
    "local": partial(attention.attend_locally, left=1),
    "kernel features": lambda q, k, v, beta: attention.RandomFourier(jax.random.key(0), 2, 4, beta=beta)(q),
    "gradients": lambda q, k, v, beta: attention.attention_gradients(q, k, v, q, beta=beta),
    "relative": lambda q, k, v, beta: attention.relative_bias(q, np.ones((3, 2)), 5, beta=beta),
}


@pytest.mark.parametrize("function", TEMPERED)
def test_as_many_inverse_temperatures_as_heads(function):
    with pytest.raises(ValueError, match=r"^beta must (broadcast to the leading axes \[3\]|have length 1 or 3)"):
        TEMPERED[function](*THREE, beta=np.asarray([0.1, 0.2]))


ATTENDED = {
    "attend": core.attend,
    "decompose": lambda *rows, **given: core.decompose(*rows, **given)[1:],
    "blockwise": partial(attention.attend_blockwise, blocks=(2, 3), return_potential=True),
    "blockwise heads": partial(attention.attend_heads, attention=attention.attend_blockwise),
    "shared keys": lambda q, k, v, **given: attention.attend_heads(q, k[:, :1], v[:, :1], **given),
    "local": partial(attention.attend_locally, left=1),
    "low rank": lambda q, k, v, **given: attention.attend_low_rank(q, k, v, MIXES.astype(v.dtype), **given),
    "multi head": lambda q, k, v, **given: attention.multi_head(WEIGHTS, X, **given),
    "parts": lambda q, k, v, **given: attention.multi_head_parts(WEIGHTS, X, **given).heads[1:],
    "gradients": lambda q, k, v, **given: attention.attention_gradients(q, k, v, q, **given)[:3],
}


@pytest.mark.parametrize("function", ATTENDED)
def test_a_temperature_divides_beta(function):
    """Of no bias, which it would divide as well; numbers, and one of each head."""
    beta, temperature = jnp.asarray([0.8, 1.5]), jnp.asarray([2.0, 0.5])
    for given in ((beta, temperature), (beta[0], temperature[0])):
        found = ATTENDED[function](QUERY, KEY, VALUE, beta=given[0], temperature=given[1])
        expected = ATTENDED[function](QUERY, KEY, VALUE, beta=given[0] / given[1])
        jax.tree.map(partial(np.testing.assert_allclose, atol=1e-12), found, expected)


def test_a_temperature_divides_the_bias_too():
    bias = jnp.asarray(RNG.normal(size=(1, 1, 4, 5)))
    scores = (core.scores(QUERY, KEY) + bias) / 0.5
    expected = jax.nn.log_softmax(scores)
    found = core.decompose(QUERY, KEY, VALUE, bias=bias, temperature=0.5)
    np.testing.assert_allclose(found.weights, jnp.exp(expected), atol=1e-12)
    np.testing.assert_allclose(found.potential, jax.nn.logsumexp(scores, axis=-1), atol=1e-12)
    np.testing.assert_allclose(attention.log_weights(0.5 * scores, temperature=0.5), expected, atol=1e-12)


@pytest.mark.parametrize("name", ["beta", "bias"])
def test_heads_that_share_keys_are_all_counted(name):
    """Two groups of two heads: what is given per group is no more of each head than three would be."""
    query, given = np.ones((4, 4, 3)), {"beta": np.ones(2), "bias": np.ones((2, 4, 5))}
    with pytest.raises(ValueError, match=rf"^{name} must have length 1 or 4, the heads, got 2"):
        attention.attend_heads(query, KEY[0], VALUE[0], **{name: given[name]})
