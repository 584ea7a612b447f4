"""Figure of basins of attraction: the panels of each memory beside each other."""

from typing import Any

import numpy as np
import pandas

from experiments.basins import theory
from experiments.contract import Table
from experiments.figures import labels
from experiments.figures.panel import SHARE, Axis, Panel, Series, curves, entry, guide, shares, theory_line
from experiments.figures.style import LINES, THEORY, series
from experiments.shared import convergence
from experiments.shared.memories import find
from experiments.statistics.clusters import by_group, means_by_group

SHOWN, MOST = 4, 8
"""Loads shown of those that were measured, and panels at most: final overlaps are left out first."""
START = Axis("initial overlap $m_0$", limits=SHARE)


def panels(table: Table, summary: dict) -> list[Panel]:
    """Final against initial overlap, where queries end, and the critical overlap by load with theory, by memory."""
    memories = list(dict.fromkeys(table["memory"]))
    shown = []
    for memory in memories:
        rows = table[table["memory"] == memory]
        few = _rows_of_few_loads(rows)
        own = [entry for entry in summary["critical_overlap"] if entry["memory"] == memory]
        title = _title(memory, rows, few)
        drawn = [_final(few, title), _ends(few, title), _critical(rows, own, labels.memory(memory))]
        shown += drawn if 3 * len(memories) <= MOST else drawn[1:]
    return shown


def _title(memory: str, rows: Table, shown: Table) -> str:
    beta = rows["beta"].iloc[0]
    heat = rf", $\beta={beta:g}$" if np.isfinite(beta) else ""
    return f"{labels.memory(memory)}, $N={shown['neurons'].iloc[0]}${heat}, {shown['dynamics'].iloc[0]}"


def _words_of_end(rows: Table) -> str:
    """Words for an end of dynamics before rest, such as after one update. Empty for dynamics at rest."""
    end = convergence.end_of_curve(rows)
    return "" if end == convergence.REST else f" {convergence.WORDS[end]}"


def _rows_of_few_loads(rows: Table) -> Table:
    """A few loads of the largest size under the first dynamics."""
    rows = rows[(rows["neurons"] == rows["neurons"].max()) & (rows["dynamics"] == rows["dynamics"].iloc[0])]
    counts = np.unique(rows["patterns"])
    chosen = counts[np.unique(np.linspace(0, len(counts) - 1, SHOWN).round().astype(int))]
    return rows[rows["patterns"].isin(chosen)].sort_values("load", kind="stable")


def _load(memory: str) -> str:
    return r"\alpha = " + find(memory).scaling.symbol.replace("ln M", r"\ln M").replace(" ", r"\,")


def _final(rows: Table, title: str) -> Panel:
    """Mean final overlap against the initial one."""
    means = means_by_group(rows, ["load", "start_overlap"], "overlap", "sample", "queries")
    found = curves(means, "start_overlap", "mean", by="load", label=r"$\alpha={:.3g}$")
    found.append(Series([0, 1], [0, 1], color="0.8", linestyle="-", linewidth=0.8, zorder=0))
    y = Axis(f"final overlap{_words_of_end(rows)} (mean)", limits=(-0.1, 1.05))
    return Panel(title, START, y, found, legend=rf"${_load(rows['memory'].iloc[0])}$")


def _ends(rows: Table, title: str) -> Panel:
    """Share of queries that end near their own pattern (filled) and near any pattern (open)."""
    looks, found, overlaps = series([str(load) for load in rows["load"].unique()]), [], np.linspace(0, 1, 101)
    hollow = {name: look | {"linestyle": ":", "markerfacecolor": "w", "zorder": 2} for name, look in looks.items()}
    filled = {name: look | {"linestyle": "-", "zorder": 3} for name, look in looks.items()}
    for name, own, label in (("some", hollow, lambda load: ""), ("right", filled, r"$\alpha={:.3g}$")):
        ends = by_group(rows, ["load", "start_overlap"], name, "queries", "sample")
        found += shares(ends, "start_overlap", by="load", looks=own, label=label)
    known = [(load, theory.nearest_share(curve, overlaps)) for load, curve in rows.groupby("load")]
    lines = [theory_line(overlaps, line, color=looks[str(load)]["color"]) for load, line in known if line is not None]
    found += [*lines, *([entry("theory: nearest pattern", **THEORY)] if lines else []), guide(0.5)]
    for face, line, label in (("0.2", "-", "its own pattern"), ("w", ":", "any pattern")):
        found.append(entry(label, color="0.2", marker="o", markerfacecolor=face, linestyle=line))
    y = Axis(f"share that ends near (overlap > {rows['near'].iloc[0]:g}){_words_of_end(rows)}", limits=SHARE)
    return Panel(f"ends, {title}", START, y, found, legend=rf"${_load(rows['memory'].iloc[0])}$")


def _critical(rows: Table, critical: list[dict], name: str) -> Panel:
    """Initial overlap from which half of the queries end at their own pattern, against load, with theory."""
    frame: Table = pandas.DataFrame(critical).astype({"overlap": float, "stderr": float})
    frame = frame[frame["method"] != "none"].rename(columns={"stderr": "overlap_stderr"})
    several, loads = rows["dynamics"].nunique() > 1, np.linspace(0, rows["load"].max() * 1.06, 121)[1:]
    sizes = sorted(set(rows["neurons"].tolist()))
    looks = series([f"{dynamics} {size}" for dynamics in dict.fromkeys(rows["dynamics"]) for size in sizes])
    found, styles = [], iter(LINES)
    for dynamics in dict.fromkeys(rows["dynamics"]):
        for size in sizes:
            part = frame[(frame["dynamics"] == dynamics) & (frame["neurons"] == size)]
            look: dict[str, Any] = looks[f"{dynamics} {size}"] | {"linestyle": ""}
            look["label"] = f"$N={size}$, {dynamics}" if several else f"$N={size}$"
            found += [Series(part["load"], part["overlap"], part["overlap_stderr"], **look)] if len(part) else []
        own = rows[(rows["dynamics"] == dynamics) & (rows["neurons"] == sizes[-1])]
        for known in theory.lines(own, loads) if len(own) else []:
            found.append(theory_line(known.loads, known.overlaps, known.label, linestyle=next(styles)))
    x = Axis(rf"load ${_load(rows['memory'].iloc[0])}$", limits=(0, loads[-1]))
    y = Axis("critical initial overlap $m_c$", limits=(-0.03, 1.05))
    return Panel(f"{name}: start from which half end right", x, y, found)
