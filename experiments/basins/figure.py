"""Figure of basins of attraction: a column of panels for each memory."""

from typing import Any

import numpy as np
import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.basins import theory
from experiments.contract import Table
from experiments.figures import labels
from experiments.figures.panels import ERROR, LETTERS, legend
from experiments.figures.style import LINES, THEORY, series
from experiments.shared import convergence
from experiments.shared.memories import find
from experiments.statistics.clusters import by_group, means_by_group

SHOWN = 4
"""Loads shown of those that were measured."""


def plot(table: Table, summary: dict) -> Figure:
    """Final against initial overlap, where queries end, and the critical overlap by load with theory, by memory."""
    memories = list(dict.fromkeys(table["memory"]))
    figure = Figure(figsize=(3.4 * len(memories) + 0.3, 12.0), layout="constrained")
    axes = figure.subplots(3, len(memories), squeeze=False)
    for column, memory in zip(axes.T, memories, strict=True):
        rows = table[table["memory"] == memory]
        shown = _rows_of_few_loads(rows)
        _final(column[0], shown)
        _ends(column[1], shown)
        _critical(column[2], rows, [entry for entry in summary["critical_overlap"] if entry["memory"] == memory])
        titles = _title(memory, rows, shown), "where queries end, loads as above", "start from which half end right"
        for ax, title in zip(column, titles, strict=True):
            ax.set_title(title, loc="left")
    for ax, letter in zip(axes.ravel(), LETTERS, strict=False):
        ax.set_title(f"{letter}  {ax.get_title(loc='left')}", loc="left")
    return figure


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
    return rows[rows["patterns"].isin(chosen)]


def _label(memory: str) -> str:
    return find(memory).scaling.symbol.replace("ln M", r"\ln M").replace(" ", r"\,")


def _by_load(rows: Table) -> list[tuple[str, Table]]:
    return [(rf"$\alpha={load:.3g}$", curve) for load, curve in rows.groupby("load")]


def _final(ax: Axes, rows: Table) -> None:
    """Mean final overlap against the initial one."""
    curves = _by_load(rows)
    looks = series([label for label, _ in curves])
    for label, curve in curves:
        means = means_by_group(curve, ["start_overlap"], "overlap", "sample", "queries")
        error = np.nan_to_num(means["stderr"])
        ax.errorbar(means["start_overlap"], means["mean"], error, label=label, **ERROR | looks[label])
    ax.plot([0, 1], [0, 1], color="0.8", linewidth=0.8, zorder=0)
    ax.set(
        xlim=(-0.03, 1.03),
        ylim=(-0.1, 1.05),
        ylabel=f"final overlap{_words_of_end(rows)} (mean)",
        xlabel="initial overlap $m_0$",
    )
    legend(ax, title=rf"$\alpha = {_label(rows['memory'].iloc[0])}$", title_fontsize=8)


def _ends(ax: Axes, rows: Table) -> None:
    """Share of queries that end near their own pattern (filled) and near any pattern (open)."""
    curves, exact = _by_load(rows), None
    looks = series([label for label, _ in curves])
    for label, curve in curves:
        for name, fill, line in (("right", None, "-"), ("some", "w", ":")):
            shares = by_group(curve, ["start_overlap"], name, "queries", "sample")
            bars = np.clip([shares["mean"] - shares["low"], shares["high"] - shares["mean"]], 0, None)
            look: dict[str, Any] = ERROR | looks[label] | {"linestyle": line, "zorder": 3 if fill is None else 2}
            look |= {"markerfacecolor": fill or looks[label]["color"]}
            ax.errorbar(shares["start_overlap"], shares["mean"], bars, **look)
        overlaps = np.linspace(0, 1, 101)
        exact = theory.nearest_share(curve, overlaps)
        if exact is not None:
            ax.plot(overlaps, exact, **THEORY | {"color": looks[label]["color"]})
    if exact is not None:
        ax.plot([], [], **THEORY, label="theory: nearest pattern")
    for fill, line, label in (("0.2", "-", "its own pattern"), ("w", ":", "any pattern")):
        grey: dict[str, Any] = {"color": "0.2", "marker": "o", "markerfacecolor": fill, "linestyle": line}
        ax.plot([], [], label=label, **grey)
    ax.axhline(0.5, color="0.8", linewidth=0.8, zorder=0)
    ylabel = f"share that ends near (overlap > {rows['near'].iloc[0]:g}){_words_of_end(rows)}"
    ax.set(xlim=(-0.03, 1.03), ylim=(-0.03, 1.03), xlabel="initial overlap $m_0$", ylabel=ylabel)
    ax.set_yticks(np.linspace(0, 1, 6))
    legend(ax)


def _critical(ax: Axes, rows: Table, critical: list[dict]) -> None:
    """Initial overlap from which half of the queries end at their own pattern, against load, with theory."""
    frame: Table = pandas.DataFrame(critical).astype({"overlap": float, "stderr": float})
    frame = frame[frame["method"] != "none"]
    several = rows["dynamics"].nunique() > 1
    memory, loads = str(rows["memory"].iloc[0]), np.linspace(0, rows["load"].max() * 1.06, 121)[1:]
    largest = rows["neurons"].max()
    sizes = sorted(set(rows["neurons"].tolist()))
    looks = series([f"{dynamics} {size}" for dynamics in dict.fromkeys(rows["dynamics"]) for size in sizes])
    styles = iter(LINES)
    for dynamics in dict.fromkeys(rows["dynamics"]):
        for size in sizes:
            found = frame[(frame["dynamics"] == dynamics) & (frame["neurons"] == size)]
            label = f"$N={size}$, {dynamics}" if several else f"$N={size}$"
            look: dict[str, Any] = ERROR | looks[f"{dynamics} {size}"] | {"linestyle": "none"}
            if len(found):
                ax.errorbar(found["load"], found["overlap"], found["stderr"], label=label, **look)
        own = (rows["dynamics"] == dynamics) & (rows["neurons"] == largest)
        for known in theory.lines(rows[own], loads) if own.any() else []:
            line: dict[str, Any] = THEORY | {"linestyle": next(styles), "label": known.label}
            ax.plot(known.loads, known.overlaps, **line)
    ax.set(xlim=(0, loads[-1]), ylim=(-0.03, 1.05), ylabel="critical initial overlap $m_c$")
    ax.set_xlabel(rf"load $\alpha = {_label(memory)}$")
    legend(ax)
