"""Panels shared by figures: a gallery of lettered ones, looks of data and theory, legends, bars, log axes."""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, NullFormatter
from matplotlib.transforms import ScaledTranslation

from experiments.contract import Table
from experiments.figures.style import THEORY

Panel = Callable[[Axes], None]
LETTERS = "abcdefghijklmnopqrstuvwxyz"
ERROR: dict[str, Any] = {"elinewidth": 0.9, "linewidth": 1.0}
"""Look of error bars."""


def gallery(panels: Sequence[Panel]) -> Figure:
    """A figure of lettered panels, three in a row, four as two times two."""
    columns = min(3, len(panels)) if len(panels) != 4 else 2
    rows = -(-len(panels) // columns)
    figure = Figure(figsize=(4.1 * columns + 0.4, 3.9 * rows), layout="constrained")
    fill(figure.subplots(rows, columns, squeeze=False).ravel(), panels)
    return figure


def fill(axes: Iterable[Axes], panels: Sequence[Panel], first: int = 0) -> None:
    """Draw a panel on each of the axes and put its letter before its title. Axes without a panel stay blank.

    Args:
        first: number of panels drawn before, whose letters are taken.
    """
    axes = list(axes)
    for number, (ax, panel) in enumerate(zip(axes, panels, strict=False), start=first):
        panel(ax)
        ax.set_title(f"{letter(number)}  {ax.get_title(loc='left')}", loc="left")
    for ax in axes[len(panels) :]:
        ax.set_axis_off()


def letter(number: int) -> str:
    """The letter of a panel by its number from 0. Empty after the last letter."""
    return LETTERS[number : number + 1]


def legend(ax: Axes, **options: Any) -> None:
    """Draw a legend below a panel, outside the data, with as many columns as fit."""
    names = ax.get_legend_handles_labels()[1]
    if not names:
        return
    below = ScaledTranslation(0, -0.46, ax.figure.dpi_scale_trans)  # of ticks and label, in inches
    place: dict[str, Any] = {
        "loc": "upper center",
        "bbox_to_anchor": (0.5, 0.0),
        "bbox_transform": ax.transAxes + below,
    }
    ax.legend(**place | compact(names) | {"borderaxespad": 0} | options)


def compact(names: Sequence[str], panels: int = 1) -> dict[str, Any]:
    """Options that keep a legend within the width of the given number of panels."""
    longest = max(len(re.sub(r"\\[a-z]+|[${}\\]", "", name)) for name in names)
    ncols = max(1, min(3, len(names), 58 * panels // (longest + 4)))
    return {"ncols": ncols, "fontsize": 8, "columnspacing": 1.2, "handletextpad": 0.5}


def theory_style(**look: Any) -> dict[str, Any]:
    """Look of a line of theory."""
    return THEORY | look


def point_style(*looks: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Look of measured points with error bars."""
    return {key: value for look in (ERROR, *looks, more) for key, value in look.items()}


def shares(ax: Axes, found: Table, x: str, **look: Any) -> None:
    """Shares of `clusters.by_group` against a column, with their intervals."""
    below, above = found["mean"] - found["low"], found["high"] - found["mean"]
    ax.errorbar(found[x], found["mean"], np.clip([below, above], 0, None), **point_style(look))


def log_axis(ax: Axes, name: str = "x") -> None:
    """A logarithmic axis, "x" or "y": plain numbers at 1, 2, 5, 10, ..., powers of ten where it spans many of them."""
    ax.set(**{f"{name}scale": "log"})
    low, high = ax.get_xlim() if name == "x" else ax.get_ylim()
    axis = ax.xaxis if name == "x" else ax.yaxis
    if high < 1e3 * low:
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)))
        axis.set_major_formatter(lambda value, _: f"{value:g}")
    axis.set_minor_formatter(NullFormatter())
