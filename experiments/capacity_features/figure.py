"""Figure of random features: errors of log-energy and of retrieval against Y, foretold errors, and what fails."""

from functools import partial
from typing import Any

import numpy as np
import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.figures.panels import gallery, legend, log_axis, predicted
from experiments.figures.style import Table, series

CURVE = ["map", "neurons", "patterns", "beta"]


def plot(table: Table, summary: dict) -> Figure:
    """Log-energy and retrieval against Y with lines of slope −½, measured against foretold, share that fails."""
    sizes: Table = pandas.DataFrame(summary["sizes"])
    words = {"log_energy": r"RMS error of $\beta E$", "retrieval": "RMS distance of the ends"}
    drawn = [partial(_against_size, sizes=sizes, name=name, label=label) for name, label in words.items()]
    return gallery([*drawn, partial(_foretold, sizes=sizes), partial(_failed, sizes=sizes)])


def _curves(sizes: Table) -> list[tuple[str, Table, Any]]:
    """Label, rows and look of every curve; labels name only what differs."""
    varied = [name for name in CURVE if sizes[name].nunique() > 1] or ["map"]
    symbols = {"map": "{}", "neurons": "N = {}", "patterns": "M = {}", "beta": "β = {:g}"}
    found = []
    for _, rows in sizes.groupby(CURVE, sort=False):
        first = rows.iloc[0]
        found.append((", ".join(symbols[name].format(first[name]) for name in varied), rows))
    looks: Any = series([label for label, _ in found])
    return [(label, rows, looks[label]) for label, rows in found]


def _against_size(ax: Axes, sizes: Table, name: str, label: str) -> None:
    for words, rows, look in _curves(sizes):
        known = rows[rows[name].notna()]
        dots: Any = look | {"linestyle": "none"}
        ax.plot(known["features"], known[name].astype(float), label=words, **dots)
        if len(known):
            last = known.iloc[-1]
            y = known["features"].to_numpy(float)
            ax.plot(y, float(last[name]) * np.sqrt(last["features"] / y), **predicted(color=look["color"]))
    ax.plot([], [], label=r"$\propto Y^{-1/2}$", **predicted())
    log_axis(ax)
    ax.set(yscale="log", xlabel="size of the memory $Y$", ylabel=label)
    ax.set_title(label.replace("RMS e", "e").replace("RMS d", "d"), loc="left")


def _foretold(ax: Axes, sizes: Table) -> None:
    for words, rows, look in _curves(sizes):
        dots: Any = look | {"linestyle": "none"}
        ax.plot(rows["predicted"], rows["sum"], label=words, **dots)
    ends = np.array([sizes["predicted"].min(), 2.0])
    ax.plot(ends, ends, **predicted())
    ax.set(xscale="log", yscale="log", xlim=(ends[0] / 1.5, 3), xlabel="error that the memory foretells")
    ax.set(ylim=(ends[0] / 1.5, 30), ylabel="RMS relative error of the sum")
    ax.set_title("foretold error", loc="left")
    legend(ax)


def _failed(ax: Axes, sizes: Table) -> None:
    for _, rows, look in _curves(sizes):
        ax.plot(rows["features"], rows["failed"], **look)
    log_axis(ax)
    ax.set(xlabel="size of the memory $Y$", ylabel="queries without an energy", ylim=(-0.03, 1.03))
    ax.set_title("fails loudly", loc="left")
