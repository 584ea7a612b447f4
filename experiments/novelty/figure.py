"""Figure of the detection of novel queries: areas under the ROC curve, and the weight left over."""

from typing import Any

import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.contract import Table
from experiments.figures.panels import legend
from experiments.figures.style import THEORY, panels, series


def plot(table: Table, summary: dict) -> Figure:
    """Areas against the number of patterns and κ, and left-over weights at the middle κ, with theory as lines."""
    areas: Table = pandas.DataFrame(summary["areas"])
    areas = areas[areas["neurons"] == areas["neurons"].max()]
    kappas = sorted(areas["kappa"].unique())
    overlaps, middle = sorted(areas["overlap"].unique()), kappas[len(kappas) // 2]
    size = sorted(areas["patterns"].unique())[areas["patterns"].nunique() // 2]
    figure, axes = panels(1, 3, width=12.0, height=3.6)
    looks = series([f"{overlap:g}" for overlap in overlaps])
    for ax, name, rows in (
        (axes[0, 0], "patterns", areas[areas["kappa"] == middle]),
        (axes[0, 1], "kappa", areas[areas["patterns"] == size]),
    ):
        for overlap, part in rows.groupby("overlap"):
            part, look = part.sort_values(name), looks[f"{overlap:g}"]
            ax.plot(part[name], part["theory"], **THEORY | {"color": look["color"]})
            label = f"overlap {overlap:g}"
            ax.errorbar(part[name], part["auc"], part["stderr"], **look | {"linestyle": "none"}, label=label)
        ax.axhline(0.5, color="0.8", linewidth=0.8, zorder=0)
        ax.set(xscale="log", ylim=(0.45, 1.03), ylabel="area under the ROC curve")
    axes[0, 0].plot([], [], label="theory", **THEORY)
    axes[0, 0].set(xlabel="number of patterns $M$")
    axes[0, 0].set_title(rf"a  $\kappa$ = {middle:g}, D = {areas['neurons'].max()}")
    axes[0, 1].set(xlabel=r"inverse temperature $\kappa$", xticks=kappas, xticklabels=[f"{k:g}" for k in kappas])
    axes[0, 1].minorticks_off()
    axes[0, 1].set_title(f"b  M = {size}")
    _plot_weight_left(axes[0, 2], areas[(areas["kappa"] == middle) & (areas["overlap"] == overlaps[-1])])
    axes[0, 2].set_title(rf"c  weight left over, $\kappa$ = {middle:g}, overlap {overlaps[-1]:g}")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    look: Any = {"ncols": len(labels), "frameon": False, "title": "bars: one standard error", "title_fontsize": 8}
    figure.legend(handles, labels, loc="outside lower center", **look)
    return figure


def _plot_weight_left(ax: Axes, rows: Table) -> None:
    rows = rows.sort_values("patterns")
    looks = series(["novel", "known"])
    for name in looks:
        ax.plot(rows["patterns"], rows[f"left_{name}"], **looks[name] | {"linestyle": "none"}, label=f"{name} query")
        ax.plot(rows["patterns"], rows[f"theory_{name}"], **THEORY | {"color": looks[name]["color"]})
    ax.plot([], [], label="annealed", **THEORY)
    ax.set(xscale="log", yscale="log", xlabel="number of patterns $M$", ylabel="weight left over")
    legend(ax)
