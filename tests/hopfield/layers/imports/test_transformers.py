"""Attention of a checkpoint as a layer: further options of the layer apply to it."""

import dataclasses
from functools import partial

import jax.numpy as jnp
import numpy as np
import pytest

from hopfield.layers import AssociationOptions, from_attention_weights
from hopfield.layers.imports.checkpoints import AttentionWeights
from hopfield.layers.imports.rotations import rotary_of


def test_options_of_the_layer_apply_and_beta_is_that_of_the_checkpoint_otherwise() -> None:
    rng = np.random.default_rng(0)
    shapes = ((2, 4, 3), (1, 4, 3), (1, 4, 3), (2, 3, 4))
    weights = AttentionWeights(*(rng.normal(size=s) for s in shapes), None, None, None, None, beta=0.7)
    x = jnp.asarray(rng.normal(size=(1, 5, 4)))
    layer = partial(from_attention_weights, weights, param_dtype=jnp.float64)
    own = layer()(x)
    same, flat = (layer(AssociationOptions(beta=beta))(x) for beta in (0.7, 1e-9))
    np.testing.assert_array_equal(own, same)
    mean = np.asarray(x[0].mean(axis=0)) @ sum(weights.w_value[0] @ w for w in weights.w_output)
    np.testing.assert_allclose(flat[0], np.tile(mean, (5, 1)), atol=1e-7)
    turned = dataclasses.replace(weights, w_query=rng.normal(size=(2, 4, 4)), w_key=rng.normal(size=(1, 4, 4)))
    with pytest.raises(ValueError, match=r"rope_type must be one of default, .*, longrope, su, got 'other'"):
        dataclasses.replace(turned, rope={"rope_scaling": {"type": "other"}}).rotary()


@pytest.mark.parametrize(
    ("rope", "said"),
    [
        ({"rope_scaling": {"type": "linear"}}, "factor must be a positive number in config.json, got None"),
        ({"rope_scaling": {"type": "linear", "factor": "two"}}, "factor must be a positive number"),
        ({"rope_theta": "x"}, "rope_theta must be a positive number"),
        ({"rope_scaling": "linear"}, "rope_scaling must be a table of its options, got 'linear'"),
        (
            {"rope_parameters": {"full_attention": {"rope_theta": 1e6}}},
            "rope_parameters must be one table for all layers",
        ),
        ({"rope_scaling": {"type": "longrope"}}, "original_max_position_embeddings must be a positive number"),
        ({"partial_rotary_factor": 2}, "partial_rotary_factor must be at most 1, got 2"),
        ({"rope_parameters": {"rope_type": "llama3", "factor": 2}}, "original_max_position_embeddings must be"),
        (
            {
                "rope_scaling": {"rope_type": "llama3", "factor": 8, "original_max_position_embeddings": 9}
                | {"low_freq_factor": 1, "high_freq_factor": 1}
            },
            "low_freq_factor must be below high_freq_factor, got 1 and 1",
        ),
    ],
)
def test_a_rotation_that_a_config_does_not_state_is_one_sentence(rope, said):
    with pytest.raises(ValueError, match=said):
        rotary_of(rope, 4)
