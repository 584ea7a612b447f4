"""Imports: weights of other implementations, taken into layers of this one."""

from hopfield._arguments import public
from hopfield.layers.imports.checkpoints import AttentionWeights, Checkpoint, load
from hopfield.layers.imports.flax import from_flax
from hopfield.layers.imports.hopfield_layers import from_hopfield_layers
from hopfield.layers.imports.readings import Reading
from hopfield.layers.imports.transformers import from_attention_weights

__all__ = [
    "AttentionWeights",
    "Checkpoint",
    "Reading",
    "from_attention_weights",
    "from_flax",
    "from_hopfield_layers",
    "load",
]
__dir__ = public(__all__)
