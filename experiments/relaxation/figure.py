"""Figure of relaxation: correlation times and escape times against the load, by degree and temperature."""

from functools import partial

import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.contract import Table
from experiments.figures.panels import gallery, legend, log_axis, point_style, theory_style
from experiments.figures.style import ordered
from experiments.relaxation import theory


def plot(table: Table, summary: dict) -> Figure:
    """Two panels for every degree and temperature, with sizes by colour."""
    times: Table = pandas.DataFrame(summary["times"])
    drawn = []
    for _, rows in times.groupby(["degree", "temperature"], sort=False):
        drawn += [partial(_correlation, rows=rows), partial(_escape, rows=rows)]
    return gallery(drawn)


def _correlation(ax: Axes, rows: Table) -> None:
    _plot_times(ax, rows, "time")
    degree, temperature = int(rows["degree"].iloc[0]), float(rows["temperature"].iloc[0])
    alone = theory.time_without_load(degree, temperature)
    ax.plot([0], [alone], label=r"theory, $\alpha=0$", **theory_style(marker="_", markersize=12, linestyle="none"))
    _finish(ax, rows, r"correlation time $\tau$ / sweeps")


def _escape(ax: Axes, rows: Table) -> None:
    _plot_times(ax, rows, "escape")
    observed = rows["observed"].dropna()
    if len(observed):
        ax.axhline(observed.max(), color="0.6", linewidth=0.9, linestyle=":", label="sweeps observed")
    _finish(ax, rows, "escape time / sweeps")


def _plot_times(ax: Axes, rows: Table, name: str) -> None:
    sizes = sorted(rows["neurons"].unique())
    looks = ordered([str(size) for size in sizes])
    for size in sizes:
        part = rows[(rows["neurons"] == size) & rows[name].notna()]
        look = looks[str(size)] | {"markersize": 4}
        errors = part[f"{name}_stderr"].astype(float)  # of a single draw there is none
        ax.errorbar(part["load"] / part["spinodal"], part[name], errors, label=f"$N={size}$", **point_style(look))


def _finish(ax: Axes, rows: Table, label: str) -> None:
    ax.axvline(1.0, label="spinodal, replica symmetric", **theory_style())
    log_axis(ax, "y")
    ax.set(xlabel=r"load $\alpha/\alpha_M(T)$", ylabel=label)
    ax.set_xlim(left=-0.03)
    degree, temperature = int(rows["degree"].iloc[0]), float(rows["temperature"].iloc[0])
    ax.set_title(rf"$n={degree}$, $T={temperature:g}$, $\alpha_M={rows['spinodal'].iloc[0]:.3g}$", loc="left")
    legend(ax)
