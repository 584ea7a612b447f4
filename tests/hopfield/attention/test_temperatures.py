"""Temperatures and biases given to attention: their types, their shapes, and what they change."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield import attention
from hopfield.attention import core
from tests.hopfield.attention.rows import KEY, MIXES, QUERY, VALUE, WEIGHTS, X


@pytest.mark.parametrize("differentiate", [jax.jacfwd, jax.jacrev])
def test_a_score_of_minus_infinity_has_a_derivative_in_the_temperature(differentiate):
    """p = softmax(s / T) of s = (1, 2): dp_1/dT = p_1 p_2 (s_2 − s_1)/T²."""
    scores = np.asarray([[1.0, 2.0, -np.inf]])
    p = np.exp(scores[0] / 1.5) / np.sum(np.exp(scores[0] / 1.5))
    slope = jax.jit(differentiate(lambda t: core.weights(scores, temperature=t)))(1.5)[0]
    np.testing.assert_allclose(slope, np.asarray([1.0, -1.0, 0.0]) * p[0] * p[1] / 1.5**2, atol=1e-12)


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
    """Without a bias, which the temperature would divide as well; numbers, and one of each head."""
    beta, temperature = jnp.asarray([0.8, 1.5]), jnp.asarray([2.0, 0.5])
    for given in ((beta, temperature), (beta[0], temperature[0])):
        found = ATTENDED[function](QUERY, KEY, VALUE, beta=given[0], temperature=given[1])
        expected = ATTENDED[function](QUERY, KEY, VALUE, beta=given[0] / given[1])
        jax.tree.map(partial(np.testing.assert_allclose, atol=1e-12), found, expected)
