"""Idle options: those that are given and do nothing for what else is chosen, as a width of a layer that is not trained.

A field says when it is used, `option(..., used_when=chosen("layers", "lookup"))`, and one walk over a configuration
finds all that are not. Values that are the default were not asked for, nor are empty lists.
"""

from collections.abc import Iterator, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass, replace
from typing import Any

from experiments.bounds import Use
from experiments.runner import registry

Found = Iterator[tuple[tuple[str, ...], str]]


def options(config: Any, experiment: Any) -> Found:
    """Path and sentence of every option of a configuration that differs from its default and does nothing.

    Args:
        config: the options.
        experiment: its module, where conditions stand that only the library can judge.
    """
    for field in fields(config):
        value = getattr(config, field.name)
        if isinstance(value, dict) and field.metadata.get("entries_of"):
            yield from _entries(config, experiment, field, value)
        else:
            yield from _unused(config, experiment, field, (field.name,), value)


def _unused(config: Any, experiment: Any, field: Field, path: tuple[str, ...], value: Any) -> Found:
    use: Use | None = field.metadata.get("used_when")
    given = list(_given(field, path, value)) if use is not None else []
    if use is None or not given or use.met(config, experiment):
        return
    for place, part in given:
        yield place, f"{'.'.join(place)} must be left out unless {use.words}, got {part}"


def _entries(config: Any, experiment: Any, field: Field, entries: dict[str, Any]) -> Found:
    """The same for the entries of a mapping: each is looked at as if it were all that is measured."""
    memory = registry.spellings().memory
    option = field.metadata["entries_of"]
    names: Sequence[str] | None = getattr(config, option)
    for name, entry in entries.items():
        measured = names is None or name in names or memory(name) in map(memory, names)
        alone = replace(config, **{option: [name]}) if measured else config
        for part in fields(entry):
            path, value = (field.name, name, part.name), getattr(entry, part.name)
            if measured:
                yield from _unused(alone, experiment, part, path, value)
                continue
            for place, _ in _given(part, path, value):
                yield place, f"{'.'.join(place)} must belong to one of the {option} measured, {', '.join(names or [])}"


def _given(field: Field, path: tuple[str, ...], value: Any) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Path and value of an option, or of each within a group, that differs from its default."""
    default = field.default_factory() if field.default_factory is not MISSING else field.default
    if is_dataclass(value):
        for part in fields(value):
            if getattr(value, part.name) != getattr(default, part.name):
                yield (*path, part.name), getattr(value, part.name)
    elif value != default and value not in ([], False):  # which ask for nothing
        yield path, getattr(value, "name", value)
