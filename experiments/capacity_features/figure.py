"""Figure of random features: errors of log-energy and of retrieval against Y, predicted errors, and what fails."""

from functools import partial
from typing import Any, cast

import numpy as np
import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.contract import Table
from experiments.figures.panels import gallery, legend, log_axis, theory_style
from experiments.figures.style import series

SCALE = ["neurons", "patterns", "beta"]
MARKERS = "osv^DPX*"


def plot(table: Table, summary: dict) -> Figure:
    """Log-energy and retrieval against Y with lines of slope −½, measured against predicted, share that fails."""
    sizes: Table = pandas.DataFrame(summary["sizes"])
    words = {"log_energy": r"RMS error of $\beta E$", "retrieval": "RMS distance of the ends"}
    drawn = [partial(_against_size, sizes=sizes, name=name, label=label) for name, label in words.items()]
    return gallery([*drawn, partial(_plot_predicted_error, sizes=sizes), partial(_plot_failed, sizes=sizes)])


def _curves(sizes: Table) -> list[tuple[Table, Any]]:
    """Rows and style of every curve. The map sets the colour; N, M and β set the marker."""
    colours = series(list(dict.fromkeys(sizes["map"])))
    markers = dict(zip(sizes.groupby(SCALE, sort=False).groups, MARKERS * len(sizes), strict=False))
    found = []
    for key, rows in sizes.groupby(["map", *SCALE], sort=False):
        kind, *scale = cast(tuple, key)
        found.append((rows, colours[kind] | {"marker": markers[tuple(scale)]}))
    return found


def _key(ax: Axes, sizes: Table) -> None:
    """The legend of all panels: maps by colour, N, M and β by marker."""
    looks = {tuple(rows.iloc[0][["map", *SCALE]]): look for rows, look in _curves(sizes)}
    for kind, look in {key[0]: look for key, look in looks.items()}.items():
        ax.plot([], [], color=look["color"], label=kind)
    for scale, look in {key[1:]: look for key, look in looks.items()}.items():
        label = "N = {}, M = {}, β = {:g}".format(*scale)
        ax.plot([], [], color="0.4", linestyle="none", marker=look["marker"], label=label)
    legend(ax)


def _against_size(ax: Axes, sizes: Table, name: str, label: str) -> None:
    for rows, look in _curves(sizes):
        known = rows[rows[name].notna()]
        dots: Any = look | {"linestyle": "none"}
        ax.plot(known["features"], known[name].astype(float), **dots)
        if len(known):
            last = known.iloc[-1]
            y = known["features"].to_numpy(float)
            ax.plot(y, float(last[name]) * np.sqrt(last["features"] / y), **theory_style(color=look["color"]))
    ax.plot([], [], label=r"$\propto Y^{-1/2}$", **theory_style())
    log_axis(ax)
    ax.set(yscale="log", xlabel="size of the memory $Y$", ylabel=label)
    ax.set_title(label.replace("RMS e", "e").replace("RMS d", "d"), loc="left")


def _plot_predicted_error(ax: Axes, sizes: Table) -> None:
    for rows, look in _curves(sizes):
        dots: Any = look | {"linestyle": "none"}
        ax.plot(rows["predicted"], rows["sum"], **dots)
    ends = np.array([sizes["predicted"].min(), 2.0])
    ax.plot(ends, ends, **theory_style())
    ax.set(xscale="log", yscale="log", xlim=(ends[0] / 1.5, 3), xlabel="error that the memory foretells")
    ax.set(ylim=(ends[0] / 1.5, 30), ylabel="RMS relative error of the sum")
    ax.set_title("foretold error", loc="left")
    _key(ax, sizes)


def _plot_failed(ax: Axes, sizes: Table) -> None:
    for rows, look in _curves(sizes):
        ax.plot(rows["features"], rows["failed"], **look)
    log_axis(ax)
    ax.set(xlabel="size of the memory $Y$", ylabel="queries without an energy", ylim=(-0.03, 1.03))
    ax.set_title("fails loudly", loc="left")
