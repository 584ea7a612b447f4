"""Checks of names and texts, what sentences of errors show of a value, and the names that `dir` shows of a module."""

import difflib
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

Member = TypeVar("Member", bound=str)


def shown(value: Any) -> str:
    """The beginning of an object's text, on one line, for a sentence about it."""
    return " ".join(f"{value!r:.200}".split())[:60]


def in_line(value: Any) -> str:
    """The beginning of a number's or an array's text on one line, without its type, for a sentence about it."""
    return " ".join(f"{value!s:.200}".split())[:60]


def nearest(spec: Any, names: Iterable[str]) -> str:
    """The end of a sentence on an unknown name, `; did you mean dense:4?`. Empty where none of the names is near."""
    name, colon, text = spec.partition(":") if isinstance(spec, str) else ("", "", "")
    begun = [each for each in names if len(name) > 2 and each.startswith(name)]
    near = begun or difflib.get_close_matches(name, tuple(names), 1)
    return f"; did you mean {near[0]}{colon}{text}?" if near and near[0] != name else ""


def one_of(name: str, value: Any, members: Sequence[Member]) -> Member:
    """A member of a closed set. ValueError, listing them and the nearest one, for any other."""
    found = next((member for member in members if isinstance(value, str) and value == member), None)
    if found is None:
        raise ValueError(f"{name} must be one of {', '.join(members)}, got {shown(value)}{nearest(value, members)}")
    return found


def parse_number(kind: Callable[[str], Any], text: str) -> Any:
    """The number that a text spells, by `int` or `float`. ValueError also for Python's own forms, as 1_0 for 10."""
    if "_" in text or not text.isascii():
        raise ValueError(f"text must spell a number in digits, got {shown(text)}")
    return kind(text)


def public(names: Iterable[str]) -> Callable[[], list[str]]:
    """The function `__dir__` of a module that shows no tools it imports: `__dir__ = public(__all__)`."""
    return lambda: sorted(names)
