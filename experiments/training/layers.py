"""Layers that are trained, by name, and user-defined ones.

A user-defined layer is a function `layer(attention, *, rngs)`, found as `./file.py:layer`, `package.module:layer` or by
its entry point in the group hopfield.layers: it takes a `HopfieldAttention` that has the metric and the separation of
the run, and returns a module of inputs [B, T, W] with outputs [B, T', W], which is read at the last of them. The module
keeps no state from one call to the next, as dropout and batch normalisation do.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from flax import nnx

from experiments.training import user_defined
from experiments.training.layer import LastReads, Layer, attention, last_and_before
from experiments.training.settings import Setting
from experiments.training.tasks import Part
from hopfield import outside
from hopfield.layers import (
    AssociationOptions,
    DecoderBlock,
    EncoderBlock,
    EnergyTransformerBlock,
    FixedParam,
    Hopfield,
    HopfieldAttention,
    HopfieldLayer,
    HopfieldPooling,
)


class Association(LastReads):
    """Reads the inputs with the last of them."""

    def build(self, setting: Setting, data: Part, classes: int, rngs: nnx.Rngs) -> Hopfield:
        return Hopfield(attention(setting, setting.width, rngs), rngs=rngs)


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


class Encoder(Layer):
    """A transformer block over all inputs."""

    inputs = "several"

    def build(self, setting: Setting, data: Part, classes: int, rngs: nnx.Rngs) -> EncoderBlock:
        return EncoderBlock(attention(setting, setting.width, rngs), rngs=rngs)

    def read(self, module: EncoderBlock, x: jax.Array, others: jax.Array) -> jax.Array:
        return module(x)[..., -1, :]


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


class Memory(Layer):
    """Stores the training set and reads learned targets with its learned projections, in training without the example.

    Targets start as one random code per class.
    """

    inputs = "one"
    embeds = False

    def build(self, setting: Setting, data: Part, classes: int, rngs: nnx.Rngs) -> HopfieldLayer:
        features = data.inputs.shape[-1]
        options: Any = {"qkv_features": setting.width, "out_features": classes, "normalize_qk": True}
        # Projections are of one length each; biases that are not zero keep in their angle how long an input was.
        options["bias_init"] = nnx.initializers.normal(1.0)
        own = attention(setting, features, rngs, beta=1.0, **options)
        own.key.kernel = nnx.Param(own.query.kernel[...])
        own.key.bias = nnx.Param(jnp.asarray(own.query.bias))
        layer = HopfieldLayer(own, len(data.targets), separate_targets=True, normalise=False, rngs=rngs)
        layer.patterns = FixedParam(jnp.asarray(data.inputs[:, 0]))
        codes = jax.random.normal(rngs.params(), (classes, features))
        layer.targets = nnx.data(nnx.Param(codes[jnp.asarray(data.targets)]))
        return layer

    def read(self, module: HopfieldLayer, x: jax.Array, others: jax.Array) -> jax.Array:
        return module(x, mask=others)[0]

    def inspect(self, module: HopfieldLayer, x: jax.Array, others: jax.Array) -> Any:
        return module.inspect(x, mask=others)

    def association(self, module: HopfieldLayer) -> Any:
        return module.hopfield.attention.attention_fn

    def stored(self, quantity: int, examples: int, vectors: int) -> int:
        return examples


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


class Made(nnx.Module):
    """Attention, and the module that a function made of it."""

    def __init__(self, attention: HopfieldAttention, module: Any) -> None:
        self.attention = attention
        self.module = module


@dataclass(frozen=True)
class Own(Layer):
    """Reads the inputs with what a function makes of an attention."""

    name: str
    function: Callable[..., Any]

    def build(self, setting: Setting, data: Part, classes: int, rngs: nnx.Rngs) -> Made:
        given = attention(setting, setting.width, rngs)
        return Made(given, outside.called("layers", self.name, self.function, given, rngs=rngs))

    def read(self, module: Made, x: jax.Array, others: jax.Array) -> jax.Array:
        found = outside.called("layers", self.name, module.module, x)
        shape, (batch, _, width) = getattr(found, "shape", ()), x.shape
        if len(shape) != 3 or not shape[1] or (shape[0], shape[2]) != (batch, width):
            got = list(shape) if hasattr(found, "shape") else type(found).__name__
            raise ValueError(f"layers must return [B, T', W] of inputs {[*x.shape]}, got {got} from {self.name!r}")
        return found[..., -1, :]

    def inspect(self, module: Made, x: jax.Array, others: jax.Array) -> Any:
        return module.attention.inspect(x)


LAYERS = {
    "association": Association(),
    "decoder": Decoder(),
    "encoder": Encoder(),
    "energy": Energy(),
    "lookup": Lookup(),
    "memory": Memory(),
    "pooling": Pooling(),
}


def find(name: str) -> Layer:
    """The layer of a name, of the table or user-defined; ValueError for none, one sentence that begins with layers."""
    return LAYERS.get(name) or Own(name, user_defined.function("layers", list(LAYERS), name))
