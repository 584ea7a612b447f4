"""User-defined layers, which other code defines.

A layer is a function `layer(attention, *, rngs)`, found as `./file.py:layer`, `package.module:layer` or by its entry
point in the group hopfield.layers: it takes a `HopfieldAttention` that has the metric and the separation of the run,
and returns a module of inputs [B, T, W] with outputs [B, T', W], which is read at the last of them. The module keeps
no state from one call to the next, as dropout and batch normalisation do.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
from flax import nnx

from experiments.training import user_defined
from experiments.training.config import LAYERS
from experiments.training.layers.base import Layer, attention
from experiments.training.settings import Setting
from experiments.training.tasks import Part
from hopfield import outside
from hopfield.layers import HopfieldAttention


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


def layer(name: str) -> Own:
    """User-defined layer by its name.

    Raises:
        ValueError: there is none, in one sentence that begins with layers.
    """
    return Own(name, user_defined.function("layers", LAYERS, name))
