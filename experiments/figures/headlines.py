"""Headlines of a report: the numbers that a summary is about, each with its error and the theory that is its own."""

import math
import re
from collections.abc import Iterator
from typing import Any

from experiments.contract import ERROR, THEORY

_THEORIES = ("theory", "limit", "exact", "expected", "printed")


def headlines(summary: dict) -> Iterator[dict[str, str]]:
    """Name, value with error, and theory of every number that a summary is about."""
    scalars = summary.get("scalars", {})
    for name, value in scalars.items():
        if any(name.endswith(end) and name.removesuffix(end) in scalars for end in (ERROR, THEORY)):
            continue
        known = scalars[f"{name}{THEORY}"] if f"{name}{THEORY}" in scalars else _theory(summary, name)
        error = f"{name}{ERROR}"
        yield {
            "name": name,
            "value": with_error(value, scalars[error]) if error in scalars else with_error(value),
            "sort": str(value),
            "theory": "" if known is None else with_error(known),
        }


def with_error(value: Any, error: Any = 0.0) -> str:
    """A number rounded to the digits that its error justifies. The error is unknown for a single sample."""
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return "unknown" if value is None or math.isnan(value) else str(value)
    if not isinstance(value, float):
        return str(value)
    if error is None or not math.isfinite(error):
        return f"{value:.5g} (error unknown)"
    if error == 0:
        return f"{value:.6g}"
    digits = max(0, 1 - math.floor(math.log10(abs(error))))
    return f"{value:.{digits}f} ± {error:.{digits}f}" if digits < 10 else f"{value:.5g} ± {error:.2g}"


def _theory(summary: dict, name: str) -> float | None:
    """Theory of a headline, from the entry of the summary that the headline was taken from. None if it states none.

    Of joined runs the entry is one of the run that the headline is of. It holds the value, and the error where both
    state one. Of several such entries those count whose words occur most in the name; if their theories differ,
    none is shown.
    """
    groups = [
        part for part in summary.get("groups", []) if isinstance(part, dict) and isinstance(part.get("summary"), dict)
    ]
    named = [group for group in groups if name.startswith(f"{group.get('label')}/")]
    if named:
        group = max(named, key=lambda group: len(group["label"]))
        return _theory(group["summary"], name.removeprefix(f"{group['label']}/"))
    scalars = summary.get("scalars", {})
    value = scalars[name]
    if groups or not isinstance(value, float):
        return None
    error = (scalars[f"{name}{ERROR}"],) if f"{name}{ERROR}" in scalars else ()
    rest = [part for key, part in summary.items() if key != "scalars"]
    matches = [
        (_match_count(entry, key, name), entry)
        for entry in _entries(rest)
        for key in _keys_with_value(entry, value, error)
    ]
    most = max((count for count, _ in matches), default=0)
    theories = {_theory_of(entry) for count, entry in matches if count == most}
    return theories.pop() if len(theories) == 1 else None


def _entries(part: Any) -> Iterator[dict]:
    """Mappings in a part of a summary, at any depth."""
    if isinstance(part, dict):
        yield part
    for inner in part.values() if isinstance(part, dict) else part if isinstance(part, list) else ():
        yield from _entries(inner)


def _keys_with_value(entry: dict, value: float, error: tuple) -> Iterator[str]:
    """Names under which an entry holds a value with its error."""
    for key, number in entry.items():
        if key in _THEORIES or not isinstance(number, float) or number != value:
            continue
        stderr = next((entry[name] for name in (f"{key}_stderr", "stderr") if name in entry), ...)
        if stderr is ... or (error and _is_same_error(stderr, error[0])):
            yield key


def _is_same_error(one: Any, other: Any) -> bool:
    """Whether two errors are equal. Unknown errors are equal to each other."""
    unknown = [value is None or value != value for value in (one, other)]
    return all(unknown) or (not any(unknown) and one == other)


def _match_count(entry: dict, key: str, name: str) -> int:
    """Number of the words and numbers which distinguish an entry that occur in a name."""
    words = re.findall(r"[^/,= ]+", name)
    apart = [held for other, held in entry.items() if other != key and not other.endswith("stderr")]
    spelled = [{str(held)} | ({f"{held:g}"} if isinstance(held, float) else set()) for held in apart]
    return sum(1 for texts in spelled if texts & set(words))


def _theory_of(entry: dict) -> float | None:
    return next((entry[key] for key in _THEORIES if isinstance(entry.get(key), float)), None)
