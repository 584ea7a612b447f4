"""Idle options: options that are given but have no effect on the run, as the width of a layer that is not trained.

A field says when it is used, `option(..., used_when=includes("layers", "lookup"))`, and one walk over a configuration
finds all that are not. Options that a word sets were asked for, whatever the value; other options, if they differ from
the default. Empty lists, false and null ask for nothing.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass, replace
from types import ModuleType
from typing import Any

from experiments.bounds import Use
from experiments.contract import Config
from experiments.shared.spellings import memory

Path = tuple[str, ...]
Found = Iterator[tuple[Path, str]]


def options(config: Config, experiment: ModuleType | None, words: Collection[Path] = ()) -> Found:
    """Path and sentence of every option of a configuration that was asked for and does nothing.

    Args:
        config: the options.
        experiment: its module, where conditions stand that only the library can judge.
        words: paths of the options, or of the groups of them, that words on the command line set.
    """
    for field in fields(config):
        value = getattr(config, field.name)
        if isinstance(value, dict) and field.metadata.get("entries_of"):
            yield from _entries(config, experiment, field, value, words)
        else:
            yield from _unused_field(config, experiment, field, (field.name,), value, words)


def was_set(path: Path, words: Collection[Path]) -> bool:
    """True if any of the words sets an option or a group around the option."""
    return any(path[: len(word)] == word for word in words)


def _unused_field(
    config: Config, experiment: ModuleType | None, field: Field, path: Path, value: Any, words: Collection[Path]
) -> Found:
    use: Use | None = field.metadata.get("used_when")
    settings = list(_settings(field, path, value, words)) if use is not None else []
    if use is None or not settings or use.met(config, experiment):
        return
    for place, part in settings:
        yield place, f"{'.'.join(place)} must be left out unless {use.words}, got {part}"


def _entries(
    config: Config, experiment: ModuleType | None, field: Field, entries: dict[str, Any], words: Collection[Path]
) -> Found:
    """Idle options within the entries of a mapping: each is looked at as if it were all that is measured."""
    option = field.metadata["entries_of"]
    names: Sequence[str] | None = getattr(config, option)
    for name, entry in entries.items():
        measured = names is None or name in names or memory(name) in map(memory, names)
        alone = replace(config, **{option: [name]}) if measured else config
        for part in fields(entry):
            path, value = (field.name, name, part.name), getattr(entry, part.name)
            if measured:
                yield from _unused_field(alone, experiment, part, path, value, words)
                continue
            for place, _ in _settings(part, path, value, words):
                yield place, f"{'.'.join(place)} must belong to one of the {option} measured, {', '.join(names or [])}"


def _settings(field: Field, path: Path, value: Any, words: Collection[Path]) -> Iterator[tuple[Path, Any]]:
    """Path and value of an option, or of each within a group, that was asked for."""
    default = field.default_factory() if field.default_factory is not MISSING else field.default
    if is_dataclass(value):
        for part in fields(value):
            yield from _settings(part, (*path, part.name), getattr(value, part.name), words)
    elif value not in ([], False, None) and (value != default or was_set(path, words)):
        yield path, getattr(value, "name", value)
