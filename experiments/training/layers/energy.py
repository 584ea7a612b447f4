"""Energy transformer: descent on one energy of all inputs, read at the last."""

import jax
from flax import nnx

from experiments.training.layers.base import Layer
from experiments.training.settings import Setting
from experiments.training.tasks import Part
from hopfield.layers import AssociationOptions, EnergyTransformerBlock


class Energy(Layer):
    """Descent on one energy of all inputs."""

    inputs = "several"
    learns_metric = False
    takes_quantity = True

    def build(self, setting: Setting, data: Part, classes: int, rngs: nnx.Rngs) -> EnergyTransformerBlock:
        own, steps = AssociationOptions(separation=setting.separation, learn_beta=True), setting.update_steps
        return EnergyTransformerBlock(
            setting.width, setting.heads, setting.quantity, options=own, steps=steps, rngs=rngs
        )

    def read(self, module: EnergyTransformerBlock, x: jax.Array, others: jax.Array) -> jax.Array:
        return module(x)[..., -1, :]

    def association(self, module: EnergyTransformerBlock) -> EnergyTransformerBlock:
        return module

    def stored(self, quantity: int, examples: int, vectors: int) -> int:
        return vectors - 1


LAYER = Energy()
