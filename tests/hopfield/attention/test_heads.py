"""Heads against one attention at a time, sharing of keys against copies of them, and measures of diversity."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield.attention import core, heads, masks

RNG = np.random.default_rng(17)


def normal(*shape):
    return jnp.asarray(RNG.normal(size=shape))


def projections(stored=4, biases=True):
    bias = {"query_bias": normal(4, 3), "key_bias": normal(stored, 3), "value_bias": normal(stored, 2)}
    weights = normal(4, 5, 3), normal(stored, 5, 3), normal(stored, 5, 2), normal(4, 2, 6)
    return heads.Projections(*weights, **(bias | {"output_bias": normal(6)} if biases else {}))


@pytest.mark.parametrize(("stored", "kind"), [(1, "cross"), (2, "self"), (4, "cross")])
def test_multi_head_attention_is_a_sum_over_heads(stored, kind):
    """Seed formula, one head after the other; head h reads keys h // (H/K), β its own."""
    p, x, y = projections(stored), normal(2, 3, 5), normal(2, 4, 5)
    beta = jnp.asarray([0.2, 0.5, 1.0, 3.0])
    found = jax.jit(heads.multi_head)(p, x, None if kind == "self" else y, beta=beta)
    p, x, y = jax.tree.map(np.asarray, (p, x, x if kind == "self" else y))
    expected = p.output_bias
    for h in range(4):
        k = h * stored // 4
        query = x @ p.query[h] + p.query_bias[h]
        key = y @ p.key[k] + p.key_bias[k]
        value = y @ p.value[k] + p.value_bias[k]
        expected = expected + np.asarray(core.attend(query, key, value, beta=float(beta[h]))) @ p.output[h]
    np.testing.assert_allclose(found, expected, atol=1e-13)


def test_golden_parity_of_grouped_heads_with_jax():
    query, key, value = (x.astype(jnp.float32) for x in (normal(2, 6, 4, 8), normal(2, 2, 4, 8), normal(2, 2, 4, 8)))
    golden = jax.nn.dot_product_attention(*(jnp.swapaxes(x, 1, 2) for x in (query, key, value)), is_causal=True)
    found = heads.attend_heads(query, key, value, mask=masks.causal())
    np.testing.assert_allclose(found, jnp.swapaxes(golden, 1, 2), atol=1e-6)


def test_shared_keys_are_not_copied():
    """No array of the compiled program is as large as keys repeated for every head."""
    shapes = [jax.ShapeDtypeStruct(s, jnp.float32) for s in ((8, 2, 64), (1, 1024, 64), (1, 1024, 64))]
    memory = jax.jit(heads.attend_heads).lower(*shapes).compile().memory_analysis()
    assert memory.temp_size_in_bytes < 0.5 * 8 * 1024 * 64 * 4


def test_diversity_of_heads_worked_by_hand():
    """Two equal patterns and one orthogonal to both: cosines 1, 0, 0, so 1 − 1/3."""
    weights = jnp.asarray([[[1.0, 0.0]], [[1.0, 0.0]], [[0.0, 1.0]]])
    assert float(heads.head_diversity(weights)) == pytest.approx(2 / 3, abs=1e-15)
    mean = -(2 / 3) * math.log(2 / 3) - (1 / 3) * math.log(1 / 3)  # entropy of the mean; each head has none
    assert float(heads.head_divergence(weights)) == pytest.approx(mean, abs=1e-15)
