"""Spellings of one thing: what a memory, a separation or a source of patterns is by, whichever way its name is written.

What two names stand for compares equal where they are one and the same, as `dense` and `dense:3`, `max` and `top_k:1`,
or two paths to files that hold the same. Tables keep the name that was given.
"""

import os
from collections.abc import Hashable
from pathlib import Path
from typing import Any, TypeVar

Entry = TypeVar("Entry")
_ALIASES = {"sparsemax": "entmax:2", "linear": "polynomial:2"}
"""Separations that have a faster form of their own."""


def memory(name: str) -> Hashable:
    """What a memory's name stands for; a name that means nothing stands for itself."""
    import numpy as np

    from hopfield.memories import find

    try:
        return name.partition(":")[0], _content(find(name).build(np.ones((1, 2), np.float32)))
    except ValueError:  # whoever reads the name says so
        return name


def separation(name: str) -> Hashable:
    """What a separation's name stands for; a name that means nothing stands for itself."""
    from hopfield.separations import find

    try:
        return _content(find(_ALIASES.get(name, name)))
    except ValueError:
        return name


def source(name: str) -> Hashable:
    """What a source of patterns is: the contents of a file, with the word before its path; else its name."""
    from experiments import contract
    from experiments.runner import provenance

    word, colon, path = name.partition(":") if not os.path.isfile(os.path.expanduser(name)) else ("", "", name)
    file = Path(os.path.expanduser(path))
    try:
        return (word + colon, provenance.digest(file)) if file.is_file() else name
    except (contract.InputError, OSError):
        return name


def entry(table: dict[str, Entry], name: str) -> Entry | None:
    """The entry of a memory in a mapping by name, however that is written there; None if there is none."""
    if name in table or not table:
        return table.get(name)
    wanted = memory(name)
    return next((value for key, value in table.items() if memory(key) == wanted), None)


def _content(model: Any) -> Hashable:
    import jax
    import numpy as np

    leaves, structure = jax.tree.flatten(model)
    return structure, tuple(np.asarray(leaf).tobytes() for leaf in leaves)
