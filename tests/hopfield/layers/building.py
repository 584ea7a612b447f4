"""Layers built from options of the association and of Flax side by side, as tests write them."""

import dataclasses
from typing import Any

from flax import nnx

from hopfield.layers import AssociationOptions, HopfieldAttention

OWN = {field.name for field in dataclasses.fields(AssociationOptions)}


def options(given: dict[str, Any]) -> dict[str, Any]:
    """Arguments with the association's put into one."""
    own = {name: value for name, value in given.items() if name in OWN}
    return {name: value for name, value in given.items() if name not in OWN} | {"options": AssociationOptions(**own)}


def layer(*args: Any, seed: int = 0, **given: Any) -> HopfieldAttention:
    """A layer with the random numbers of one seed."""
    return HopfieldAttention(*args, **options(given), rngs=nnx.Rngs(seed))
