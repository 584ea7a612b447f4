"""Figure of the hierarchical memory: digits found against stored numbers, and errors of hidden pixels."""

from functools import partial

import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.contract import Table
from experiments.figures.panels import gallery, legend, log_axis, point_style
from experiments.figures.style import series
from experiments.hierarchy.config import FLAT


def plot(table: Table, summary: dict) -> Figure:
    """Three panels for each number of hidden quadrants."""
    loads: Table = pandas.DataFrame(summary["loads"])
    drawn = []
    for hidden, rows in loads.groupby("hidden"):
        drawn += [partial(panel, rows=rows, hidden=hidden) for panel in (_shares, _plot_retrieved, _errors)]
    return gallery(drawn)


def _name(parts: int) -> str:
    return "flat" if parts == FLAT else f"$K={parts}$ parts"


def _curves(rows: Table):
    """Name, look and rows of every memory."""
    looks = series([_name(parts) for parts in dict.fromkeys(rows["parts"])])
    for parts, part in rows.groupby("parts", sort=False):
        yield _name(int(parts)), looks[_name(int(parts))], part.sort_values("patterns")


def _shares(ax: Axes, rows: Table, hidden: int) -> None:
    for name, look, part in _curves(rows):
        ax.errorbar(part["patterns"], part["share"], part["share_stderr"], label=name, **point_style(look))
    log_axis(ax)
    ax.set(xlabel="stored digits $M$", ylabel="share found", ylim=(-0.03, 1.05))
    ax.set_title(f"{hidden} of 4 quadrants hidden", loc="left")
    legend(ax)


def _plot_retrieved(ax: Axes, rows: Table, hidden: int) -> None:
    for name, look, part in _curves(rows):
        ax.errorbar(part["numbers"], part["found"], part["found_stderr"], label=name, **point_style(look))
    log_axis(ax)
    log_axis(ax, "y")
    ax.set(xlabel="numbers stored", ylabel="digits found, of all stored")
    ax.set_title("capacity by what is stored", loc="left")
    legend(ax)


def _errors(ax: Axes, rows: Table, hidden: int) -> None:
    for name, look, part in _curves(rows):
        ax.errorbar(part["patterns"], part["error"], part["error_stderr"], label=name, **point_style(look))
        hollow = look | {"markerfacecolor": "white", "linestyle": ":"}
        ax.errorbar(part["patterns"], part["error_other"], part["error_other_stderr"], **point_style(hollow))
    ax.plot([], [], color="0.4", linestyle=":", marker="o", markerfacecolor="white", label="not stored")
    log_axis(ax)
    ax.set(xlabel="stored digits $M$", ylabel="error of a hidden pixel", ylim=(0, None))
    ax.set_title("completion", loc="left")
    legend(ax)
