"""Bounds of options, declared on their fields and held for every experiment by one walk over its configuration.

A field that declares nothing is bounded all the same: whole numbers fit in 32 bits, other numbers in single precision,
texts hold no control characters.
"""

import difflib
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, NamedTuple

WHOLE = 2**31
"""Whole numbers lie below this in size unless a field says otherwise."""
SINGLE = (2.0**-126, 3.4e38)
"""Least and largest size of a number in single precision, besides zero."""
NUMBERED = ("memory", "separation")
"""Kinds of names that may end in a number, as `dense:3` and `entmax:1.5` do."""
CODED = (*NUMBERED, "corruption")
"""Kinds of names that may be code of a user, as `./mine.py:name`."""


class Bounds(NamedTuple):
    """Values that an option may have. For a list or mapping they bound its entries."""

    least: float | None = None
    most: float | None = None
    above: float | None = None
    below: float | None = None
    among: tuple[str, ...] | None = None
    nonempty: bool = False
    repeats: bool = False
    """True if a list may hold an entry twice, as where each belongs to one of another list."""
    names: "Mapping[str, Number | None] | None" = None
    """Names that entries are, alone or as in `diluted:0.3`, with the number that may follow (`name_and_number`)."""
    meaning: str | None = None
    """Kind of name of the entries, or keys of a mapping (see `spellings`): no two may stand for one thing.

    Numbers of memories, of separations and of `names` have one way to be written.
    """

    def describe(self) -> str:
        """The bounds in words, to follow "must"."""
        if self.among is not None:
            return f"be one of {', '.join(self.among)}"
        low, high = (self.least, self.above), (self.most, self.below)
        if low == high == (None, None):
            return ""
        if high == (None, None):
            return "be positive" if self.above == 0 else _side(low, "be at least", "be above")
        if low == (None, None):
            return _side(high, "be at most", "be below")
        opening, closing = "[("[self.least is None], "])"[self.most is None]
        return f"lie in {opening}{_side(low, '', '')}, {_side(high, '', '')}{closing}".replace(" ,", ",")

    def hold(self, value: Any) -> bool:
        """True if a value lies within the bounds. NaN never does."""
        if self.among is not None:
            return value in self.among
        sides = (
            self.least is None or value >= self.least,
            self.most is None or value <= self.most,
            self.above is None or value > self.above,
            self.below is None or value < self.below,
        )
        return all(sides)


class Number(NamedTuple):
    """Number that follows a name after a colon."""

    bounds: Bounds
    needed: bool = True
    """True if the name cannot stand alone."""
    whole: bool = False


def name_and_number(text: str) -> tuple[str, float | None]:
    """Name and number of `name` or `name:number`. The number is None without a colon and NaN if it cannot be read."""
    name, colon, digits = text.partition(":")
    try:
        return name, float(digits) if colon else None
    except ValueError:
        return name, math.nan


def suggestion(name: str, names: Iterable[str]) -> str:
    """The end of a sentence on a name that there is not, `; did you mean capacity?`. Empty if none of names is near.

    The library's own, which its errors end in, would import JAX before `--help` answers.
    """
    begun = [each for each in names if len(name) > 2 and each.startswith(name)]
    near = begun or difflib.get_close_matches(name, list(names), n=1)
    return f"; did you mean {near[0]}?" if near else ""


def check_code(option: str, text: Any) -> None:
    """Check that a file of code is followed by the name of what it defines; else ValueError."""
    if isinstance(text, str) and text.endswith(".py"):
        raise ValueError(f"{option} must say what of a file is meant, got {text!r}; write {text}:NAME")


def check(options: Any, prefix: str = "") -> None:
    """Check that every option of a dataclass, nested ones included, is within its bounds.

    Raises:
        ValueError: one lies outside; one sentence with its dotted name, the bounds and the value.
    """
    for entry in fields(options):
        name, value = prefix + entry.name, getattr(options, entry.name)
        bounds = entry.metadata.get("bounds", Bounds())
        if isinstance(value, list) and bounds.nonempty and not value:
            raise ValueError(f"{name} must not be empty, got []")
        if isinstance(value, list) and not bounds.repeats and len(set(value)) < len(value):
            raise ValueError(f"{name} must be different from each other, got {value}")
        for part in value if isinstance(value, list | dict) else []:
            if bounds.names is not None:
                _check_name(name, part, bounds.names)
            if bounds.meaning in CODED:
                check_code(name, part)
            if bounds.names is not None or bounds.meaning in NUMBERED:
                _check_spelling(name, part)
        if is_dataclass(value):
            check(value, f"{name}.")
        elif isinstance(value, dict):
            for key, part in value.items():
                _check_any(f"{name}.{key}", part, bounds)
        else:
            for part in value if isinstance(value, list) else [value]:
                _check_any(name, part, bounds)


def number(value: float) -> str:
    """A number as a sentence shows it."""
    if isinstance(value, int) and abs(value) >= 2**16 and abs(value).bit_count() == 1:
        return f"{'-' * (value < 0)}2^{abs(value).bit_length() - 1}"
    if isinstance(value, int) and abs(value) >= 10**40:
        return f"a number of {value.bit_length()} bits"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _check_name(option: str, text: str, names: Mapping[str, Number | None]) -> None:
    """Check that a name is known, with the number that it needs and none that it cannot have; else ValueError."""
    name, value = name_and_number(text)
    number = names.get(name)
    if value is None:
        fits = name in names and (number is None or not number.needed)
    else:
        fits = number is not None and number.bounds.hold(value) and (value.is_integer() or not number.whole)
    if not fits:
        alone = [each for each, follows in names.items() if follows is None or not follows.needed]
        others = [
            f"{each}:{'INTEGER' if follows.whole else 'NUMBER'} (it must {follows.bounds.describe()})"
            for each, follows in names.items()
            if follows is not None
        ]
        raise ValueError(f"{option} must be among {', '.join(alone + others)}, got {text!r}{suggestion(name, names)}")


def _check_spelling(name: str, text: str) -> None:
    """Check that a number is spelt as usual, not `dense:03` for `dense:3`, which would be another curve."""
    kind, _, digits = text.partition(":")
    try:
        plain = repr(float(digits)).removesuffix(".0")
    except ValueError:  # no number: whoever reads the name says so
        return
    if digits != plain and not (digits.isdecimal() and digits[0] != "0"):
        raise ValueError(f"{name} must be written as in {kind}:{plain}, got {text!r}")


def _check_any(name: str, value: Any, bounds: Bounds) -> None:
    if is_dataclass(value):
        check(value, f"{name}.")
    elif isinstance(value, str):
        if not value.isprintable() or len(value) > 4096:
            raise ValueError(f"{name} must be text of one line without control characters, got {ascii(value)[:80]}")
        if bounds.among is not None and value not in bounds.among:
            raise ValueError(f"{name} must {bounds.describe()}, got {value!r}{suggestion(value, bounds.among)}")
    elif isinstance(value, int | float) and not isinstance(value, bool):
        _check_number(name, value, bounds)


def _check_number(name: str, value: float, bounds: Bounds) -> None:
    declared = bounds.among is None and bounds.describe()
    if declared and not bounds.hold(value):
        raise ValueError(f"{name} must {declared}, got {number(value)}")
    if isinstance(value, int) and bounds.most is bounds.below is None and abs(value) >= WHOLE:
        ends = Bounds(least=-WHOLE if bounds.least is None else bounds.least, below=WHOLE)
        raise ValueError(f"{name} must {ends.describe()}, got {number(value)}")
    if isinstance(value, float) and not (value == 0 or SINGLE[0] <= abs(value) <= SINGLE[1]):
        what = "finite" if not math.isfinite(value) else "a number that single precision can hold"
        raise ValueError(f"{name} must be {what}, got {value:g}")


def _side(ends: tuple[float | None, float | None], closed: str, opened: str) -> str:
    """One end of a range in words."""
    end, words = (ends[0], closed) if ends[0] is not None else (ends[1], opened)
    assert end is not None
    return f"{words} {number(end)}".strip()


class Use(NamedTuple):
    """Condition under which an option does something."""

    words: str
    """In words, to follow "unless"."""
    holds: "Callable[[Any], bool] | str | tuple[Use, ...]"
    """Test of a whole configuration; where the library has to tell, a test's name in `experiment.py`; or
    several that hold together."""

    def met(self, config: Any, experiment: Any) -> bool:
        """True if a configuration meets the condition; `experiment` is the module that may decide it."""
        if isinstance(self.holds, tuple):
            return all(use.met(config, experiment) for use in self.holds)
        judge = getattr(experiment, self.holds) if isinstance(self.holds, str) else self.holds
        return judge(config)


def includes(option: str, *names: str) -> Use:
    """Condition of use: a list of the configuration has one of these names, with or without a number (`entmax:1.5`)."""

    def holds(config: Any) -> bool:
        return any(entry in names or entry.partition(":")[0] in names for entry in getattr(config, option))

    return Use(f"{option} has one of {', '.join(names)}", holds)


def decided_by(words: str, function: str) -> Use:
    """Condition under which an option is used, decided by a function of the experiment.py beside the configuration.

    Args:
        words: in words, to follow "unless".
        function: name of that function, which takes the configuration; it may need what options are read without.
    """
    return Use(words, function)


def both(first: Use, second: Use) -> Use:
    """Condition that holds when both of two conditions hold."""
    return Use(f"{first.words} and {second.words}", (first, second))
