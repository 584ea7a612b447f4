"""Estimates of a summary, as tests look at them."""

import math
from typing import Any

from experiments.contract import Row, Summary, records


def rows(summary: Summary, quantity: str, **columns: Any) -> list[Row]:
    """The rows of a quantity, NaN where a row has no value, no error or no theory."""
    missing = dict.fromkeys(("value", "stderr", "theory", "limit"), math.nan)
    return [missing | row for row in records(summary.of(quantity, **columns))]


def value(summary: Summary, quantity: str, **columns: Any) -> Any:
    """The value of the only row of a quantity with these columns, or what is said there."""
    (row,) = rows(summary, quantity, **columns)
    return row.get("said", row["value"])
