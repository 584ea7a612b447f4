"""Layers by the options of hopfield-layers."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from flax import nnx

from hopfield.layers import AssociationOptions, Hopfield, HopfieldAttention, PeerOptions


def test_they_are_the_layers_of_the_names_here():
    there = PeerOptions(input_size=6, hidden_size=4, output_size=5, num_heads=2, scaling=0.3, update_steps_max=2)
    own = AssociationOptions(beta=0.3, update_steps=3)
    here = Hopfield(HopfieldAttention(2, 6, 8, 5, options=own, rngs=(rngs := nnx.Rngs(0))), rngs=rngs)
    x = jnp.asarray(np.random.default_rng(0).normal(size=(3, 6)), jnp.float32)
    np.testing.assert_array_equal(there.hopfield(rngs=nnx.Rngs(0))(x), here(x))


def test_pooling_and_look_up_have_their_shapes():
    options = PeerOptions(input_size=6, hidden_size=2, num_heads=3, stored_pattern_size=4, normalize=False)
    assert options.hopfield(rngs=nnx.Rngs(0))(jnp.ones((3, 6)), jnp.ones((7, 4))).shape == (3, 6)
    alike = PeerOptions(input_size=6, add_zero_association=True)
    assert alike.pooling(3, rngs=nnx.Rngs(0))(jnp.ones((2, 5, 6))).shape == (2, 18)
    layer = alike.lookup(9, lookup_weights_as_separated=True, rngs=nnx.Rngs(0))
    assert layer(jnp.ones((2, 5, 6))).shape == (2, 5, 6)
    assert layer.targets is not None


def test_learned_metric_and_beta_take_metadata_as_kernels_do():
    options = AssociationOptions(
        metric="full", learn_beta=True, metric_metadata={"note": "by head"}, beta_metadata={"note": "heads"}
    )
    core: Any = HopfieldAttention(2, 8, options=options, rngs=nnx.Rngs(0)).attention_fn
    assert core.metric.matrix.get_metadata()["note"] == "by head"
    assert core.beta.log_beta.get_metadata()["note"] == "heads"
    own = AssociationOptions(metric="full", learn_beta=True)
    plain: Any = HopfieldAttention(2, 8, options=own, rngs=nnx.Rngs(0)).attention_fn
    np.testing.assert_array_equal(core.metric.matrix[...], plain.metric.matrix[...])
