"""Sentences of estimates, for people: the last lines of a run, its report, lists of runs, names in a chart.

Columns become words here and nowhere before, and nothing reads the words again.
"""

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from experiments.columns import CRITERIA, SYMBOLS, USUAL
from experiments.contract import NUMBERS, Row, Table, records
from experiments.figures.words import readable

IMPLIED = {"patterns": "load", "around": "load", "beta": "ratio", "step": "ratio"}
"""Columns that sentences leave out where another one stands."""
SAID = ("over", "from", "bounds")
"""Columns of texts whose names are said, too."""
DIGITS = (4, 6, 9, 17)
"""Digits of the numbers that tell estimates apart: as few of these as make all names different."""


class Word(str):
    """Text of a cell, which says whether a number stands in it, to be named by its column."""

    number = False


class Told(NamedTuple):
    """Estimate in words: its name, the words of each column, its value with error, theory, and the row itself."""

    name: str
    cells: dict[str, "Word"]
    value: str
    theory: str
    row: Row

    def apart(self, without: Collection[str]) -> str:
        """Words of the columns but some: what tells it from others."""
        return ", ".join(_signed(column, text) for column, text in self.cells.items() if column not in without)


def told(estimates: Table | Sequence[Mapping[str, Any]]) -> list[Told]:
    """The headlines among estimates in words."""
    rows = [row for row in records(estimates) if row.get("headline")]
    found: list[Told] = []
    for digits in DIGITS:
        parts = [_cells(row, digits) for row in rows]
        found = [Told(_name(each), each, _value(row), _theory(row), row) for each, row in zip(parts, rows, strict=True)]
        if len({each.name for each in found}) == len(found):
            break
    return found


def sentences(estimates: Table | Sequence[Mapping[str, Any]]) -> list[str]:
    """A line for every headline: its name, value with error, theory."""
    return [f"{each.name}: {each.value}{each.theory and ', theory '}{each.theory}" for each in told(estimates)]


def columns(found: Sequence[Told]) -> list[str]:
    """Columns of all headlines, in the order in which they come."""
    return list(dict.fromkeys(column for each in found for column in each.cells))


def _cells(row: Row, digits: int) -> dict[str, Word]:
    """Words of a row by the name of each column."""
    return {
        SYMBOLS.get(name, readable(name)): _words(name, value, digits)
        for name, value in row.items()
        if name not in NUMBERS and value not in ("none", "") and USUAL.get(name) != value
        if IMPLIED.get(name) not in row
    }


def _words(name: str, value: Any, digits: int) -> Word:
    if isinstance(value, str | bool):
        text = f"{name} {value}" if name in SAID else str(value)
        return Word(CRITERIA.get(text, text) if name == "criterion" else readable(text.rpartition(".py:")[2]))
    whole = float(value).is_integer() and abs(value) < 1e15
    word = Word(int(value) if whole else f"{value:.{digits}g}")
    word.number = True
    return word


def _signed(column: str, text: Word) -> str:
    return f"{column} = {text}" if text.number else text


def _name(cells: Mapping[str, Word]) -> str:
    quantity, *of = (_signed(column, text) for column, text in cells.items())
    return f"{quantity} of {', '.join(of)}" if of else quantity


def _value(row: Row) -> str:
    if "said" in row:
        return str(row["said"])
    value, exact = row.get("value"), not {"stderr", "samples"} & {*row}
    if value is not None and exact and math.isfinite(value) and float(value).is_integer():
        return str(int(value))
    return with_error(value, row.get("stderr", math.nan if "samples" in row else 0.0))


def _theory(row: Row) -> str:
    """Theory at that size, or for N → ∞, with its kind."""
    known = row.get("theory", row.get("limit"))
    if known is None:
        return ""
    about = [*([row["kind"]] if "kind" in row else []), *([] if "theory" in row else ["N → ∞"])]
    number = f"{known:.4g}" if math.isfinite(known) else with_error(known)
    return f"{number} ({', '.join(about)})" if about else number


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
