"""Figure of multi-query associative recall: accuracy against what is kept of a sequence and against its pairs."""

from typing import Any

import numpy as np
import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.contract import Table
from experiments.figures.style import panels, series


def plot(table: Table, summary: dict) -> Figure:
    """Accuracy against bytes of state at the fewest pairs, and, of several, against pairs at the largest width.

    The first at the shortest sequences, the second at the longest. Every model is a dot; means with 95 % intervals, cut
    at 0 and 1.
    """
    results: Table = pandas.DataFrame(summary["results"])
    looks = series(list(dict.fromkeys(results["mixer"])))
    trained = results[results["mixer"] != "by_hand"]
    widest = trained["width"].max() if len(trained) else 0
    length, longest, fewest = results["length"].min(), results["length"].max(), results["pairs"].min()

    def few_pairs(rows: Table) -> Table:
        return rows[(rows["pairs"] == fewest) & (rows["length"] == length)]

    def wide(rows: Table) -> Table:
        return rows[((rows["width"] == widest) | (rows["mixer"] == "by_hand")) & (rows["length"] == longest)]

    shown = [("state_bytes", "state kept of a sequence (bytes)", few_pairs, f"K = {fewest} pairs, L = {length} tokens")]
    if results["pairs"].nunique() > 1:
        shown.append(("pairs", "pairs $K$", wide, f"width {widest}, L = {longest} tokens"))
    figure, axes = panels(1, len(shown), width=1.0 + 4.5 * len(shown), height=4.0)
    for letter, ax, (column, label, part, title) in zip("ab", axes[0], shown, strict=False):
        _draw_curves(ax, part(results), part(table), column, looks)
        ax.set(xlabel=label, ylabel="accuracy, mean with 95 % interval")
        ax.set_title(f"{letter}  {title}")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
    return figure


def _draw_curves(ax: Axes, means: Table, models: Table, column: str, looks: dict[str, Any]) -> None:
    """Means of each mixer against a column, shifted where they would overlap, and a dot for every model."""
    for place, (mixer, look) in enumerate(looks.items()):
        apart = 1.05 ** (place - len(looks) / 2)
        each = models[models["mixer"] == mixer]
        ax.plot(each[column] * apart, each["accuracy"], ".", color=look["color"], alpha=0.5, markersize=5)
        part = means[means["mixer"] == mixer].sort_values(column)
        half = part["half_interval"].fillna(0.0)
        bars = np.minimum(half, part["accuracy"]), np.minimum(half, 1.0 - part["accuracy"])
        ax.errorbar(part[column] * apart, part["accuracy"], np.array(bars), **look, label=mixer)
    ticks = sorted(means[column].unique())
    ax.set(xscale="log", xlim=(ticks[0] / 1.5, ticks[-1] * 1.5), ylim=(-0.03, 1.05))
    if column == "pairs":
        ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        ax.minorticks_off()
