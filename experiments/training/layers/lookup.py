"""Look-up of learned patterns, whose targets are added to the embedded input."""

from typing import Any

import jax
import jax.numpy as jnp
from flax import nnx

from experiments.training.layers.base import Layer, attention
from experiments.training.settings import Setting
from experiments.training.tasks import Part
from hopfield.layers import HopfieldLayer


class Lookup(Layer):
    """Reads learned patterns and adds what it read."""

    takes_quantity = True

    def build(self, setting: Setting, data: Part, classes: int, rngs: nnx.Rngs) -> HopfieldLayer:
        own = attention(setting, setting.width, rngs)
        return HopfieldLayer(own, setting.quantity, separate_targets=True, rngs=rngs)

    def read(self, module: HopfieldLayer, x: jax.Array, others: jax.Array) -> jax.Array:
        return jnp.mean(nnx.relu(x) + module(x), axis=-2)

    def association(self, module: HopfieldLayer) -> Any:
        return module.hopfield.attention.attention_fn

    def stored(self, quantity: int, examples: int, vectors: int) -> int:
        return quantity


LAYER = Lookup()
