"""Options of an association in one object, the same for every layer, and layers that Flax can write down."""

import inspect

import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

from hopfield import metrics
from hopfield.layers import (
    AssociationOptions,
    DecoderBlock,
    EncoderBlock,
    EnergyTransformerBlock,
    Hopfield,
    HopfieldAssociation,
    HopfieldAttention,
    HopfieldLayer,
    HopfieldPooling,
)
from tests.hopfield.layers.building import layer

X = jnp.asarray(np.random.default_rng(0).normal(size=(2, 5, 8)), jnp.float32)
RICH = AssociationOptions(
    separation="sparsemax",
    metric=metrics.euclidean(4),
    learn_beta=True,
    update_steps=2,
    memory_slots=1,
    positions="rotary",
    block=2,
)


def rich() -> HopfieldAttention:
    return HopfieldAttention(2, 8, options=RICH, rngs=nnx.Rngs(0))


EVERY = {
    "attention": lambda: layer(2, 8),
    "options": rich,
    "metric": lambda: layer(2, 8, metric="low_rank", separation="entmax:1.5", positions="t5"),
    "in flax": lambda: nnx.MultiHeadAttention(
        2, 8, decode=False, attention_fn=HopfieldAssociation(2, 4), rngs=nnx.Rngs(0)
    ),
    "hopfield": lambda: Hopfield(rich(), rngs=nnx.Rngs(0)),
    "pooling": lambda: HopfieldPooling(rich(), 2, rngs=nnx.Rngs(0)),
    "lookup": lambda: HopfieldLayer(layer(2, 8), 3, rngs=nnx.Rngs(0)),
    "encoder": lambda: EncoderBlock(rich(), rngs=nnx.Rngs(0)),
    "decoder": lambda: DecoderBlock(rich(), layer(2, 8), rngs=nnx.Rngs(0)),
    "energy": lambda: EnergyTransformerBlock(8, 2, 6, rngs=nnx.Rngs(0)),
}


@pytest.mark.parametrize("name", EVERY)
def test_flax_tabulates_every_layer(name):
    inputs = (X, X) if name == "decoder" else (X,)
    module = EVERY[name]()
    assert type(module).__name__ in nnx.tabulate(module, *inputs, console_kwargs={"width": 400})


def test_options_without_meaning_in_an_energy_are_refused():
    for name, value in (("update_steps", 2), ("memory_slots", 1), ("window", 3)):
        options = AssociationOptions(**{name: value})
        with pytest.raises(ValueError, match=f"{name} must be left out in an EnergyTransformerBlock"):
            EnergyTransformerBlock(8, 2, 6, options=options, rngs=nnx.Rngs(0))


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


def test_the_signature_of_a_layer_has_the_arguments_of_flax():
    ours, theirs = (inspect.signature(kind.__init__).parameters for kind in (HopfieldAttention, nnx.MultiHeadAttention))
    assert theirs.keys() - ours.keys() <= {
        "attention_fn",
        "qkv_dot_general",
        "out_dot_general",
        "qkv_dot_general_cls",
        "out_dot_general_cls",
    }
    assert all(kind.kind is not inspect.Parameter.VAR_KEYWORD for kind in ours.values())
