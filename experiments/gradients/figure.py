"""Figure of the verification of gradients: errors by input, and the worst one of every metric and mask."""

from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.contract import Table
from experiments.figures.panels import legend
from experiments.figures.style import THEORY, series
from experiments.gradients.config import MASKS, METRICS

FLOOR = 1e-17
"""Place of an error of exactly zero on the logarithmic axis."""
NAMES = {
    "query": "queries $q$",
    "key": "keys $k$",
    "value": "values $v$",
    "beta": r"$\beta$",
    "bias": "additive mask",
    "temperature": "temperature $T$",
    "metric.scale": "scaled: scale",
    "metric.entries": "diagonal: entries",
    "metric.matrix": "full: $g$",
    "metric.factor": "low rank: $W$",
    "metric.w_query": "projected: $W_q$",
    "metric.w_key": "projected: $W_k$",
    "metric.b_query": "projected: $b_q$",
    "metric.b_key": "projected: $b_k$",
    "metric.metrics.0.entries": "block: entries",
    "metric.metrics.1.factor": "block: $W$",
}


def plot(table: Table, summary: dict) -> Figure:
    """Errors by input on the left, a table of worst errors per separation on the right."""
    separations = list(table["separation"].unique())
    figure = Figure(figsize=(10.5, 5.6), layout="constrained")
    grid = figure.add_gridspec(len(separations), 2, width_ratios=[1.25, 1])
    _by_input(figure.add_subplot(grid[:, 0]), table)
    axes = [figure.add_subplot(grid[row, 1]) for row in range(len(separations))]
    for ax, separation in zip(axes, separations, strict=True):
        _plot_worst_error(ax, table[table["separation"] == separation], separation, last=ax is axes[-1])
    axes[0].set_title("b  worst error against autodiff,\nin units in the last place", loc="left")
    return figure


def _by_input(ax: Axes, table: Table) -> None:
    """The spread of both errors for each input: a line to the worst one, a marker at the median and at the worst."""
    inputs = [name for name in NAMES if name in set(table["input"])]
    kinds = [(dtype, kind) for dtype in table["dtype"].unique() for kind in ("autodiff", "difference")]
    looks = series([f"{dtype} {kind}" for dtype, kind in kinds])
    words = {"autodiff": "automatic differentiation", "difference": "finite differences"}
    for number, (dtype, kind) in enumerate(kinds):
        look = {**looks[f"{dtype} {kind}"], "linestyle": "none"}
        rows = table[table["dtype"] == dtype]
        errors = rows.groupby("input")[kind].agg(["median", "max"]).reindex(inputs).clip(lower=FLOOR)
        heights = np.arange(len(inputs)) + 0.17 * (number - 0.5 * (len(kinds) - 1))
        ax.hlines(heights, errors["median"], errors["max"], color=look["color"], linewidth=1)
        ax.plot(errors["median"], heights, **{**look, "markerfacecolor": "white"})
        ax.plot(errors["max"], heights, label=f"{dtype}, {words[kind]}", **look)
    limits = {f"{dtype}": rows["tolerance"].iloc[0] for dtype, rows in table.groupby("dtype", sort=False)}
    wider = table.get("difference_tolerance", table["tolerance"])  # tables of earlier versions lack it
    if (apart := wider > table["tolerance"]).any():
        limits["by differences"] = wider[apart].max()
    for name, limit in limits.items():
        line: dict[str, Any] = {**THEORY}
        ax.axvline(limit, **line)
        ax.text(limit, -1.5, f" allowed,\n {name}", fontsize=8, color="0.25", va="center")
    ax.set_yticks(range(len(inputs)), [NAMES[name] for name in inputs])
    ax.set(xscale="log", ylim=(len(inputs) - 0.4, -2.3), xlabel="error relative to the gradient (or to 1 if larger)")
    ax.set_xlim(FLOOR / 3, 3e-3)
    ticks = [10.0**power for power in range(-16, -3, 2)]
    ax.set_xticks([FLOOR, *ticks], ["0", *(f"$10^{{{round(np.log10(tick))}}}$" for tick in ticks)])
    ax.set_title("a  gradient by hand against two other routes (open: median, filled: worst)", loc="left")
    legend(ax)


def _plot_worst_error(ax: Axes, table: Table, separation: str, last: bool) -> None:
    """Worst error over inputs, shapes and number types, metric against mask, in units in the last place."""
    metrics = [name for name in METRICS if name in set(table["metric"])]
    masks = [name for name in MASKS if name in set(table["mask"])]
    units = table["autodiff"] / (table["tolerance"] / 1000)
    worst = units.groupby([table["mask"], table["metric"]]).max().unstack().reindex(index=masks, columns=metrics)
    shade = np.log10(np.clip(worst.to_numpy(float), 0.1, 1000))
    ax.imshow(shade, cmap=colormaps["Greys"], vmin=-1, vmax=4.5, aspect="auto")
    for (row, column), value in np.ndenumerate(worst.to_numpy(float)):
        good = table.loc[(table["mask"] == masks[row]) & (table["metric"] == metrics[column]), "passed"].all()
        ax.text(column, row, f"{value:.2g}" if good else f"{value:.2g} !", ha="center", va="center", fontsize=8)
    ax.set_xticks(range(len(metrics)), metrics if last else [""] * len(metrics), rotation=30, ha="right")
    ax.set_yticks(range(len(masks)), masks)
    ax.set_ylabel(f"{separation}\nmask")
    ax.grid(False)
    ax.tick_params(length=0)
    if last:
        ax.set_xlabel("metric")
