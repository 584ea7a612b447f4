"""Encoder block of a transformer, read at its last input."""

import jax
from flax import nnx

from experiments.training.layers.base import Layer, attention
from experiments.training.settings import Setting
from experiments.training.tasks import Part
from hopfield.layers import EncoderBlock


class Encoder(Layer):
    """A transformer block over all inputs."""

    inputs = "several"

    def build(self, setting: Setting, data: Part, classes: int, rngs: nnx.Rngs) -> EncoderBlock:
        return EncoderBlock(attention(setting, setting.width, rngs), rngs=rngs)

    def read(self, module: EncoderBlock, x: jax.Array, others: jax.Array) -> jax.Array:
        return module(x)[..., -1, :]


LAYER = Encoder()
