"""Learned metrics start as the dot product, stay definite by construction, and find what lies in the metric."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

from hopfield import metrics
from hopfield.layers import METRICS, learned_metric
from hopfield.layers.metrics import FLOOR
from tests.hopfield.layers.building import layer

DEFINITE = ("diagonal", "low_rank", "definite")


def scrambled(module, seed=0, size=3.0):
    """The module with every parameter replaced by a large random number."""
    graph, state = nnx.split(module, nnx.Param)
    leaves, tree = jax.tree.flatten(state)
    keys = jax.random.split(jax.random.key(seed), len(leaves))
    fresh = [size * jax.random.normal(key, leaf.shape, leaf.dtype) for key, leaf in zip(keys, leaves, strict=True)]
    return nnx.merge(graph, jax.tree.unflatten(tree, fresh))


@pytest.mark.parametrize("heads", [None, 3], ids=["shared", "per head"])
@pytest.mark.parametrize("kind", METRICS)
def test_a_metric_starts_as_the_dot_product(kind, heads):
    metric = learned_metric("low_rank:4" if kind == "low_rank" else kind, 4, heads, rngs=nnx.Rngs(0))()
    assert metric.widths == (4, 4)
    dense = metric.dense()[..., :4, :4]
    assert dense.shape == ((4, 4) if heads is None else (3, 4, 4))
    floor = FLOOR if kind == "low_rank" else 0.0
    np.testing.assert_allclose(dense, np.broadcast_to((1 + floor) * np.eye(4), dense.shape), atol=1e-6)


@pytest.mark.parametrize("kind", DEFINITE)
def test_a_metric_is_definite_whatever_its_parameters(kind):
    """Entries of standard deviation 3, and zero, under which WᵀW alone would be singular."""
    for size in (3.0, 0.0):
        metric = scrambled(learned_metric(kind, 6, 2, rngs=nnx.Rngs(0)), size=size)()
        assert np.all(metrics.is_positive_definite(metric))
        least = np.linalg.eigvalsh(np.asarray(metric.dense(), np.float64)).min()
        assert least > 0.9 * FLOOR
    entries = scrambled(learned_metric("diagonal", 6, rngs=nnx.Rngs(0)))().dense()
    assert np.all(np.diag(np.asarray(entries)) > 0)


@pytest.mark.parametrize(("kind", "per_head"), [*((kind, True) for kind in METRICS), ("full", False)])
def test_scores_of_a_layer_are_q_g_k(kind, per_head):
    """Weights from the dense matrix of the metric in numpy, two query heads on one key head included."""
    options = {"num_kv_heads": 1, "metric": kind, "metric_per_head": per_head}
    module = scrambled(layer(2, 6, **options), size=0.5)
    x = jax.random.normal(jax.random.key(1), (2, 4, 6), jnp.float32)
    query, key = (np.asarray(f(x), np.float64).swapaxes(1, 2) for f in (module.query, module.key))
    metric = module.attention_fn.metric()
    if metric.affine:
        query, key = (np.concatenate([rows, np.ones((*rows.shape[:-1], 1))], -1) for rows in (query, key))
    g = np.asarray(metric.dense(), np.float64)
    scores = query @ (g if per_head else g[None]) @ key.swapaxes(-1, -2) / np.sqrt(3.0)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    np.testing.assert_allclose(module.inspect(x).weights, weights / weights.sum(-1, keepdims=True), atol=1e-5)
