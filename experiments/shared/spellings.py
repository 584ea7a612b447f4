"""Spellings of one thing: what a memory, a separation or a source of patterns is by, whichever way its name is written.

What two names stand for compares equal where they are one and the same, as `dense` and `dense:3`, `max` and `top_k:1`,
or two paths to files that hold the same. Tables keep the name that was given.
"""

import os
from collections.abc import Callable, Hashable, Sequence
from dataclasses import fields, is_dataclass
from itertools import combinations
from pathlib import Path
from typing import Any, TypeVar

import jax
import numpy as np

from experiments import contract
from experiments.shared import files
from hopfield import memories, separations

Entry = TypeVar("Entry")
_ALIASES = {"sparsemax": "entmax:2", "linear": "polynomial:2"}
"""Separations that have a faster form of their own."""


def memory(name: str) -> Hashable:
    """What a memory's name stands for; a name that means nothing stands for itself."""
    try:
        return name.partition(":")[0], _content(memories.find(name).build(np.ones((1, 2), np.float32)))
    except ValueError:  # whoever reads the name says so
        return name


def separation(name: str) -> Hashable:
    """What a separation's name stands for; a name that means nothing stands for itself."""
    try:
        return _content(separations.find(_ALIASES.get(name, name)))
    except ValueError:
        return name


def source(name: str) -> Hashable:
    """What a source of patterns is: the contents of a file, with the word before its path; else its name."""
    word, colon, path = name.partition(":") if not os.path.isfile(os.path.expanduser(name)) else ("", "", name)
    file = Path(os.path.expanduser(path))
    try:
        return (word + colon, files.digest(file)) if file.is_file() else name
    except (contract.InputError, OSError):
        return name


def entry(table: dict[str, Entry], name: str) -> Entry | None:
    """The entry of a memory in a mapping by name, however that is written there; None if there is none."""
    if name in table or not table:
        return table.get(name)
    wanted = memory(name)
    return next((value for key, value in table.items() if memory(key) == wanted), None)


def _content(model: Any) -> Hashable:
    leaves, structure = jax.tree.flatten(model)
    return structure, tuple(np.asarray(leaf).tobytes() for leaf in leaves)


MEANINGS: dict[str, Callable[[str], Hashable]] = {"memory": memory, "separation": separation, "source": source}
"""What a name stands for, by the kind of name that a field declares with `about(..., meaning=kind)`."""


def check(options: Any) -> None:
    """Refuse `dense` beside `dense:3`, or one file by two paths: they would be two curves of one thing.

    Raises:
        ValueError: two entries of a list, or two keys of a mapping, stand for one thing.
    """
    for field in fields(options):
        bounds, value = field.metadata.get("bounds"), getattr(options, field.name)
        if bounds is not None and bounds.meaning is not None and isinstance(value, list | dict):
            _check_distinct(field.name, list(value), MEANINGS[bounds.meaning])
        for entry in filter(is_dataclass, value.values() if isinstance(value, dict) else ()):
            check(entry)


def _check_distinct(name: str, texts: Sequence[str], meaning: Callable[[str], Hashable]) -> None:
    meanings = [meaning(text) for text in texts]
    for (one, first), (other, second) in combinations(zip(texts, meanings, strict=True), 2):
        if first == second:
            raise ValueError(f"{name} must be different from each other, got {one!r} and {other!r}, which are the same")
