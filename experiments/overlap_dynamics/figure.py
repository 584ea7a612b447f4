"""Figure of overlaps in time: m(t) by degree and load beside neurodynamics, of the largest network of each."""

from functools import partial
from typing import Any, cast

import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.contract import Table
from experiments.figures.panels import gallery, legend, log_axis, measured, predicted
from experiments.figures.style import series
from experiments.overlap_dynamics import theory


def plot(table: Table, summary: dict) -> Figure:
    """A panel for every degree and load; starts by colour."""
    found: Table = pandas.DataFrame(summary["times"])
    drawn = []
    for _, rows in found.groupby("degree"):
        rows = rows[rows["neurons"] == rows["neurons"].max()]
        drawn += [partial(_panel, rows=part) for _, part in rows.groupby("around")]
    return gallery(drawn)


def _panel(ax: Axes, rows: Table) -> None:
    looks: Any = series([f"{overlap:.3g}" for overlap in sorted(rows["start_overlap"].unique())])
    degree, last = int(rows["degree"].iloc[0]), int(rows["step"].max())
    grid = [*range(1, min(last, 20) + 1), *range(21, last + 1, max(1, last // 40))]
    load = float(rows["load"].iloc[0])
    for overlap, part in rows.groupby("start_overlap"):
        start = cast(float, overlap)
        look = looks[f"{start:.3g}"]
        style = look | {"linestyle": "none", "markersize": 4}
        ax.errorbar(part["step"], part["m"], part["m_stderr"], label=f"$m(0)={start:.3g}$", **measured(style))
        line = [theory.neurodynamics(degree, load, start, step) for step in grid]
        ax.plot(grid, line, **predicted(color=look["color"]))
        exact = theory.course(degree, load, start, last).overlap[1:]
        ax.plot(range(1, len(exact) + 1), exact, **predicted(color=look["color"], linestyle="-"))
    name = "Amari & Maginu" if degree == theory.CLASSICAL else "map of one step, iterated"
    ax.plot([], [], label=name, **predicted())
    ax.plot([], [], label=r"generating functional, $N\to\infty$", **predicted(linestyle="-"))
    log_axis(ax)
    ax.set(xlabel="synchronous steps $t$", ylabel="overlap $m(t)$", ylim=(-0.05, 1.05))
    size, around = int(rows["neurons"].iloc[0]), float(rows["around"].iloc[0])
    ax.set_title(rf"$n={degree}$, $N={size}$, $\alpha={load:.3g}={around:g}\,\alpha_c$", loc="left")
    legend(ax)
