"""Overrides of a command line against each other: an option set twice, or one that another word silences."""

from collections.abc import Mapping, Sequence
from typing import Any

from hydra.core.override_parser.types import Override

from experiments.contract import InputError


def given(override: Override) -> dict[tuple[str, ...], Any]:
    """Path and value of every option that a word sets: of a mapping, of each in it."""
    found: dict[tuple[str, ...], Any] = {}
    waiting: list[tuple[tuple[str, ...], Any]] = [(tuple(override.key_or_group.split(".")), override.value())]
    for path, value in waiting:
        if isinstance(value, dict) and value:
            waiting += [((*path, str(key)), part) for key, part in value.items()]
        else:
            found[path] = value
    return found


def check_once(overrides: Sequence[Override]) -> None:
    """Raise InputError where two words set one option."""
    seen: dict[tuple[str, ...], str] = {}
    for override in overrides:
        for path in given(override):
            if path in seen:
                words = f"{seen[path]} and {override.input_line}"
                raise InputError(f"{'.'.join(path)} must be given once, got {words}")
            seen[path] = str(override.input_line)


def check_silenced(given: Mapping[tuple[str, ...], Any]) -> None:
    """Raise InputError where a number of one part or memory stands beside the common one, which beats it."""
    common = {path[0] for path, value in given.items() if value is not None}
    for path in given:
        if len(path) > 2 and path[0] in ("part", "per_memory") and path[2] in common:
            raise InputError(f"{path[2]} must not be given together with {'.'.join(path[:3])}, which it would silence")
