"""Results of basins: critical initial overlaps, beside theory at rest or after one update, and none after one sweep."""

from typing import Any

import numpy as np
import pandas

from experiments.contract import Row, Summary, Table
from experiments.figures import labels, panel
from experiments.figures.panel import SHARE, Axis, Panel, Series, guide, theory_line
from experiments.figures.style import LINES, THEORY, series
from experiments.figures.words import plain_text
from experiments.shared import convergence
from experiments.shared.memories import find
from experiments.statistics.clusters import by_group, curves, means_by_group
from experiments.statistics.estimates import tidy
from experiments.statistics.thresholds import critical_load
from hopfield.theory.base import Float, Line

ONE_STEP = r"one step, $N\to\infty$"
"""Label of the start from which one update leaves an overlap of `near`."""


def lines(rows: Table, loads: Float) -> list[Line]:
    """Lines of critical initial overlaps of one memory, size and dynamics. The first is the one to compare with.

    Args:
        rows: the rows that they are drawn beside.
        loads: where.
    """
    first, end = rows.iloc[0], convergence.end_of_curve(rows)
    beta = float(first["beta"]) if np.isfinite(first["beta"]) else None
    if end == convergence.REST:
        return find(first["memory"]).theory.basins(first["dynamics"], int(first["neurons"]), beta, loads)
    if end != convergence.STEP:
        return []
    return _single(str(first["memory"]), beta, float(first["near"]), loads)


def nearest_share(rows: Table, overlaps: Float) -> Float | None:
    """Share of queries at these overlaps that end right if the nearest pattern wins, at one load. None before rest."""
    if convergence.end_of_curve(rows) != convergence.REST:
        return None
    first = rows.iloc[0]
    return find(first["memory"]).theory.nearest_share(int(first["neurons"]), int(first["patterns"]), overlaps)


def _single(memory: str, beta: float | None, near: float, loads: Float) -> list[Line]:
    """Line of initial overlaps at which one step leaves (1 − near)/2 of the spins wrong. Empty without a theory."""
    theory, starts = find(memory).theory, np.linspace(0.0, 1.0, 401)[1:]
    known = {"error": (1 - near) / 2, "beta": beta}
    found = [theory.critical_load("one_step_error", corruption=(1 - start) / 2, **known) for start in starts]
    if found[-1] is None:
        return []
    reached = np.maximum.accumulate([0.0 if load is None else load for load in found])
    return [Line(ONE_STEP, loads, np.interp(loads, np.append(0.0, reached), np.append(0.0, starts), right=np.nan))]


CURVE = ["memory", "dynamics", "neurons", "patterns"]
"""Columns that tell one curve against the initial overlap from another."""


def summarise(table: Table) -> Summary:
    """Critical initial overlaps, and for every curve the shares of queries by their final state.

    `cycles` and `step_limit` are the shares that end in a 2-cycle or are cut, whatever state they end in.
    """
    critical, ends = [], []
    for curve, rows in curves(table, CURVE):
        curve |= {"load": float(rows["load"].iloc[0])}
        threshold = critical_load(rows["start_overlap"], rows["right"], rows["queries"], rows["sample"])
        fit = {"fit_width": abs(threshold.width), "chi2": threshold.chi2, "dof": threshold.dof, "fit": threshold.method}
        found = {"value": threshold.value, "stderr": threshold.stderr, "samples": rows["sample"].nunique()}
        critical.append({"quantity": CRITICAL, **curve, **found, **fit})
        total = rows["queries"].sum()
        counts = {"right": rows["right"], "other": rows["some"] - rows["right"]}
        counts |= {"nowhere": rows["queries"] - rows["some"] - rows["reversed"]}
        counts |= {name: rows[name] for name in ("reversed", "cycles", "step_limit")}
        ends.append(curve | {name: count.sum() / total for name, count in counts.items()})
    _add_theory(critical, table)
    largest = {memory: rows["neurons"].max() for memory, rows in table.groupby("memory")}
    for entry in critical:
        entry["headline"] = entry["neurons"] == largest[entry["memory"]] and entry["fit"] != "none"
    names = {name: f"share of queries, {name.replace('_', ' ')}" for name in ends[0] if name not in critical[0]}
    notes = convergence.notes(table, ["memory", "dynamics"], "right")
    estimates = [*critical, *tidy(pandas.DataFrame(ends), [*CURVE, "load"], names)]
    symbols = {memory: find(memory).scaling.symbol for memory in table["memory"].unique()}
    return Summary(estimates, _lines(table), notes, {"symbols": symbols})


CRITICAL, NEAREST = "critical overlap", "share that ends right"


def _lines(table: Table) -> list[Row]:
    """Theory of critical overlaps by load at the largest sizes, and of the shares that end right by overlap."""
    found: list[Row] = []
    for memory, rows in table.groupby("memory", sort=False):
        loads = np.linspace(0, rows["load"].max() * 1.06, 121)[1:]
        for dynamics in dict.fromkeys(rows["dynamics"]):
            own = rows[(rows["dynamics"] == dynamics) & (rows["neurons"] == rows["neurons"].max())]
            about = {"quantity": CRITICAL, "memory": memory, "dynamics": dynamics}
            for known in lines(own, loads) if len(own) else []:
                found.append({**about, "label": known.label, "x": known.loads.tolist(), "y": known.overlaps.tolist()})
        overlaps = np.linspace(0, 1, 101)
        for load, curve in _rows_of_few_loads(rows).groupby("load"):
            if (line := nearest_share(curve, overlaps)) is not None:
                about = {"quantity": NEAREST, "memory": memory, "load": load, "kind": "nearest pattern"}
                found.append({**about, "x": overlaps.tolist(), "y": np.asarray(line).tolist()})
    return found


def _add_theory(critical: list[Row], table: Table) -> None:
    """Set `theory` and its `kind` of every critical overlap. `theory` is NaN at loads without a theory."""
    for family, rows in curves(table, CURVE[:3]):
        entries = [entry for entry in critical if family.items() <= entry.items()]
        loads = np.array([entry["load"] for entry in entries])
        found = lines(rows, loads)
        for i, entry in enumerate(entries):
            entry["theory"] = float(found[0].overlaps[i]) if found else float("nan")
            entry["kind"] = plain_text(found[0].label) if found else None


SHOWN, MOST = 4, 8
"""Loads shown of those that were measured, and panels at most: final overlaps are left out first."""
START = Axis("initial overlap $m_0$", limits=SHARE)


def panels(table: Table, summary: Summary) -> list[Panel]:
    """Final against initial overlap, where queries end, and the critical overlap by load with theory, by memory."""
    memories = list(dict.fromkeys(table["memory"]))
    shown = []
    for memory in memories:
        rows = table[table["memory"] == memory]
        few = _rows_of_few_loads(rows)
        own, known = summary.of(CRITICAL, memory=memory), summary.line(CRITICAL, memory=memory)
        axis = _load(summary.more["symbols"][memory])
        title = _title(memory, rows, few)
        drawn = [
            _final(few, title, axis),
            _ends(few, title, axis, summary.line(NEAREST, memory=memory)),
            _critical(rows, own, known, labels.memory(memory), axis),
        ]
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


def _load(symbol: str) -> str:
    return r"\alpha = " + symbol.replace("ln M", r"\ln M").replace(" ", r"\,")


def _final(rows: Table, title: str, axis: str) -> Panel:
    """Mean final overlap against the initial one."""
    means = means_by_group(rows, ["load", "start_overlap"], "overlap", "sample", "queries")
    found = panel.curves(means, "start_overlap", "mean", by="load", label=r"$\alpha={:.3g}$")
    found.append(Series([0, 1], [0, 1], color="0.8", linestyle="-", linewidth=0.8, zorder=0))
    y = Axis(f"final overlap{_words_of_end(rows)} (mean)", limits=(-0.1, 1.05))
    return Panel(title, START, y, found, legend=rf"${axis}$")


def _ends(rows: Table, title: str, axis: str, theory: Table) -> Panel:
    """Share of queries that end near their own pattern (filled) and near any pattern (open)."""
    looks, found = series([str(load) for load in rows["load"].unique()]), []
    hollow = {name: look | {"linestyle": ":", "markerfacecolor": "w", "zorder": 2} for name, look in looks.items()}
    filled = {name: look | {"linestyle": "-", "zorder": 3} for name, look in looks.items()}
    for name, own, label in (("some", hollow, lambda load: ""), ("right", filled, r"$\alpha={:.3g}$")):
        ends = by_group(rows, ["load", "start_overlap"], name, "queries", "sample")
        found += panel.shares(ends, "start_overlap", by="load", looks=own, label=label)
    known = theory[["load", "x", "y"]].itertuples(index=False) if len(theory) else ()
    lines = [theory_line(x, y, color=looks[str(load)]["color"]) for load, x, y in known]
    found += [*lines, *([panel.entry("theory: nearest pattern", **THEORY)] if lines else []), guide(0.5)]
    for face, line, label in (("0.2", "-", "its own pattern"), ("w", ":", "any pattern")):
        found.append(panel.entry(label, color="0.2", marker="o", markerfacecolor=face, linestyle=line))
    y = Axis(f"share near (overlap > {rows['near'].iloc[0]:g}){_words_of_end(rows)}", limits=SHARE)
    return Panel(f"ends, {title}", START, y, found, legend=rf"${axis}$")


def _critical(rows: Table, frame: Table, lines: Table, name: str, axis: str) -> Panel:
    """Initial overlap from which half of the queries end at their own pattern, against load, with theory."""
    frame = frame[frame["fit"] != "none"]
    several, last = rows["dynamics"].nunique() > 1, rows["load"].max() * 1.06
    sizes = sorted(set(rows["neurons"].tolist()))
    looks = series([f"{dynamics} {size}" for dynamics in dict.fromkeys(rows["dynamics"]) for size in sizes])
    found, styles = [], iter(LINES)
    for dynamics in dict.fromkeys(rows["dynamics"]):
        for size in sizes:
            part = frame[(frame["dynamics"] == dynamics) & (frame["neurons"] == size)]
            look: dict[str, Any] = looks[f"{dynamics} {size}"] | {"linestyle": ""}
            look["label"] = f"$N={size}$, {dynamics}" if several else f"$N={size}$"
            found += (
                [Series(part["load"], part["value"], part.get("stderr"), samples=part["samples"], **look)]
                if len(part)
                else []
            )
        own = lines[lines["dynamics"] == dynamics] if len(lines) else lines
        for label, x, y in own[["label", "x", "y"]].itertuples(index=False) if len(own) else ():
            found.append(theory_line(x, y, label, linestyle=next(styles)))
    x = Axis(rf"load ${axis}$", limits=(0, last))
    y = Axis("critical initial overlap $m_c$", limits=(-0.03, 1.05))
    return Panel(f"{name}: critical start", x, y, found)
