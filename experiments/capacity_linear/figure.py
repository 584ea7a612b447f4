"""Figure of the capacity of fast-weight memories: a panel for each rule, all sizes on one axis."""

from functools import partial
from typing import Any

import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.contract import Table
from experiments.figures.panels import gallery, legend, shares
from experiments.figures.style import THEORY, series


def plot(table: Table, summary: dict) -> Figure:
    """Share of keys found against n ln n / D², typical keys and all keys, theory as lines."""
    shares, whole = pandas.DataFrame(summary["shares"]), pandas.DataFrame(summary["all_keys"])
    rules = list(dict.fromkeys(table["rule"]))
    looks = series([str(size) for size in sorted(shares["neurons"].unique())])
    of_rules = [partial(_shares, rows=shares[shares["rule"] == rule], looks=looks) for rule in rules]
    figure = gallery([*of_rules, partial(_all_keys, found=shares, whole=whole, rules=rules)])
    handles, labels = figure.axes[0].get_legend_handles_labels()
    look: Any = {"ncols": len(labels), "frameon": False, "title": "bars: 68 % intervals", "title_fontsize": 8}
    figure.legend(handles, labels, loc="outside lower center", **look)
    return figure


def _shares(ax: Axes, rows: Table, looks: dict[str, dict[str, Any]]) -> None:
    ax.set_title(rows["rule"].iloc[0], loc="left")
    for size, part in rows.groupby("neurons"):
        part = part.sort_values("load")
        look: Any = looks[str(size)] | {"linestyle": "none"}
        ax.plot(part["load"], part["theory"], **THEORY | {"color": look["color"]})
        shares(ax, part, "load", label=f"D = {size}", **look)
    ax.plot([], [], label="theory", **THEORY)
    ax.axhline(0.5, color="0.8", linewidth=0.8, zorder=0)
    ax.set(xlabel=r"load $n\,\ln n\,/\,D^2$", ylabel="share of keys found", ylim=(-0.03, 1.03))


def _all_keys(ax: Axes, found: Table, whole: Table, rules: list[str]) -> None:
    """Draws in which every key is found, at the size at which all keys are asked for most often."""
    ax.set_title("all keys of a draw", loc="left")
    looks = series(rules)
    if len(whole):
        size = whole["neurons"].value_counts().idxmax()
        loads = found.set_index(["rule", "neurons", "patterns"])["load"]
        for rule, part in whole[whole["neurons"] == size].groupby("rule", sort=False):
            part = part.assign(load=[loads[(rule, size, n)] for n in part["patterns"]]).sort_values("load")
            shares(ax, part, "load", label=rule, **looks[rule])
        legend(ax, title=f"D = {size}", title_fontsize=8)
    ax.set(xlabel=r"load $n\,\ln n\,/\,D^2$", ylabel="draws with all keys found", ylim=(-0.03, 1.03))
