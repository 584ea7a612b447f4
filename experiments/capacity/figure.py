"""Figure of a capacity table: success against load, critical numbers of patterns, checks against theory."""

import itertools
from functools import partial

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.capacity import theory
from experiments.capacity.panels import (
    STARTS,
    betas_of,
    bimodal,
    critical_patterns,
    ends_of,
    extrapolation,
    headline_of,
    limit_label,
    load_label,
    one_step_error,
    passing,
    retained_overlap,
    symbol_of,
)
from experiments.contract import Table
from experiments.figures import labels
from experiments.figures.panels import Panel, gallery, legend, shares, theory_style
from experiments.figures.style import LINES, series
from experiments.shared import convergence, corruptions, pattern_sets
from experiments.shared.corruptions import CLEAN
from hopfield.theory import bounds

CURVE = ["memory", "dynamics", "corruption", "neurons"]
CRITERION = {
    "retained": "share retained (final overlap > 0.8)",
    "target_weight": "share with weight on the pattern > ½",
    "converged_weight": "share that converges to weight > ½",
    "fixed_point": "share of patterns that are fixed points",
    "exact": "share recovered exactly",
}


def plot(table: Table, summary: dict) -> Figure:
    """Success against load for every memory, critical number of patterns against neurons, theory on top.

    Panels for whatever the table holds, three in a row.
    """
    figure = gallery(_panels(table, summary))
    if not any(ax.get_legend() for ax in figure.axes):  # panels of one comparison share theirs
        handles, names = figure.axes[0].get_legend_handles_labels()
        figure.legend(handles, names, loc="outside lower center", ncols=min(4, len(names)))
    return figure


def _panels(table: Table, summary: dict) -> list[Panel]:
    memories = list(dict.fromkeys(table["memory"]))
    real = not set(table["ensemble"]) <= set(pattern_sets.DRAWN) or table["ensemble"].nunique() > 1
    if real or (len(memories) > 1 and len({symbol_of(memory) for memory in memories}) == 1):
        return _side_by_side(table, real)
    panels: list[Panel] = [partial(_success, table=table, summary=summary, memory=memory) for memory in memories]
    critical = [entry for entry in summary["critical_load"] if entry["criterion"] == headline_of(entry["memory"])]
    if len({entry["neurons"] for entry in critical}) > 1:
        panels.append(partial(critical_patterns, critical=critical, table=table))
    if not (wrong := table.dropna(subset="one_step_error")).empty:
        panels.append(partial(one_step_error, table=wrong))
    clean = (table["corruption"] == CLEAN).any()
    for memory in memories if clean and (len(memories) == 1 or not any(map(bimodal, memories))) else []:
        rows = table[table["memory"] == memory]
        if theory.retained_overlap(memory, 0.01) is not None and convergence.end_of_curve(rows) == convergence.REST:
            panels.append(partial(retained_overlap, table=rows))
    if len(memories) == 1 and any(fit["criterion"] == headline_of(memories[0]) for fit in summary["extrapolation"]):
        panels.append(partial(extrapolation, summary=summary, table=table))
    return panels


def _side_by_side(table: Table, real: bool) -> list[Panel]:
    panels: list[Panel] = []
    for ensemble, start in dict.fromkeys(zip(table["ensemble"], table["corruption"], strict=True)):
        rows = table[(table["ensemble"] == ensemble) & (table["corruption"] == start)]
        for criterion in ("exact",) if real else ("fixed_point", "retained"):
            if criterion != "fixed_point" or start == table["corruption"].iloc[0]:
                panels.append(partial(_comparison, table=rows, criterion=criterion, real=real))
    return panels


def _variants(rows: Table) -> dict[tuple, str]:
    """Label of every (dynamics, corruption) among a memory's curves, with only the words in which the curves differ."""
    found = {}
    for dynamics, start in dict.fromkeys(zip(rows["dynamics"], rows["corruption"], strict=True)):
        parts = [str(dynamics)] if rows["dynamics"].nunique() > 1 else []
        parts += [corruptions.label(start)] if rows["corruption"].nunique() > 1 else []
        found[dynamics, start] = ", ".join(parts)
    return found


def _success(ax: Axes, table: Table, summary: dict, memory: str) -> None:
    """Share of queries that pass against load, one curve per size, with theory as vertical lines."""
    rows = table[table["memory"] == memory]
    criterion, beta = headline_of(memory), betas_of(rows)[memory]
    looks, variants = series([str(size) for size in rows["neurons"]]), _variants(rows)
    faces = dict(zip(variants, itertools.cycle((None, "white", "0.7", "none")), strict=False))
    for key, curve in rows.groupby(CURVE, sort=False):
        face = faces.get(key[1:3])
        look = looks[str(key[3])] | {"linestyle": LINES[list(variants).index(key[1:3]) % len(LINES)]}
        look |= {} if face is None else {"markerfacecolor": face}
        counts, loads = (np.sort(curve[name].unique()) for name in ("patterns", "load"))
        exact = theory.success(memory, criterion, key[3], counts, corruptions.flipped_fraction(key[2]), beta)
        if exact is not None:
            ax.plot(loads, exact, **theory_style(color=look["color"]))
            look["linestyle"] = "none"
        label = f"$N={key[3]}$" if key[1:3] == next(iter(variants)) else None
        shares(ax, passing(curve, criterion, ["load"]), "load", label=label, **look)
    known = theory.success(memory, criterion, 10, np.array([10]), 0, beta) is not None
    for words, face, line in zip(variants.values(), faces.values(), itertools.cycle(LINES), strict=False):
        if words:
            look = {"linestyle": "none" if known else line, "markerfacecolor": face or "0.3"}
            ax.plot([], [], marker="o", color="0.3", label=words, **look)
    if known:
        ax.plot([], [], **theory_style(label="exact at that $N$"))
    limits = {theory.critical_load(memory, criterion, None, 0, beta, end=end): end for end in ends_of(rows)}
    for limit, end in limits.items():
        if limit is not None and (rows["corruption"] == CLEAN).any():
            ax.axvline(limit, **theory_style(linestyle=":", label=limit_label(memory, criterion, limit, end)))
    _plot_converged_weight(ax, rows, criterion)
    ax.axhline(0.5, color="0.8", linewidth=0.8, zorder=0)
    ax.set(xlabel=load_label(memory), ylabel=_words(criterion, rows), ylim=(-0.03, 1.03))
    ax.set_title(labels.memory(memory), loc="left")
    legend(ax)


def _plot_converged_weight(ax: Axes, rows: Table, criterion: str) -> None:
    """The share that still has the weight once the dynamics have ended, at the largest size from its first start."""
    if criterion != "target_weight" or not rows["converged_weight"].notna().any():
        return
    size = rows["neurons"].max()
    curve = rows[(rows["neurons"] == size) & (rows["corruption"] == rows["corruption"].iloc[0])]
    look = {"color": "0.25", "marker": "x", "linestyle": LINES[2]}
    label = f"$N={size}$, {convergence.WORDS[convergence.end_of_curve(curve)]}"
    shares(ax, passing(curve, "converged_weight", ["load"]), "load", label=label, **look)


def _words(criterion: str, rows: Table) -> str:
    """Words for the counted queries, preceded by the final state if dynamics do not come to rest."""
    ends = [convergence.WORDS[end] for end in ends_of(rows) if end != convergence.REST]
    return (f"{', '.join(ends)}:\n" if ends and criterion not in STARTS else "") + CRITERION[criterion]


def _comparison(ax: Axes, table: Table, criterion: str, real: bool) -> None:
    """All memories at the same task, against load or, for real patterns, against their number."""
    x = "patterns" if real else "load"
    curves = list(table.groupby(["memory", "dynamics", "neurons"], sort=False))
    looks = series([str(key) for key, _ in curves])
    several = table.groupby("memory")["dynamics"].nunique().max() > 1
    for number, (key, rows) in enumerate(curves):
        label = labels.memory(key[0]) + (f", {key[1]}" if several else "")
        label += f", $N={key[2]}$" if table["neurons"].nunique() > 1 else ""
        look = looks[str(key)] | {
            "markersize": 6.0 - 3.0 * number / len(curves)
        }  # a smaller one on a larger one is seen
        shares(ax, passing(rows, criterion, [x]), x, label=label, **look)
    if real:
        ax.set(xscale="log", xlabel="stored patterns $M$")
    else:
        gardner = float(bounds.gardner())
        ax.set_xlabel(load_label(table["memory"].iloc[0]))
        if symbol_of(table["memory"].iloc[0]) == "M / N" and table["load"].max() > 0.5 * gardner:
            ax.axvline(gardner, **theory_style(label=f"Gardner's bound for any rule: {gardner:g}"))
    ax.set(ylabel=_words(criterion, table), ylim=(-0.03, 1.03))
    start = corruptions.label(table["corruption"].iloc[0]) if criterion != "fixed_point" else "clean pattern, one step"
    ax.set_title(f"{labels.patterns(table['ensemble'].iloc[0])}, {start}" if real else start, loc="left")
