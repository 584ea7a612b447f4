"""Results of basins: critical initial overlaps, beside theory at rest or after one update, and none after one sweep."""

from typing import Any

import numpy as np
import pandas

from experiments.contract import Table
from experiments.figures import labels, panel
from experiments.figures.panel import SHARE, Axis, Panel, Series, guide, theory_line
from experiments.figures.style import LINES, THEORY, series
from experiments.shared import convergence
from experiments.shared.memories import find
from experiments.statistics.clusters import by_group, curves, means_by_group
from experiments.statistics.columns import distinct_name, headline
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


def summarise(table: Table) -> dict:
    """Critical initial overlaps, and for every curve the shares of queries by their final state.

    `cycles` and `step_limit` are the shares that end in a 2-cycle or are cut, whatever state they end in.
    """
    critical, ends = [], []
    for curve, rows in curves(table, CURVE):
        curve |= {"load": float(rows["load"].iloc[0])}
        threshold = critical_load(rows["start_overlap"], rows["right"], rows["queries"], rows["sample"])
        fit = {"width": abs(threshold.width), "chi2": threshold.chi2, "dof": threshold.dof, "method": threshold.method}
        critical.append(curve | {"overlap": threshold.value, "stderr": threshold.stderr} | fit)
        total = rows["queries"].sum()
        counts = {"right": rows["right"], "other": rows["some"] - rows["right"]}
        counts |= {"nowhere": rows["queries"] - rows["some"] - rows["reversed"]}
        counts |= {name: rows[name] for name in ("reversed", "cycles", "step_limit")}
        ends.append(curve | {name: count.sum() / total for name, count in counts.items()})
    _add_theory(critical, table)
    notes = convergence.notes(table, ["memory", "dynamics"], "right")
    return {"critical_overlap": critical, "ends": ends, "notes": notes, "scalars": _scalars(critical)}


def _add_theory(critical: list[dict], table: Table) -> None:
    """Set `theory` and `theory_name` of every critical overlap. `theory` is NaN at loads without a theory."""
    for family, rows in curves(table, CURVE[:3]):
        entries = [entry for entry in critical if family.items() <= entry.items()]
        loads = np.array([entry["load"] for entry in entries])
        found = lines(rows, loads)
        for i, entry in enumerate(entries):
            entry["theory"] = float(found[0].overlaps[i]) if found else float("nan")
            entry["theory_name"] = " ".join(found[0].label.split()) if found else None


def _scalars(critical: list[dict]) -> dict[str, float]:
    """Critical overlaps of the largest size of every memory."""
    largest = {}
    for entry in critical:
        largest[entry["memory"]] = max(entry["neurons"], largest.get(entry["memory"], 0))
    scalars = {}
    for entry in critical:
        if entry["neurons"] == largest[entry["memory"]] and entry["method"] != "none":
            name = f"critical_overlap/{entry['memory']}/{entry['dynamics']}/load={{}}"
            name = distinct_name(scalars, name, entry["load"], 3)
            scalars |= headline(name, entry["overlap"], entry["stderr"], theory=entry["theory"])
    return scalars


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
    found = panel.curves(means, "start_overlap", "mean", by="load", label=r"$\alpha={:.3g}$")
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
        found += panel.shares(ends, "start_overlap", by="load", looks=own, label=label)
    known = [(load, nearest_share(curve, overlaps)) for load, curve in rows.groupby("load")]
    lines = [theory_line(overlaps, line, color=looks[str(load)]["color"]) for load, line in known if line is not None]
    found += [*lines, *([panel.entry("theory: nearest pattern", **THEORY)] if lines else []), guide(0.5)]
    for face, line, label in (("0.2", "-", "its own pattern"), ("w", ":", "any pattern")):
        found.append(panel.entry(label, color="0.2", marker="o", markerfacecolor=face, linestyle=line))
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
        for known in lines(own, loads) if len(own) else []:
            found.append(theory_line(known.loads, known.overlaps, known.label, linestyle=next(styles)))
    x = Axis(rf"load ${_load(rows['memory'].iloc[0])}$", limits=(0, loads[-1]))
    y = Axis("critical initial overlap $m_c$", limits=(-0.03, 1.05))
    return Panel(f"{name}: start from which half end right", x, y, found)
