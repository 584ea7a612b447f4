"""Signatures of layers as editors show them."""

import inspect

from flax import nnx

from hopfield import layers


def test_a_layer_shows_its_constructor_a_subclass_its_own_and_an_object_its_call() -> None:
    assert "num_heads" in inspect.signature(layers.HopfieldAttention).parameters

    class Own(layers.HopfieldAttention):
        def __init__(self, width: int, *, rngs: nnx.Rngs) -> None:
            super().__init__(2, width, rngs=rngs)

    assert list(inspect.signature(Own).parameters) == ["width", "rngs"]
    assert "inputs_q" in inspect.signature(Own(4, rngs=nnx.Rngs(0))).parameters
