"""Figure of the asymptotic capacity experiment: thresholds against 1/N, and the curves behind them."""

from typing import Any

import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.contract import Table
from experiments.figures.panels import legend
from experiments.figures.style import THEORY, ordered, panels, series
from experiments.shared import corruptions
from experiments.shared.corruptions import CLEAN

NAMES = {"weight": "weight above ½", "spin": "a quarter of spins wrong"}


def plot(table: Table, summary: dict) -> Figure:
    """Thresholds against 1/N beside their limits, and the shares of queries and spins lost from the first start."""
    thresholds = pandas.DataFrame(summary["thresholds"])
    figure, axes = panels(1, 3, width=12.0, height=4.4)
    _thresholds(axes[0, 0], thresholds)
    first = table["corruption"].iloc[0]
    rows = _sum_samples(table[table["corruption"] == first])
    start = corruptions.label(first)
    _draw_curves(
        axes[0, 1], rows.assign(lost=1 - rows["heavy"] / rows["queries"]), "queries without half of the weight"
    )
    _draw_curves(axes[0, 2], rows.assign(lost=rows["wrong"] / rows["queries"]), "wrong spins after one step")
    axes[0, 2].axhline(0.25, **THEORY)
    axes[0, 1].axhline(0.5, **THEORY)
    axes[0, 1].set_title(f"b  weight, {start}")
    axes[0, 2].set_title(f"c  one-step error, {start}")
    for ax in axes[0, 1:]:
        legend(ax, title="neurons $N$", title_fontsize=8, ncols=5)
    return figure


def _thresholds(ax: Axes, found: Table) -> None:
    keys = list(dict.fromkeys(zip(found["criterion"], found["corruption"], strict=True)))
    looks = series([str(key) for key in keys])
    for key in keys:
        rows = found[(found["criterion"] == key[0]) & (found["corruption"] == key[1])]
        look = looks[str(key)]
        label = NAMES[key[0]] + ("" if key[1] == CLEAN else f", {corruptions.label(key[1])}")
        for method, face in (("sampled", look["color"]), ("enumerated", "none")):
            part = rows[(rows["method"] == method) & rows["load"].notna()]
            options: Any = {
                "color": look["color"],
                "marker": look["marker"],
                "linestyle": "none",
                "markerfacecolor": face,
            }
            size: Any = {"markersize": 8 if method == "enumerated" else 4.5}
            ax.errorbar(1 / part["neurons"], part["load"], part["stderr"], **options, **size, label=label)
            label = None
        exact = rows[(rows["method"] == "sampled") & rows["theory"].notna()].sort_values("neurons")
        ax.plot(1 / exact["neurons"], exact["theory"], color=look["color"], linewidth=0.9)
        ax.plot([0], [rows["limit"].iloc[0]], color="black", marker="_", markersize=12, linestyle="none", clip_on=False)
    ax.set_xlim(left=0)
    ax.set_xlabel(r"$1/N$")
    ax.set_ylabel(r"threshold $\ln M / N$")
    ax.set_title("a  thresholds against 1/N")
    ax.plot([], [], "o", color="0.4", markerfacecolor="none", markersize=8, label="patterns enumerated")
    if found["theory"].notna().any():
        ax.plot([], [], color="0.4", linewidth=0.9, label="theory at $N$, exact")
    ax.plot([], [], "_", color="black", markersize=12, linestyle="none", label=r"theory, $N \to \infty$")
    legend(ax)


def _sum_samples(rows: Table) -> Table:
    """Sums over the sampled queries of each size and load, in the order of both."""
    rows = rows[rows["method"] == "sampled"].assign(wrong=rows["error"] * rows["queries"])
    return rows.groupby(["neurons", "load"])[["queries", "heavy", "wrong"]].sum().reset_index()


def _draw_curves(ax: Axes, rows: Table, label: str) -> None:
    sizes = list(rows["neurons"].unique())
    looks = ordered([str(size) for size in sizes])
    for size in sizes:
        part = rows[rows["neurons"] == size]
        look: Any = looks[str(size)] | {"markersize": 3}
        ax.plot(part["load"], part["lost"], **look, label=f"{size}")
    ax.set_xlabel(r"load $\ln M / N$")
    ax.set_ylabel(label)
