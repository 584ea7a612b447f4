"""Options of an association in one object, the same for every layer, and layers that Flax can write down."""

import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

from hopfield.layers import (
    AssociationOptions,
    EnergyTransformerBlock,
    HopfieldAttention,
)
from tests.hopfield.layers.building import layer


@pytest.mark.parametrize("dtype", [jnp.bfloat16, jnp.float16], ids=lambda kind: kind.__name__)
def test_fixed_numbers_are_not_rounded_to_the_type_of_parameters(dtype):
    options = AssociationOptions(beta=0.3)
    held = HopfieldAttention(2, 8, options=options, param_dtype=dtype, rngs=nnx.Rngs(0))
    assert held.attention_fn.beta() == np.float32(0.3)
    assert held(jnp.ones((3, 8), dtype)).dtype == layer(2, 8, param_dtype=dtype)(jnp.ones((3, 8), dtype)).dtype
    block = EnergyTransformerBlock(8, 2, 6, options=options, step_size=0.3, param_dtype=dtype, rngs=nnx.Rngs(0))
    assert block.beta() == block.step_size[...] == np.float32(0.3)
    assert block(jnp.ones((3, 8), dtype)).dtype == dtype
    learned = AssociationOptions(beta=0.3, learn_beta=True).learned_beta(2, 4, dtype)
    assert learned.log_beta[...].dtype == dtype
    np.testing.assert_array_equal(learned.log_beta[...], jnp.full(2, np.log(0.3), dtype))
