"""Overrides on a command line: parsed, multiplied out in a sweep, and held against each other."""

import itertools
import re
from collections.abc import Mapping, Sequence
from typing import Any

from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import OverrideParseException

from experiments.contract import InputError
from experiments.runner import errors, values
from experiments.system import files

SWEEP = 10_000
"""Jobs of one sweep at most: composing each takes a good part of a second."""
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_UNDERSCORED = re.compile(r"(?<![\w./:+-])[-+]?\d[\d.]*_[\d_.]*(?:[eE][-+]?[\d_]+)?(?![\w./:+-])")
"""Numbers that Hydra reads as if there were no underscore in them, so that the text 2025_11 would be 202511."""


def parse(word: str) -> Override:
    """Override that Hydra reads in one word, within a session.

    Raises:
        InputError: it cannot be read.
    """
    if not re.match(r"[^=]+=|~", word):
        raise InputError(f"{word or repr(word)} must be written key=value")
    if underscored := _UNDERSCORED.search(_QUOTED.sub("''", word.partition("=")[2])):
        raise InputError(
            f"{word[:200]} must write numbers without underscores, or texts in quotes, got {underscored[0]}"
        )
    loader = GlobalHydra.instance().config_loader()
    try:
        return OverridesParser.create(loader).parse_overrides([word])[0]
    except (OverrideParseException, RecursionError, ValueError) as error:  # also a number of too many digits
        reason = errors.first_line(error).partition(" expecting {")[0]
        if reason.startswith("LexerNoViableAlt"):
            reason = "a sign that needs quotes, as in key='a b'"
        raise InputError(f"{word[:200]} must be written so that Hydra can read it, got: {reason}") from error


def alternatives(override: Override) -> list[str]:
    """Words of one axis of a sweep. A word without a sweep is an axis of length one."""
    if not override.is_sweep_override():
        return [str(override.input_line)]
    if not override.is_discrete_sweep():
        raise InputError(f"{override.input_line} must list its values, as in {override.key_or_group}=1,2,3")
    listed = list(itertools.islice(override.sweep_string_iterator(), SWEEP + 1))
    if len({_value(text) for text in listed}) < len(listed):
        raise InputError(f"{override.input_line} must list every value once")
    return [f"{override.get_key_element()}={value}" for value in listed]


def _value(text: str) -> float | str:
    """A number, equal to the same one in another spelling, or any other text."""
    try:
        return float(text)
    except ValueError:
        return text


def label(swept: Sequence[str]) -> str:
    """A directory name for a job of a sweep, unique to its values: `conf_capacity+seed_0`."""
    text = "+".join(word.replace("=", "_", 1) for word in swept)
    safe = re.sub(r"[^A-Za-z0-9._+-]+", "-", text)[:100]
    return safe if safe == text else f"{safe}-{files.fingerprint(text)[:8]}"


def values_of(override: Override) -> dict[tuple[str, ...], Any]:
    """Path and value of every option that a word sets: of a mapping, of each in it."""
    return dict(values.paths(override.value(), tuple(override.key_or_group.split("."))))


def check_once(overrides: Sequence[Override]) -> None:
    """Check that no two words set one option; else InputError."""
    seen: dict[tuple[str, ...], str] = {}
    for override in overrides:
        for path in values_of(override):
            if path in seen:
                words = f"{seen[path]} and {override.input_line}"
                raise InputError(f"{'.'.join(path)} must be given once, got {words}")
            seen[path] = str(override.input_line)


def check_silenced(given: Mapping[tuple[str, ...], Any]) -> None:
    """Check that no option of one part or memory is given beside a common value, which would silence it."""
    common = {path[0] for path, value in given.items() if value is not None}
    for path in given:
        if len(path) > 2 and path[0] in ("part", "per_memory") and path[2] in common:
            raise InputError(f"{path[2]} must not be given together with {'.'.join(path[:3])}, which it would silence")
