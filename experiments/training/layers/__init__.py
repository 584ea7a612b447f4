"""Layers that are trained: one file each, which holds a `Layer` by the name LAYER and needs no registration."""

from functools import cache

from experiments.shared import parts
from experiments.training.layers.base import Layer


@cache
def find(name: str) -> Layer:
    """The layer of a name."""
    return parts.find(__name__, name).LAYER
