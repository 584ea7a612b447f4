"""Figure of random features: errors of log-energy and of retrieval against Y, predicted errors, and what fails."""

from typing import Any, cast

import numpy as np
import pandas

from experiments.contract import Table
from experiments.figures.panel import SHARE, Axis, Panel, Series, entry, theory_line
from experiments.figures.style import THEORY, series

SCALE = ["neurons", "patterns", "beta"]
MARKERS = "osv^DPX*"
SIZE = "size of the memory $Y$"


def panels(table: Table, summary: dict) -> list[Panel]:
    """Log-energy and retrieval against Y with lines of slope −½, measured against predicted, share that fails.

    All panels at the first N, M and β, one of them at all.
    """
    sizes: Table = pandas.DataFrame(summary["sizes"])
    first = sizes[(sizes[SCALE] == sizes[SCALE].iloc[0]).all(axis=1)]
    where = _scale(first)
    failed = [Series(rows["features"], rows["failed"], label=kind, **look) for kind, rows, look in _curves(first)]
    return [
        _against_size(first, "log_energy", r"RMS error of $\beta E$", f"energy, {where}"),
        _against_size(first, "retrieval", "RMS distance of the ends", f"retrieval, {where}"),
        Panel(
            f"queries that fail loudly, {where}",
            Axis(SIZE, "log"),
            Axis("queries without an energy", limits=SHARE),
            failed,
        ),
        _predicted(sizes),
    ]


def _scale(rows: Table) -> str:
    return "$N={:g}$, $M={:g}$, $\\beta={:g}$".format(*rows[SCALE].iloc[0])


def _curves(sizes: Table) -> list[tuple[str, Table, Any]]:
    """Map, rows and look of every curve. The map sets the colour; N, M and β set the marker."""
    colours = series(list(dict.fromkeys(sizes["map"])))
    markers = dict(zip(sizes.groupby(SCALE, sort=False).groups, MARKERS * len(sizes), strict=False))
    found = []
    for key, rows in sizes.groupby(["map", *SCALE], sort=False):
        kind, *scale = cast(tuple, key)
        found.append((kind, rows, colours[kind] | {"marker": markers[tuple(scale)]}))
    return found


def _against_size(sizes: Table, name: str, label: str, title: str) -> Panel:
    found = []
    for kind, rows, look in _curves(sizes):
        known = rows[rows[name].notna()]
        found.append(Series(known["features"], known[name], label=kind, **look | {"linestyle": ""}))
        if len(known):
            last, y = known.iloc[-1], known["features"].to_numpy(float)
            line = float(last[name]) * np.sqrt(last["features"] / y)
            found.append(theory_line(y, line, color=look["color"]))
    slope = entry(r"$\propto Y^{-1/2}$ through the last point", **THEORY)
    return Panel(title, Axis(SIZE, "log"), Axis(label, "log"), [*found, slope])


def _predicted(sizes: Table) -> Panel:
    """Measured against predicted errors of all N, M and β, told apart by marker."""
    drawn, found, marks = _curves(sizes), [], {}
    for kind, rows, look in drawn:
        label = kind if kind not in [part.label for part in found] else ""
        found.append(Series(rows["predicted"], rows["sum"], label=label, **look | {"linestyle": ""}))
        marks[look["marker"]] = _scale(rows)
    found += [entry(text, color="0.4", marker=mark) for mark, text in marks.items()] if len(marks) > 1 else []
    ends = np.array([sizes["predicted"].min(), 2.0])
    x = Axis("error that the memory foretells", "log", (ends[0] / 1.5, 3))
    y = Axis("RMS relative error of the sum", "log", (ends[0] / 1.5, 30))
    return Panel("foretold error", x, y, [*found, theory_line(ends, ends, "as foretold")])
