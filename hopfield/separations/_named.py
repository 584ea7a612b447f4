"""Separations by name, "name" or "name:number", wherever one is chosen: in a memory, in a layer, on a command line."""

import importlib
import pkgutil
import sys

from hopfield._names import Named, Table
from hopfield.separations.base import Separation

FOLDER = __name__.rpartition(".")[0]


def collected() -> dict[str, Named]:
    """Names that files of this folder give their separations, in NAMES: by name, how one is built."""
    found: dict[str, Named] = {}
    for file in pkgutil.iter_modules(sys.modules[FOLDER].__path__):
        if not file.name.startswith("_"):
            names = getattr(importlib.import_module(f"{FOLDER}.{file.name}"), "NAMES", {})
            if taken := found.keys() & names:
                raise ValueError(f"NAMES of {file.name} must be new, got {', '.join(sorted(taken))}")
            found |= names
    return found


NAMES: dict[str, Named] = collected()
"""The one table of names: `linear` is ½‖z‖², `polynomial:n` Σ zⁿ/n, `rectified:n`, and of a real n `power:n`, Σ [z]₊ⁿ/n
and `max` is `top_k:1`."""


_TABLE = Table(Separation, "separations", NAMES)


def names() -> tuple[str, ...]:
    """Every name of a separation."""
    return tuple(NAMES)


def as_separation(separation: Separation | str) -> Separation:
    """Separation that is given, or named as in `find`. Raises TypeError for anything else."""
    return _TABLE.part(separation)


def find(spec: str) -> Separation:
    """Separation by "name" or "name:number": `softmax`, `entmax:1.5`, `top_k:8`, `rectified:2`.

    Raises:
        ValueError: an unknown name, a number where none may be, no number after the colon, or one out of range.
    """
    return _TABLE.find(spec)
