"""Figure of multiple-instance learning: areas under the ROC curve, a panel for each data set."""

import numpy as np
from matplotlib.figure import Figure

from experiments.bags.summary import divisions, labels, published_area
from experiments.contract import Table
from experiments.figures.panels import LETTERS
from experiments.figures.style import THEORY, panels, series


def plot(table: Table, summary: dict) -> Figure:
    """Every division into folds as a dot, the mean with its standard error, and any published area."""
    sets, called = list(dict.fromkeys(table["data"])), labels(table["data"])
    methods = list(dict.fromkeys(table["method"]))
    looks = series(methods)
    figure, axes = panels(1, len(sets), width=1.5 + 2.9 * len(sets), height=1.6 + 0.32 * len(methods))
    results = {(entry["data"], entry["method"]): entry for entry in summary["results"]}
    for letter, ax, name in zip(LETTERS, axes[0], sets, strict=False):
        label = called[str(name)]
        rows = table[table["data"] == name]
        for place, method in enumerate(methods):
            look = {"color": looks[method]["color"], "marker": looks[method]["marker"]}
            each = divisions(rows[rows["method"] == method].set_index(["repetition", "fold"])["auc"])
            ax.plot(each, [place - 0.25] * len(each), ".", color=look["color"], alpha=0.5, markersize=4)
            entry = results[label, method]
            ax.errorbar(np.array(entry["auc"], float), place, xerr=entry["stderr"], **look)
        if (known := published_area(str(name), rows)) is not None:
            value, error = known
            ax.axvline(value, **THEORY, label="published, Hopfield")
            ax.axvspan(value - error, value + error, color="0.88", zorder=0)
        ax.set_yticks(range(len(methods)), methods if ax is axes[0, 0] else [])
        ax.invert_yaxis()
        ax.set(xlabel="area under the ROC curve")
        ax.set_title(f"{letter}  {label}")
    handles = [h for ax in axes[0] for h in ax.get_legend_handles_labels()[0]][:1]
    if handles:
        figure.legend(handles, ["published, Hopfield"], loc="outside lower right")
    return figure
