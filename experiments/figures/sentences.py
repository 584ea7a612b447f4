"""Sentences of estimates, for people: the last lines of a run, its report, lists of runs, names in a chart.

Columns become words here and nowhere before, and nothing reads the words again.
"""

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from experiments.columns import CRITERIA, SYMBOLS, USUAL
from experiments.contract import NUMBERS, Row, Table, records
from experiments.figures.words import readable

IMPLIED = {"patterns": "load", "around": "load", "beta": "ratio", "step": "ratio"}
"""Columns that sentences leave out where another one stands."""
SAID = ("over", "from", "bounds")
"""Columns of texts whose names are said, too."""
SIZES = ("neurons", "width")
"""Columns of sizes, whose largest speaks for the others; so does the first criterion."""
MOST = 9
"""Numbers that a run ends with at most."""
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


def leading(estimates: Table | Sequence[Mapping[str, Any]]) -> list[Told]:
    """The headlines that a run ends with: of those alike but for size and criterion, the first at the largest size.

    Of more than `MOST`, each memory, or what else the first text of a row names, has its first before any its second.
    """
    found: dict[tuple, Row] = {}
    for row in records(estimates):
        alike = tuple(entry for entry in row.items() if entry[0] not in (*NUMBERS, *SIZES, "criterion"))
        if row.get("headline") and _size(row) > _size(found.get(alike, {})):
            found[alike] = row
    rows, turns, ranks = list(found.values()), Counter[Any](), []
    for row in rows:
        texts = (row[name] for name in row if name not in ("quantity", *NUMBERS) and isinstance(row[name], str))
        turns[name := next(texts, "")] += 1
        ranks.append(turns[name])
    first = sorted(range(len(rows)), key=ranks.__getitem__)[:MOST]
    return told([rows[place] for place in sorted(first)])


def _size(row: Row) -> list[float]:
    """Sizes of a row; no row at all sorts below every size."""
    return [row.get(name, 0) for name in SIZES] if row else []


def sentences(estimates: Table | Sequence[Mapping[str, Any]]) -> list[str]:
    """A line for every headline that a run ends with: its name, value with error, theory."""
    return [f"{each.name}: {each.value}{each.theory and ', theory '}{each.theory}" for each in leading(estimates)]


def columns(found: Sequence[Told]) -> list[str]:
    """Columns of some estimates, in the order in which they come, but those that are the same in all."""
    names = dict.fromkeys(column for each in found for column in each.cells)
    return [name for name in names if len({each.cells.get(name) for each in found}) > 1]


def common(found: Sequence[Told]) -> str:
    """Words of the columns that are the same in all."""
    return found[0].apart(columns(found)) if found else ""


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
    """Theory at that size and for N → ∞, with its kind."""
    kind, found = [row["kind"]] if "kind" in row else [], []
    for name, about in (("theory", kind), ("limit", [*([] if "theory" in row else kind), "N → ∞"])):
        if (known := row.get(name)) is not None:
            number = f"{known:.4g}" if math.isfinite(known) else with_error(known)
            found.append(f"{number} ({', '.join(about)})" if about else number)
    return ", ".join(found)


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
