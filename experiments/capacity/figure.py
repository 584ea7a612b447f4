"""Figure of a capacity table: success against load, critical numbers of patterns, checks against theory."""

import itertools
from typing import Any

from experiments.capacity import laws, lines, parameters, starts
from experiments.capacity.lines import CURVE, bimodal, ends_of, headline_of
from experiments.capacity.panels import (
    STARTS,
    critical_patterns,
    extrapolation,
    limit_label,
    load_label,
    one_step_error,
    passing,
    retained_overlap,
    settings,
)
from experiments.capacity.summary import critical_of
from experiments.contract import Summary, Table, records
from experiments.figures import labels
from experiments.figures.panel import SHARE, Axis, Panel, Series, entry, guide, shares, theory_line, upright
from experiments.figures.style import LINES, THEORY, series
from experiments.shared import convergence, corruptions
from experiments.shared.corruptions import CLEAN

CRITERION = {
    "retained": "share retained (overlap > 0.8)",
    "target_weight": "share with weight > ½",
    "converged_weight": "share that converges to weight > ½",
    "fixed_point": "share of patterns that are fixed points",
    "exact": "share recovered exactly",
}
MOST = 8
"""Panels at most."""
HALF = {"marker": "o", "markersize": 9, "markerfacecolor": "none", "zorder": 4}
"""Look of the load at which half of the queries pass in theory."""


def panels(table: Table, summary: Summary) -> list[Panel]:
    """Success against load for every memory, critical number of patterns against neurons, theory on top."""
    symbols = summary.more["symbols"]
    critical = critical_of(summary)
    critical = critical[critical["criterion"] == critical["memory"].map(symbols).map(headline_of)]
    shown = starts.by_start(critical) if critical["corruption"].nunique() > 1 else []
    if lines.are_compared(table, symbols):
        swept = parameters.panels(table, summary, critical)
        return [*shown, *(swept or _side_by_side(table, summary))][:MOST]
    shown += [_success(table[table["memory"] == memory], summary, memory) for memory in symbols]
    if len(symbols) == 1 and laws.are_asked(table, summary):
        return [*shown, *laws.panels(summary)]
    if len(counts := summary.of(lines.PATTERNS)) and counts["neurons"].nunique() > 1:
        shown.append(critical_patterns(summary, table))
    if len(lines.one_step_rows(table)):
        shown.append(one_step_error(table, summary))
    for memory in symbols:
        if len(line := summary.line(lines.OVERLAP, memory=memory)):
            shown.append(retained_overlap(table[table["memory"] == memory], line.iloc[0], summary))
    fits = [fit for fit in summary.more["extrapolation"] if fit["dof"] > 0]  # a line through two sizes says nothing
    if len(symbols) == 1 and any(fit["criterion"] == headline_of(*symbols.values()) for fit in fits):
        shown.append(extrapolation(summary, table))
    return shown


def _side_by_side(table: Table, summary: Summary) -> list[Panel]:
    shown, real = [], lines.is_real(table)
    for ensemble, start in dict.fromkeys(zip(table["ensemble"], table["corruption"], strict=True)):
        rows = table[(table["ensemble"] == ensemble) & (table["corruption"] == start)]
        for criterion in ("exact",) if real else ("fixed_point", "retained"):
            if criterion != "fixed_point" or start == table["corruption"].iloc[0]:
                shown.append(_comparison(rows, summary, criterion, real))
    return shown


def _variants(rows: Table) -> dict[tuple, str]:
    """Label of every (dynamics, corruption) among a memory's curves, with only the words in which the curves differ."""
    found = {}
    for dynamics, start in dict.fromkeys(zip(rows["dynamics"], rows["corruption"], strict=True)):
        parts = [str(dynamics)] if rows["dynamics"].nunique() > 1 else []
        parts += [corruptions.label(start)] if rows["corruption"].nunique() > 1 else []
        found[dynamics, start] = ", ".join(parts)
    return found


def _success(rows: Table, summary: Summary, memory: str) -> Panel:
    """Share of queries that pass against load, one curve per size, with theory as vertical lines."""
    symbol = summary.more["symbols"][memory]
    criterion = headline_of(symbol)
    looks, variants = series([str(size) for size in rows["neurons"]]), _variants(rows)
    faces = dict(zip(variants, itertools.cycle((None, "white", "0.7", "none")), strict=False))
    styles = dict(zip(variants, itertools.cycle(LINES), strict=False))
    known, found = False, []
    for key, curve in rows.groupby(CURVE, sort=False):
        look = looks[str(key[3])] | {"linestyle": styles[key[1:3]], "markerfacecolor": faces[key[1:3]]}
        for line in records(summary.line(lines.SUCCESS, **dict(zip(CURVE, key, strict=True)))):
            found.append(theory_line(line["x"], line["y"], color=look["color"]))
            look["linestyle"], known = "", True
        label = f"$N={key[3]}$" if key[1:3] == next(iter(variants)) else ""
        found += _shares(curve, criterion, "load", label, look)
        found += _half(summary, curve, criterion, look["color"])
    for variant, words in variants.items():
        if words:
            look = {"linestyle": "" if known else styles[variant], "markerfacecolor": faces[variant] or "0.3"}
            found.append(entry(words, marker="o", color="0.3", **look))
    found += [entry("exact at that $N$", **THEORY)] if known else []
    limits = {line["x"][0]: line for line in records(summary.line(lines.LIMIT, memory=memory, corruption=CLEAN))}
    for limit, line in limits.items() if (rows["corruption"] == CLEAN).any() else ():
        found.append(upright(limit, limit_label(line, limit), linestyle=":"))
    found += _converged_weight(rows, summary, criterion)
    halves = any(part.markersize == HALF["markersize"] for part in found)
    if halves:
        kinds = summary.line(lines.HALF, memory=memory).get("kind", ())
        found.append(entry(labels.theory(kinds, "half at that $N$"), color="0.25", **HALF))
    found.append(guide(0.5))
    share = Axis(_words(criterion, rows), limits=SHARE)
    without = "" if known or halves or limits else "; no theory known"
    x = Axis(load_label(symbol), limits=(None, _end(rows, criterion)))
    return Panel(labels.memory(memory), x, share, found, legend=settings(rows, summary) + without)


def _half(summary: Summary, curve: Table, criterion: str, color: Any) -> list[Series]:
    """Mark at the load at which theory lets half of the queries of one curve pass, at its number of neurons."""
    about = {name: curve[name].iloc[0] for name in CURVE} | {"criterion": criterion}
    return [Series(line["x"], line["y"], color=color, **HALF) for line in records(summary.line(lines.HALF, **about))]


def _end(rows: Table, criterion: str) -> float | None:
    """End of an axis of loads where most of it would show that nothing passes. None elsewhere."""
    passed = rows.groupby(["neurons", "load"])[criterion].sum()
    last = passed[passed > 0].reset_index()["load"].max()
    return 1.2 * float(last) if rows["load"].max() > 2 * last > 0 else None


def _shares(rows: Table, criterion: str, x: str, label: str, look: dict) -> list[Series]:
    """Share of queries of one curve that pass."""
    found = shares(passing(rows, criterion, [x]), x, looks={"": look})
    for part in found:
        part.label = label
    return found


def _converged_weight(rows: Table, summary: Summary, criterion: str) -> list[Series]:
    """The share that still has the weight once the dynamics have ended, at the largest size from its first start."""
    if criterion != "target_weight" or not rows["converged_weight"].notna().any():
        return []
    size = rows["neurons"].max()
    curve = rows[(rows["neurons"] == size) & (rows["corruption"] == rows["corruption"].iloc[0])]
    look = {"color": "0.25", "marker": "x", "linestyle": LINES[2]}
    label = f"$N={size}$, {convergence.WORDS[convergence.end_of_curve(curve)]}"
    shown = _shares(curve, "converged_weight", "load", label, look)
    return shown + _half(summary, curve, "converged_weight", look["color"])


def _words(criterion: str, rows: Table) -> str:
    """Words for the counted queries, preceded by the final state if dynamics do not come to rest."""
    ends = [convergence.WORDS[end] for end in ends_of(rows) if end != convergence.REST]
    return (f"{', '.join(ends)}: " if ends and criterion not in STARTS else "") + CRITERION[criterion]


def _comparison(table: Table, summary: Summary, criterion: str, real: bool) -> Panel:
    """All memories at the same task, against load or, for real patterns, against their number."""
    x = "patterns" if real else "load"
    groups = list(table.groupby(["memory", "dynamics", "neurons"], sort=False))
    looks, found = series([str(key) for key, _ in groups]), []
    alike = len({settings(rows, summary) for _, rows in groups}) == 1
    for number, (key, rows) in enumerate(groups):
        label = labels.memory(key[0]) + (f", $N={key[2]}$" if table["neurons"].nunique() > 1 else "")
        label += "" if alike else f"; {settings(rows, summary)}"
        smaller = {"markersize": 6.0 - 3.0 * number / len(groups)}  # a smaller one on a larger one is seen
        found += _shares(rows, criterion, x, label, looks[str(key)] | smaller)
    symbol, gardner = summary.more["symbols"][table["memory"].iloc[0]], summary.line(lines.GARDNER)["x"].iloc[0][0]
    if not real and bimodal(symbol) and table["load"].max() > 0.5 * gardner:
        found.append(upright(gardner, f"Gardner's bound for any rule: {gardner:g}"))
    start = corruptions.label(table["corruption"].iloc[0]) if criterion != "fixed_point" else "clean pattern, one step"
    title = f"{labels.patterns(table['ensemble'].iloc[0])}, {start}" if real else start
    axis = Axis("stored patterns $M$", "log") if real else Axis(load_label(symbol))
    share = Axis(_words(criterion, table), limits=SHARE)
    return Panel(title, axis, share, found, legend=settings(table, summary) if alike else "")
