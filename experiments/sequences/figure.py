"""Figure of sequences: whole sequences against their length, errors of a bit, and what correlations cost."""

from typing import Any

import numpy as np
import pandas

from experiments.contract import Table
from experiments.figures.panel import SHARE, Axis, Panel, Series, curves, entry, level, theory_line
from experiments.figures.style import series
from experiments.sequences import theory
from experiments.sequences.config import EXPONENTIAL


def panels(table: Table, summary: dict) -> list[Panel]:
    """Whole sequences against P for every rule, then measured against exact errors of a bit, then the rest."""
    lengths: Table = pandas.DataFrame(summary["lengths"])
    plain = lengths[(lengths["learning"] == "plain") & (lengths["correlation"] == 0)]
    others = lengths[(lengths["learning"] != "plain") | (lengths["correlation"] != 0)]
    shown = [_whole(rows, str(rule), summary["half"]) for rule, rows in plain.groupby("degree", sort=False)]
    shown += [_bits(plain)] if len(plain) else []
    if len(others):
        measured = set(others["correlation"])
        shown.append(_correlated(lengths[[c in measured for c in lengths["correlation"]]]))
    return shown


def _name(rule: str) -> str:
    return "exponential" if rule == EXPONENTIAL else f"$d={rule}$"


def _whole(rows: Table, rule: str, half: list[dict]) -> Panel:
    """Share of whole sequences and of single transitions against the number of patterns."""
    looks = series([str(size) for size in sorted(rows["neurons"].unique())])
    filled = {size: look | {"linestyle": "", "markersize": 4} for size, look in looks.items()}
    hollow = {size: look | {"markerfacecolor": "white"} for size, look in filled.items()}
    found = curves(rows, "patterns", "whole", by="neurons", label="$N={}$", looks=filled)
    found += curves(rows, "patterns", "right", by="neurons", label=lambda size: "", looks=hollow)
    for size, part in rows.groupby("neurons"):
        color = looks[str(size)]["color"]
        grid = np.unique(np.geomspace(2, 3 * part["patterns"].max(), 40).round().astype(int))
        for whole, line in ((True, "--"), (False, ":")):
            chances = [theory.chance_right(rule, int(size), int(p), int(p) if whole else 1) for p in grid]
            found.append(theory_line(grid, chances, color=color, linestyle=line))
        found += _published(half, rule, int(size), color)
    if rule != EXPONENTIAL:
        found += [entry(f"published $P_{sign}$", color="0.4", marker=mark) for sign, mark in (("S", 6), ("T", 7))]
    found += [entry("whole sequence: theory", linestyle="--"), entry("one step (open): theory", linestyle=":")]
    share = Axis("share right", limits=SHARE, ticks=[(k / 5, f"{k / 5:g}") for k in range(6)])
    return Panel(_name(rule), Axis("patterns $P$", "log"), share, found)


def _published(half: list[dict], rule: str, size: int, color: str) -> list[Series]:
    """Marks of the published capacities of a rule and size."""
    known = [entry for entry in half if (entry["degree"], entry["neurons"], entry["learning"]) == (rule, size, "plain")]
    marks: list[tuple[str, Any]] = [("P_S", 6), ("P_T", 7)]
    return [
        Series([one[place]], [0.03], color=color, marker=mark) for one in known if one["P_T"] for place, mark in marks
    ]


def _bits(rows: Table) -> Panel:
    """Measured over exact errors of a bit, at every length. Where none were seen, the ratio is 0 with its upper bar."""
    exact = rows["bit_error_theory"].astype(float)
    names = ["bit_error", "bit_error_low", "bit_error_high"]
    rows = rows.drop(columns=names).join(rows[names].div(exact, axis=0))
    looks = {
        name: look | {"linestyle": "", "markersize": 4}
        for name, look in series([str(rule) for rule in rows["degree"]]).items()
    }
    found = curves(rows, "bit_error_theory", "bit_error", by="degree", label=lambda rule: _name(str(rule)), looks=looks)
    x, y = Axis(r"exact error of a spin $\varepsilon$", "log"), Axis("measured over exact", limits=(-0.1, 3))
    return Panel("one step", x, y, [*found, level(1.0)])


def _correlated(rows: Table) -> Panel:
    """Transitions right against the mean overlap of patterns, with either way of learning, at each rule's largest N."""
    found = []
    for (rule, learning), part in rows.groupby(["degree", "learning"], sort=False):
        part = part[part["neurons"] == part["neurons"].max()]
        part = part[part["patterns"] == part["patterns"].max()]
        size = f"$N={part['neurons'].max()}$, $P={part['patterns'].max()}$"
        found.append(part.assign(name=f"{_name(str(rule))}, {str(learning).replace('_', '-')}, {size}"))
    x, y = Axis("mean overlap of patterns $c$"), Axis("transitions right", limits=(-0.03, 1.05))
    return Panel("correlated patterns", x, y, curves(pandas.concat(found), "correlation", "right", by="name"))
