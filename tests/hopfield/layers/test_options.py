"""Options of an association in one object, the same for every layer, and layers that Flax can write down."""

import dataclasses
import inspect

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

from hopfield import metrics
from hopfield.layers import (
    AbsolutePositions,
    AdditiveAssociation,
    AssociationOptions,
    DecoderBlock,
    DiagonalMetric,
    EncoderBlock,
    EnergyTransformerBlock,
    Hopfield,
    HopfieldAssociation,
    HopfieldAttention,
    HopfieldLayer,
    HopfieldPooling,
    LowRankMetric,
)
from hopfield.layers.imports import from_flax
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


PARTS = {
    "additive": lambda attention, rngs: AdditiveAssociation(2, 4, rngs=rngs),
    "absolute positions": lambda attention, rngs: AbsolutePositions(5, 8, rngs=rngs),
    "low rank": lambda attention, rngs: LowRankMetric(4, rngs=rngs),
    "attention": lambda attention, rngs: HopfieldAttention(2, 8, rngs=rngs),
    "association": lambda attention, rngs: HopfieldAssociation(2, 4, rngs=rngs),
    "energy": lambda attention, rngs: EnergyTransformerBlock(8, 2, 6, rngs=rngs),
    "hopfield": lambda attention, rngs: Hopfield(attention, rngs=rngs),
    "pooling": lambda attention, rngs: HopfieldPooling(attention, 2, rngs=rngs),
    "lookup": lambda attention, rngs: HopfieldLayer(attention, 3, rngs=rngs),
    "encoder": lambda attention, rngs: EncoderBlock(attention, rngs=rngs),
    "decoder": lambda attention, rngs: DecoderBlock(attention, attention, rngs=rngs),
}


@pytest.mark.parametrize("name", PARTS)
@pytest.mark.parametrize("rngs", [0, jax.random.key(0)], ids=["number", "key"])
def test_random_numbers_other_than_flax_ones_are_refused(name, rngs):
    with pytest.raises(TypeError, match="rngs must be a Rngs, got"):
        PARTS[name](layer(2, 8), rngs)


@pytest.mark.parametrize("name", ["hopfield", "pooling", "lookup", "encoder", "decoder"])
def test_what_is_no_association_is_refused(name):
    with pytest.raises(TypeError, match=r"attention must be (a|one of) Hopfield"):
        PARTS[name](nnx.Linear(8, 8, rngs=nnx.Rngs(0)), nnx.Rngs(0))


@pytest.mark.parametrize("name", EVERY)
def test_flax_tabulates_every_layer(name):
    inputs = (X, X) if name == "decoder" else (X,)
    module = EVERY[name]()
    assert type(module).__name__ in nnx.tabulate(module, *inputs, console_kwargs={"width": 400})


def test_options_are_frozen_and_checked_before_there_is_a_layer():
    with pytest.raises(dataclasses.FrozenInstanceError):
        RICH.update_steps = 3  # type: ignore[misc]
    with pytest.raises(ValueError, match="block must be an integer of at least 1, got 0"):
        AssociationOptions(block=0)
    for name, kinds in (("separation", "softmax"), ("metric", "diagonal"), ("positions", "rotary")):
        with pytest.raises(ValueError, match=f"{name} must be one of {kinds}.*got 'none such'$"):
            AssociationOptions(**{name: "none such"})
    with pytest.raises(ValueError, match=r"beta must be positive and finite, got -1\.0"):
        AssociationOptions(beta=-1.0)
    with pytest.raises(ValueError, match="metric must be diagonal without a number, got 'diagonal:3'"):
        AssociationOptions(metric="diagonal:3")


def test_options_without_meaning_in_an_energy_are_refused():
    for name, value in (("update_steps", 2), ("memory_slots", 1), ("window", 3)):
        options = AssociationOptions(**{name: value})
        with pytest.raises(ValueError, match=f"{name} must be left out in an EnergyTransformerBlock"):
            EnergyTransformerBlock(8, 2, 6, options=options, rngs=nnx.Rngs(0))


def test_a_metric_for_all_heads_is_one_to_learn():
    with pytest.raises(ValueError, match="metric_per_head must be left out unless"):
        AssociationOptions(metric_per_head=False)


@pytest.mark.parametrize("metric", [None, np.eye(4), DiagonalMetric(4, 2)], ids=["none", "fixed", "module"])
def test_metadata_is_of_what_these_options_make(metric):
    with pytest.raises(ValueError, match="metric_metadata must be left out unless a metric to learn is named"):
        AssociationOptions(metric=metric, metric_metadata={"note": "lost"})
    with pytest.raises(ValueError, match="beta_metadata must be left out unless learn_beta is True"):
        AssociationOptions(metric=metric, beta_metadata={"note": "lost"})


def test_a_metric_is_one_or_one_for_each_head():
    with pytest.raises(ValueError, match=r"^metric must be one or one for each of the 2 heads, got \[3\] of them$"):
        layer(2, 8, metric=np.ones((3, 4, 4)))


@pytest.mark.parametrize("rngs", [0, jax.random.key(0)], ids=["number", "key"])
def test_random_numbers_of_a_layer_are_those_of_flax(rngs):
    with pytest.raises(TypeError, match=r"^rngs must be a Rngs, got "):
        HopfieldAttention(2, 8, rngs=rngs)


def test_weights_are_taken_from_attention_alone():
    with pytest.raises(TypeError, match=r"^source must be a MultiHeadAttention, got Linear"):
        from_flax(nnx.Linear(2, 3, rngs=nnx.Rngs(0)))  # pyright: ignore[reportArgumentType]


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


@pytest.mark.parametrize(
    "build",
    [
        lambda **named: HopfieldAttention(2, 8, **named),
        lambda **named: HopfieldAssociation(2, 4, **named),
        lambda **named: EnergyTransformerBlock(8, 2, 6, **named),
    ],
    ids=["attention", "association", "energy"],
)
def test_an_option_given_to_the_layer_is_pointed_to_the_options(build):
    """Any field of them; other names are Python's to refuse, and those of the layer stay in its signature."""
    name = type(build(rngs=nnx.Rngs(0))).__name__
    where = (
        f"^beta, separation must be in options=AssociationOptions\\(beta=…, separation=…\\), got an argument of {name}$"
    )
    with pytest.raises(TypeError, match=where):
        build(beta=1.0, separation="sparsemax", rngs=nnx.Rngs(0))
    with pytest.raises(TypeError, match=r"^options must be an AssociationOptions, got \{'beta': 1.0\}$"):
        build(options={"beta": 1.0}, rngs=nnx.Rngs(0))
    with pytest.raises(TypeError, match="unexpected keyword argument 'separations'"):
        build(separations="sparsemax", rngs=nnx.Rngs(0))
    for field in dataclasses.fields(AssociationOptions):
        with pytest.raises(TypeError, match=f"^{field.name} must be in options="):
            build(**{field.name: None}, rngs=nnx.Rngs(0))


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


@pytest.mark.parametrize(
    ("build", "sentence"),
    [
        (
            lambda: AssociationOptions(window=2**40),
            r"window must be below 2\^31, as places are numbered",
        ),
        (lambda: AssociationOptions(block=2**31), r"block must be below 2\^31, as places are numbered"),
        (lambda: AssociationOptions(update_steps=10**9), "update_steps must be at most 1000000"),
        (lambda: HopfieldAttention(2**31, 2**31, rngs=nnx.Rngs(0)), r"must multiply to at most 2\^40 weights, got"),
        (lambda: HopfieldAttention(1, 8, out_features=2**40, rngs=nnx.Rngs(0)), r"must multiply to at most 2\^40"),
    ],
)
def test_sizes_that_no_machine_holds_are_refused_before_any_is_allocated(build, sentence):
    with pytest.raises(ValueError, match=sentence):
        build()
