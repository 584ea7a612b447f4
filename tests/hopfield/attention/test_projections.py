"""Projections drawn for heads, and multi-head attention with its parts."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield.attention import Projections, causal, multi_head, multi_head_parts, project_heads

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("kv_heads", [None, 2, 1])
def test_parts_give_the_output_of_multi_head_attention(kv_heads):
    projections = Projections.random(jax.random.key(0), 4, 8, kv_heads=kv_heads)
    x = jnp.asarray(RNG.normal(size=(3, 5, 8)))
    found = multi_head_parts(projections, x, mask=causal(), beta=0.7)
    np.testing.assert_allclose(found.output, multi_head(projections, x, mask=causal(), beta=0.7), atol=1e-6)
    assert found.heads.weights.shape == (3, 4, 5, 5)
    assert found.key.shape == (3, kv_heads or 4, 5, 2)
    np.testing.assert_allclose(found.query, project_heads(x, projections.query), atol=1e-6)
    np.testing.assert_allclose(jnp.sum(found.heads.weights, axis=-1), 1.0, atol=1e-6)
