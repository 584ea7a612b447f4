"""A pytree held in a module: it comes back as it was, and its numbers are state that no optimiser trains."""

import jax
import jax.numpy as jnp
import pytest
from flax import nnx

from hopfield import metrics, separations
from hopfield.attention.encodings import Rotary
from hopfield.layers import FixedParam
from hopfield.layers._fixed import FixedTree

TREES = {
    "metric of four arrays": metrics.Projected(jnp.ones((3, 2)), 2.0 * jnp.ones((3, 2)), jnp.zeros(2), jnp.ones(2)),
    "encoding": Rotary(8),
    "separation with a number": separations.Entmax(1.3),
    "separation without": separations.LogSumExp(),
}


@pytest.mark.parametrize("tree", TREES.values(), ids=TREES)
def test_a_held_pytree_comes_back_as_it_was(tree):
    held = FixedTree(tree)
    assert held.value == tree
    graph, fixed, rest = nnx.split(held, FixedParam, ...)
    assert len(jax.tree.leaves(fixed)) == len(jax.tree.leaves(tree))
    assert not jax.tree.leaves(rest)
    assert nnx.merge(graph, fixed, rest).value == tree
