"""Attention of a checkpoint as a layer: further options of the layer apply to it."""

import jax.numpy as jnp
import numpy as np
import pytest

from hopfield.layers import from_attention_weights
from hopfield.layers.imports.checkpoints import AttentionWeights


def test_options_of_the_layer_apply_and_beta_is_that_of_the_checkpoint_otherwise() -> None:
    rng = np.random.default_rng(0)
    shapes = ((2, 4, 3), (1, 4, 3), (1, 4, 3), (2, 3, 4))
    weights = AttentionWeights(*(rng.normal(size=s) for s in shapes), None, None, None, None, beta=0.7)
    x = jnp.asarray(rng.normal(size=(1, 5, 4)))
    own = from_attention_weights(weights, param_dtype=jnp.float64)(x)
    same = from_attention_weights(weights, param_dtype=jnp.float64, beta=0.7)(x)
    flat = from_attention_weights(weights, param_dtype=jnp.float64, beta=1e-9)(x)
    np.testing.assert_array_equal(own, same)
    mean = np.asarray(x[0].mean(axis=0)) @ sum(weights.w_value[0] @ w for w in weights.w_output)
    np.testing.assert_allclose(flat[0], np.tile(mean, (5, 1)), atol=1e-7)
    with pytest.raises(ValueError, match="separation"):
        from_attention_weights(weights, separation="none such")
