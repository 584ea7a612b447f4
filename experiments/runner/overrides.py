"""Overrides on a command line: parsed, multiplied out in a sweep, and held against each other; sweeps as values."""

import itertools
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hydra.core.global_hydra import GlobalHydra
from hydra.core.override_parser.overrides_parser import OverridesParser
from hydra.core.override_parser.types import Override
from hydra.errors import OverrideParseException

from experiments.contract import UNMEASURED, InputError
from experiments.runner import errors, values
from experiments.runner.words import as_key, quote
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


def listed(name: str, over: Any) -> Any:
    """A sweep as plain lists: a mapping of options to lists of values, or a list of mappings, one for each run.

    Args:
        name: of the argument or option that holds the sweep.
        over: the same with arrays, ranges and iterators for lists.

    Raises:
        InputError: it is of another form.
    """
    if isinstance(over, Mapping):
        return {key: _values(f"{key} in {name}", each) for key, each in over.items()}
    found = _values(name, over)
    if not all(isinstance(each, Mapping) for each in found):
        form = "a mapping of options to lists of values, or a list of mappings"
        raise InputError(f"{name} must be {form}, got {over!r}")
    return found


def runs(name: str, over: Any) -> list[dict[str, Any]]:
    """Options of every run of a sweep that is `listed`: each combination of its lists, or its mappings.

    Raises:
        InputError: there is no run, or an option that changes nothing.
    """
    found: list[Any] = over
    if isinstance(over, Mapping):
        if empty := [key for key, each in over.items() if not each]:
            raise InputError(f"{name} must give {empty[0]} at least one value, got none")
        found = [dict(zip(over, each, strict=True)) for each in itertools.product(*over.values())]
    if not found or not all(found):
        raise InputError(f"{name} must name at least one option, got {over!r}")
    for key in itertools.chain.from_iterable(found):
        if str(key).partition(".")[0] in UNMEASURED:
            raise InputError(f"{name} must name options that change what is measured, got {key}")
    return [dict(each) for each in found]


def _values(name: str, given: Any) -> list[Any]:
    listed = given.tolist() if hasattr(given, "tolist") else given
    if not isinstance(listed, Iterable) or isinstance(listed, str | bytes | Mapping):
        raise InputError(f"{name} must be a list of values, got {given!r}")
    return [*listed]


def written(value: Any) -> str:
    """A value of plain data as the word of an override has it."""
    if isinstance(value, Mapping):
        entries = (f"{as_key(str(key))}:{written(each)}" for key, each in value.items())
        return f"{{{','.join(entries)}}}"
    if isinstance(value, list):
        return f"[{','.join(map(written, value))}]"
    return quote(value) if isinstance(value, str) else files.encode(value)


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
