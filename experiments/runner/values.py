"""Values of options as their types have them, whether the command or Python gave them."""

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from enum import Enum
from typing import Any, get_args, get_origin, get_type_hints

from experiments.runner.errors import unknown_option, without_none, wrong_type

_KINDS: dict[Any, tuple[type, ...]] = {bool: (bool,), int: (int,), float: (int, float), str: (str, int, float)}
"""Types of values that an option of a type can be given."""
_OTHERWISE = re.compile(r"[-+.\d].*|true|false|null|", re.IGNORECASE | re.DOTALL)
"""Texts that are something else as words of the command."""


def typed(hint: Any, value: Any, name: str = "") -> Any:
    """Value of an option, made of plain data: numbers, texts, members of an Enum, lists and dicts.

    Args:
        hint: the type of the option; of a group of options, or of all, their dataclass.
        value: what was given.
        name: the dotted name of the option.

    Raises:
        ValueError: a value of another type, or what the dataclass raises; one sentence.
    """
    kind: Any = without_none(hint)
    make: Any = kind
    named, inner = getattr(kind, "__members__", {}), get_args(kind)
    if kind is Any or (value is None and kind is not hint):
        return value
    if isinstance(value, dict) and is_dataclass(kind):
        hints = get_type_hints(kind)
        made = {key: typed(hints[key], part, f"{name}.{key}".lstrip(".")) for key, part in value.items()}
        return make(**made)
    if isinstance(value, dict) and get_origin(kind) is dict:
        return {key: typed(inner[1], part, f"{name}.{key}") for key, part in value.items()}
    if isinstance(value, list) and get_origin(kind) is list and not any(isinstance(p, list | dict) for p in value):
        return [typed(inner[0], part, f"{name}[{place}]") for place, part in enumerate(value)]
    if (member := value.name if isinstance(value, Enum) else str(value)) in named:
        return named[member]
    if isinstance(value, _KINDS.get(kind, ())) and isinstance(value, bool) == (kind is bool):
        return make(value)
    shown = repr(value) if isinstance(value, str) and _OTHERWISE.fullmatch(value) else value
    raise ValueError(wrong_type(name, hint, shown))


def overlaid(hint: Any, held: Any, given: Any, conf: str, name: str = "") -> Any:
    """Plain value of an option with one that was given in its place: of groups and mappings, of each in them.

    An empty mapping empties one.

    Raises:
        ValueError: a name that is no option of its group.
    """
    kind = without_none(hint)
    hints = get_type_hints(kind) if is_dataclass(kind) else None
    if not isinstance(given, Mapping) or (hints is None and (get_origin(kind) is not dict or not given)):
        return given
    result = dict(held or {})
    for key, part in given.items():
        own = f"{name}.{key}".lstrip(".")
        if hints is not None and key not in hints:
            raise ValueError(unknown_option(own, conf, kind))
        inner = hints[key] if hints is not None else get_args(kind)[1]
        result[key] = overlaid(inner, result.get(key), part, conf, own)
    return result


def nested(path: Sequence[str], value: Any) -> Any:
    """A value below the parts of its name: {"wandb": {"mode": "offline"}} of wandb.mode."""
    return functools.reduce(lambda inner, part: {part: inner}, reversed(path), value)


def paths(given: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Path and value of every option that is given: of a mapping, of each in it."""
    if isinstance(given, Mapping) and given:
        for key, part in given.items():
            yield from paths(part, (*path, str(key)))
    else:
        yield path, given
