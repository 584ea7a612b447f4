"""Layers that are trained: one file each, which holds a `Layer` by the name LAYER and needs no registration.

User-defined layers: see `_own`.
"""

from experiments.system import plugins
from experiments.training.config import LAYERS
from experiments.training.layers import _own
from experiments.training.layers.base import Layer


def find(name: str) -> Layer:
    """The layer of a name: of this folder, or user-defined."""
    return plugins.find(__name__, name).LAYER if name in LAYERS else _own.layer(name)
