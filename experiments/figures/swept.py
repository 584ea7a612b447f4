"""Panels of a sweep: the numbers that its summaries are about, with errors, against the option that was swept."""

from collections.abc import Sequence

import pandas

from experiments.columns import SYMBOLS
from experiments.contract import Table
from experiments.figures import labels
from experiments.figures.panel import Axis, Panel, Series, entry
from experiments.figures.sentences import told
from experiments.figures.style import THEORY, series
from experiments.figures.words import readable

MOST = 3
"""Quantities shown at most: the others are in the report."""


def panels(estimates: Table, options: Sequence[str]) -> list[Panel]:
    """A panel for each of the first quantities; nothing where no option with two numbers or words was swept.

    Args:
        estimates: rows of all runs.
        options: the columns of options in which the runs differ.
    """
    swept = [name for name in options if estimates[name].nunique() > 1]
    if not swept:
        return []
    axis = max(swept, key=lambda name: (_is_number(estimates[name]), estimates[name].nunique()))
    if "stderr" not in estimates:
        return []
    known = estimates[estimates["headline"] & estimates["value"].notna() & estimates["stderr"].notna()]
    quantities = list(known.groupby("quantity", sort=False))[:MOST]
    return [_panel(str(quantity), axis, rows, _is_number(estimates[axis])) for quantity, rows in quantities]


def _is_number(column: Table) -> bool:
    return pandas.api.types.is_numeric_dtype(column) and column.dtype != bool


def _panel(quantity: str, axis: str, rows: Table, numbers: bool) -> Panel:
    """One quantity against an option; what else tells its numbers apart is told by colour."""
    places = list(dict.fromkeys(rows[axis]))
    swept = SYMBOLS.get(axis, readable(axis))
    names = [each.apart(("quantity", swept)) for each in told(rows)]
    rows = rows.assign(name=names, place=[value if numbers else places.index(value) for value in rows[axis]])
    for name in ("theory", "limit"):
        rows[name] = rows[name] if name in rows else float("nan")
    rows, drawn = rows.assign(theory=rows["theory"].fillna(rows["limit"])), []
    for name, look in series(names).items():
        part = rows[rows["name"] == name].sort_values("place")
        look = look if numbers else look | {"linestyle": ""}
        drawn.append(Series(part["place"], part["value"], part["stderr"], label=labels.literal(name), **look))
        if part["theory"].notna().any():
            drawn.append(Series(part["place"], part["theory"], **THEORY | {"color": look["color"]}))
    known = rows[rows["theory"].notna()]
    if len(known):
        drawn.append(entry(labels.theory(known.get("kind", ())), **THEORY))
    else:
        drawn.append(entry("no theory known", color="1.0"))
    ticks = None if numbers else [(place, labels.literal(str(value))) for place, value in enumerate(places)]
    return Panel(f"{quantity} against {axis}", Axis(axis, ticks=ticks), Axis(quantity), drawn)
