"""Association of the last input with those before it."""

import jax
from flax import nnx

from experiments.training.layers.base import Layer, attention, last_and_before
from experiments.training.settings import Setting
from experiments.training.tasks import Part
from hopfield.layers import Hopfield


class Association(Layer):
    """Reads the inputs with the last of them."""

    inputs = "several"

    def build(self, setting: Setting, data: Part, classes: int, rngs: nnx.Rngs) -> Hopfield:
        return Hopfield(attention(setting, setting.width, rngs), rngs=rngs)

    def read(self, module: Hopfield, x: jax.Array, others: jax.Array) -> jax.Array:
        return module(*last_and_before(x))[..., -1, :]

    def inspect(self, module: Hopfield, x: jax.Array, others: jax.Array):
        return module.inspect(*last_and_before(x))

    def stored(self, quantity: int, examples: int, vectors: int) -> int:
        return vectors - 1


LAYER = Association()
