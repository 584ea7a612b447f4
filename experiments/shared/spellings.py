"""Equivalent spellings: whether two names of memories, separations, ensembles or starts mean the same.

What two names stand for compares equal where they are one and the same, as `dense` and `dense:3`, `classical` and
`dense:2`, `max` and `top_k:1`, `0.1` and `flip:0.1`, or two paths to files that hold the same. Tables keep the name
that was given.
"""

import os
from collections.abc import Callable, Hashable, Iterator
from dataclasses import fields, is_dataclass
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from typing import Any, TypeVar

import jax
import numpy as np

from experiments import contract
from experiments.contract import Config
from experiments.shared import corruptions
from experiments.system import files
from hopfield import memories, separations

Entry = TypeVar("Entry")
_ALIASES = {"sparsemax": "entmax:2", "linear": "polynomial:2", "classical": "dense:2"}
"""Separations, and a memory, that have a faster form of their own."""


def memory(name: str) -> Hashable:
    """Meaning of a memory's name. An unknown name is its own meaning."""
    return _understood(_memory, name)


def ensemble(name: str) -> Hashable:
    """Identity of an ensemble: the contents of a file with the word before its path, or the ensemble's name."""
    word, colon, path = name.partition(":") if not os.path.isfile(os.path.expanduser(name)) else ("", "", name)
    file = Path(os.path.expanduser(path))
    try:
        return (word + colon, files.digest(file)) if file.is_file() else name
    except (contract.InputError, OSError):
        return name


def entry(table: dict[str, Entry], name: str) -> Entry | None:
    """The entry of a memory in a mapping by name, in any spelling of that name. None without an entry."""
    if name in table or not table:
        return table.get(name)
    wanted = memory(name)
    return next((value for key, value in table.items() if memory(key) == wanted), None)


@lru_cache(maxsize=512)  # asked for every point
def _content(model: Callable[[str], Any], name: str, precision: Any) -> Hashable:
    """Structure and entries of the object of a name, in the current precision of JAX."""
    leaves, structure = jax.tree.flatten(model(name))
    return structure, tuple(np.asarray(leaf).tobytes() for leaf in leaves)


def _sample_of(name: str) -> Any:
    """The memory of a name with three patterns that overlap: with a single one, `dreaming:1` is `dreaming:10`."""
    found = memories.find(name)
    rows = np.array([[1, 1, 1, 1, 1, 1, 1, 1], [1, 1, 1, 1, 1, -1, -1, -1], [1, -1, 1, 1, -1, -1, 1, 1]], np.float32)
    return found.build(rows if found.ensemble == "spins" else rows / np.float32(8**0.5))


def _memory(name: str) -> Hashable:
    name = _ALIASES.get(name, name)
    return name.partition(":")[0], _content(_sample_of, name, jax.dtypes.canonicalize_dtype(float))


def _separation(name: str) -> Hashable:
    return _content(separations.find, _ALIASES.get(name, name), jax.dtypes.canonicalize_dtype(float))


MEANINGS: dict[str, Callable[[Any], Hashable]] = {
    "memory": _memory,
    "separation": _separation,
    "ensemble": ensemble,
    "corruption": corruptions.name,
}
"""Meaning of a name, by the kind of name that a field declares with `option(..., meaning=kind)`; ValueError for a
name that means nothing."""


def check(options: Config) -> None:
    """Check that no value is spelt in two ways, such as `dense` beside `dense:3` or two paths of one file.

    Raises:
        ValueError: two entries of a list, or two keys of a mapping, stand for one thing.
    """
    for name, texts, meaning in _names(options):
        meanings = [_understood(meaning, text) for text in texts]
        for (one, first), (other, second) in combinations(zip(texts, meanings, strict=True), 2):
            if first == second:
                raise ValueError(
                    f"{name} must be different from each other, got {one!r} and {other!r}, which are the same"
                )


def own_name(text: str, options: Config) -> str:
    """A sentence of the library about a name that means nothing, about the option that lists that name."""
    for name, texts, meaning in _names(options):
        for entry in texts:
            try:
                meaning(entry)
            except ValueError as error:
                if str(error) == text and not text.startswith(f"{name} "):
                    return f"{name} must hold names that can be read, got {entry!r}: {text}"
    return text


def _names(options: Any, prefix: str = "") -> Iterator[tuple[str, list[Any], Callable[[Any], Hashable]]]:
    """Lists of names and mappings by name in options, nested ones included: dotted name, names, meaning."""
    for field in fields(options):
        bounds, name, value = field.metadata.get("bounds"), prefix + field.name, getattr(options, field.name)
        if bounds is not None and bounds.meaning is not None and isinstance(value, list | dict):
            yield name, list(value), MEANINGS[bounds.meaning]
        for key, part in value.items() if isinstance(value, dict) else ():
            if is_dataclass(part):
                yield from _names(part, f"{name}.{key}.")


def _understood(meaning: Callable[[Any], Hashable], name: Any) -> Hashable:
    try:
        return meaning(name)
    except ValueError:  # whoever reads the name says so
        return name
