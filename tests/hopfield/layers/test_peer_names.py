"""Layers by the options of hopfield-layers."""

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
