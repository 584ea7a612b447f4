"""Figure of overlaps in time: m(t) by degree and load beside neurodynamics, of the largest network of each."""

from functools import partial
from typing import Any, cast

import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.contract import Table
from experiments.figures.panels import gallery, legend, log_axis, point_style, theory_style
from experiments.figures.style import series
from experiments.overlap_dynamics import theory


def plot(table: Table, summary: dict) -> Figure:
    """One panel for every degree and load, with starts by colour."""
    times: Table = pandas.DataFrame(summary["times"])
    drawn = []
    for _, rows in times.groupby("degree"):
        rows = rows[rows["neurons"] == rows["neurons"].max()]
        drawn += [partial(_panel, rows=part) for _, part in rows.groupby("patterns")]
    return gallery(drawn)


def _panel(ax: Axes, rows: Table) -> None:
    looks = series([f"{overlap:.3g}" for overlap in sorted(rows["start_overlap"].unique())])
    degree, last = int(rows["degree"].iloc[0]), int(rows["step"].max())
    grid = [*range(1, min(last, 20) + 1), *range(21, last + 1, max(1, last // 40))]
    load = float(rows["load"].iloc[0])
    older, functional = _lines(last)
    for overlap, part in rows.groupby("start_overlap"):
        start = cast(float, overlap)
        look = looks[f"{start:.3g}"]
        style = look | {"linestyle": "none", "markersize": 4}
        ax.errorbar(part["step"], part["m"], part["m_stderr"], label=f"$m(0)={start:.3g}$", **point_style(style))
        line = [theory.neurodynamics(degree, load, start, step) for step in grid]
        ax.plot(grid, line, **older | {"color": look["color"]})
        exact = theory.course(degree, load, start, last).overlap[1:]
        ax.plot(range(1, len(exact) + 1), exact, **functional | {"color": look["color"]})
    name = "Amari & Maginu" if degree == theory.CLASSICAL else "map of one step, iterated"
    ax.plot([], [], label=name, **older)
    ax.plot([], [], label=r"generating functional, $N\to\infty$", **functional)
    if last == 1:
        ax.set_xlim(0.5, 2)
    log_axis(ax)
    ax.set(xlabel="synchronous steps $t$", ylabel="overlap $m(t)$", ylim=(-0.05, 1.05))
    size, share = int(rows["neurons"].iloc[0]), load / theory.critical_load(degree)
    ax.set_title(rf"$n={degree}$, $N={size}$, $\alpha={load:.3g}={share:.3g}\,\alpha_c$", loc="left")
    legend(ax)


def _lines(last: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Styles of both theories. After a single step they are marks, since a line would have no length."""
    if last > 1:
        return theory_style(), theory_style(linestyle="-")
    mark = {"linestyle": "none", "markersize": 10}
    return theory_style(marker="_", **mark), theory_style(marker="x", **mark)
