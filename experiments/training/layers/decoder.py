"""Decoder block of a transformer, in which the last input reads those before it."""

from typing import Any

import jax
from flax import nnx

from experiments.training.layers.base import LastReads, attention, last_and_before
from experiments.training.settings import Setting
from experiments.training.tasks import Part
from hopfield.layers import DecoderBlock


class Decoder(LastReads):
    """Reads the inputs with the last of them in a transformer block."""

    def build(self, setting: Setting, data: Part, classes: int, rngs: nnx.Rngs) -> DecoderBlock:
        own = attention(setting, setting.width, rngs)
        return DecoderBlock(own, attention(setting, setting.width, rngs), rngs=rngs)

    def inspect(self, module: DecoderBlock, x: jax.Array, others: jax.Array) -> Any:
        query, before = last_and_before(x)
        query = query + module.attention(module.attention_norm(query))
        return module.cross.inspect(module.cross_norm(query), before)

    def association(self, module: Any) -> Any:
        return module.cross.attention_fn


LAYER = Decoder()
