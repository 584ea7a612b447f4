"""Memory of the training set, read without an embedding, as in kernel machines and nearest neighbours."""

from typing import Any

import jax
import jax.numpy as jnp
from flax import nnx

from experiments.training.layers.base import Layer, attention
from experiments.training.settings import Setting
from experiments.training.tasks import Part
from hopfield.layers import FixedParam, HopfieldLayer


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


LAYER = Memory()
