"""Pooling of the inputs with learned queries."""

from typing import Any

import jax
from flax import nnx

from experiments.training.layers.base import Layer, attention
from experiments.training.settings import Setting
from experiments.training.tasks import Part
from hopfield.layers import HopfieldPooling


class Pooling(Layer):
    """Reads the inputs with learned queries."""

    takes_quantity = True

    def build(self, setting: Setting, data: Part, classes: int, rngs: nnx.Rngs) -> HopfieldPooling:
        return HopfieldPooling(attention(setting, setting.width, rngs), setting.quantity, rngs=rngs)

    def features(self, setting: Setting) -> int:
        return setting.quantity * setting.width

    def read(self, module: HopfieldPooling, x: jax.Array, others: jax.Array) -> jax.Array:
        return module(x)

    def association(self, module: HopfieldPooling) -> Any:
        return module.hopfield.attention.attention_fn


LAYER = Pooling()
