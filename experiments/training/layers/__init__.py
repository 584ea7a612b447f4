"""Layers that are trained: one file each, which holds a `Layer` by the name LAYER and needs no registration.

User-defined layers: see `_user_defined`.
"""

from experiments.system import parts
from experiments.training.config import LAYERS
from experiments.training.layers import _user_defined
from experiments.training.layers.base import Layer


def find(name: str) -> Layer:
    """The layer of a name: of this folder, or user-defined."""
    return parts.find(__name__, name).LAYER if name in LAYERS else _user_defined.layer(name)
