"""Headlines of a report: the numbers that a summary is about, each with its error and the theory beside it.

The name of a number in a summary is a path, `critical_load/classical/asynchronous/retained/N=100`. For people its parts
are columns of a table, the quantity first, and words of a sentence: "critical load of classical, ...".
"""

import math
import re
from collections.abc import Iterator, Sequence
from typing import Any

from experiments.columns import CRITERIA
from experiments.contract import ERROR, LIMIT, ROOT, THEORY
from experiments.figures.words import readable

_MEMORIES = {path.stem for path in (ROOT / "hopfield" / "memories").glob("[a-z]*.py")}
_PART = re.compile(r"(?:[^/]*/)*[^/]*\.py:[^/]+|[^/]+")
QUANTITY, OTHER = "quantity", "case"
"""Columns of the first part of a name, and of parts that no other column is for."""


def cells(name: str) -> dict[str, str]:
    """Words of a number's name by the column that each belongs to."""
    first, _, rest = name.partition("/")
    found = {QUANTITY: readable(first)}
    for part in _PART.findall(rest):
        symbol, equals, value = part.partition("=")
        if equals and re.fullmatch(r"\w+", symbol):
            column, text = symbol, value
        elif part in CRITERIA:
            column, text = "criterion", CRITERIA[part]
        elif part.partition(":")[0] in _MEMORIES or ".py:" in part:
            column, text = "memory", part.rpartition(".py:")[2]
        else:
            column, text = "dynamics" if part in ("asynchronous", "synchronous") else OTHER, readable(part)
        found[column] = f"{found[column]}, {text}" if column in found else text
    return found


def columns(lines: Sequence[dict[str, Any]]) -> list[str]:
    """Columns of all headlines, in the order in which they come."""
    return list(dict.fromkeys(column for line in lines for column in line["cells"]))


def headlines(summary: dict) -> Iterator[dict[str, Any]]:
    """Name, its cells by column, value with error, and theory of every number that a summary is about."""
    scalars = summary.get("scalars", {})
    for name, value in scalars.items():
        if any(name.endswith(end) and name.removesuffix(end) in scalars for end in (ERROR, THEORY, LIMIT)):
            continue
        known, limit, error = scalars.get(f"{name}{THEORY}"), scalars.get(f"{name}{LIMIT}"), f"{name}{ERROR}"
        told = known if limit is None else limit
        theory = "" if told is None else f"{told:.4g}" if math.isfinite(told) else with_error(told)
        yield {
            "name": name,
            "cells": cells(name),
            "value": with_error(value, scalars[error]) if error in scalars else with_error(value),
            "sort": str(value),
            "theory": theory if limit is None else f"{theory} (N → ∞)",
        }


def in_words(summary: dict) -> Iterator[str]:
    """A line for every number that a summary is about: its name in words, value with error, theory."""
    for line in headlines(summary):
        quantity, *of = (
            text if column in (QUANTITY, OTHER, "memory", "dynamics", "criterion") else f"{column} = {text}"
            for column, text in line["cells"].items()
        )
        told = f"{quantity} of {', '.join(of)}" if of else quantity
        yield f"{told}: {line['value']}{line['theory'] and ', theory '}{line['theory']}"


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
