"""Figure of the geometry of heads: a column for each of a few layers, and the agreement of measures in all."""

import math
from functools import partial

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from experiments.contract import Table
from experiments.figures.panels import fill, legend, log_axis
from experiments.figures.style import COLOURS, ordered, series
from experiments.heads.summary import matrix

COLUMNS = 3
"""Layers drawn at most, evenly spaced."""
NAMES = {
    "theory": "Grassmann, query + key",
    "product": "with couplings (product)",
    "frobenius": "Frobenius of $J$",
    "weighted": "Frobenius of $J$ on inputs",
}


def plot(table: Table, summary: dict) -> Figure:
    """Spectra, angles, Grassmann and attention maps and their agreement, a column for each of a few layers.

    Below them the agreement of every measure with attention in all layers.
    """
    pairs = table[table["quantity"] == "pair"]
    layers = sorted(int(layer) for layer in pairs["layer"].unique())
    layers = [layers[k] for k in np.unique(np.linspace(0, len(layers) - 1, COLUMNS).round().astype(int))]
    kinds = [
        _spectra,
        _angles,
        partial(_map, name="grassmann", title="query ◥ key ◣"),
        partial(_map, name="attention", title="measured attention"),
        partial(_scatter, found=summary),
    ]
    rows = len(kinds) + bool(summary["agreement"])
    figure = Figure(figsize=(max(3.2 * len(layers), 4.0), 2.75 * rows), layout="constrained")
    grid = figure.add_gridspec(rows, len(layers))
    for row, kind in enumerate(kinds):
        drawn = [partial(kind, rows=table[table["layer"] == layer], layer=layer) for layer in layers]
        fill([figure.add_subplot(grid[row, column]) for column in range(len(layers))], drawn, row * len(layers))
    if summary["agreement"]:
        fill([figure.add_subplot(grid[-1, :])], [partial(_agreement, found=summary)], len(kinds) * len(layers))
    return figure


def _spectra(ax: Axes, rows: Table, layer: int) -> None:
    """Singular values of each head, over the layer's largest."""
    rows = rows[rows["quantity"] == "spectrum"]
    top = rows["singular_value"].max()
    looks = ordered([str(head) for head in sorted(rows["first"].unique())])
    for head, values in rows.groupby("first"):
        ax.plot(values["second"] + 1, values["singular_value"] / top, color=looks[str(head)]["color"], linewidth=1.0)
    ax.set(xlabel="index", ylabel=r"$\sigma\,/\,\sigma_{\max}$ of the layer")
    log_axis(ax, "y")
    ax.set_title(f"layer {layer}, heads 0 (dark) to {len(looks) - 1}", loc="left")


def _angles(ax: Axes, rows: Table, layer: int) -> None:
    """Histograms of principal angles of queries, keys and random subspaces."""
    rows = rows[rows["quantity"] == "angles"]
    edges = np.linspace(0, 90, len(rows) + 1)
    named = (("query_angles", "queries"), ("key_angles", "keys"), ("random_angles", "random"))
    for (column, label), colour in zip(named, (*COLOURS[:2], "0.45"), strict=True):
        ax.stairs(rows[column] * len(rows) / 90, edges, color=colour, label=label, linewidth=1.3)
    ax.set(xlabel="principal angle (degrees)", ylabel="density", xticks=(0, 30, 60, 90))
    legend(ax)


def _map(ax: Axes, rows: Table, layer: int, name: str, title: str) -> None:
    """Matrix of distances between heads, or a text if it was not measured."""
    pairs = rows[rows["quantity"] == "pair"]
    if name == "grassmann":
        values = np.triu(matrix(pairs, layer, "query")) + np.tril(matrix(pairs, layer, "key"))
        title = f"Grassmann, random {pairs['random'].iloc[0]:.2f}\n{title}"
    else:
        values = matrix(pairs, layer, name)
    ax.set_title(title, loc="left", fontsize=9)
    np.fill_diagonal(values, math.nan)
    ax.set(xlabel="head", ylabel="head")
    if not np.isfinite(values).any():
        _nothing(ax)
        return
    image = ax.imshow(values, cmap="viridis", interpolation="nearest")
    ax.grid(False)
    ax.figure.colorbar(image, ax=ax, fraction=0.046, pad=0.03)


def _scatter(ax: Axes, rows: Table, layer: int, found: dict) -> None:
    """Attention against the sum of Grassmann distances, with the Mantel test of three measures."""
    pairs = rows[rows["quantity"] == "pair"]
    ax.set(xlabel="theory: query + key", ylabel=r"attention $\|A_i-A_j\|/\sqrt{T}$")
    if not np.isfinite(pairs["attention"]).any():
        _nothing(ax)
        return
    ax.plot(pairs["theory"], pairs["attention"], "o", color=COLOURS[0], markersize=3, alpha=0.7)
    tests = {entry["measure"]: entry for entry in found["agreement"] if entry["layer"] == layer}
    if "theory" in tests:
        ax.set_title("r = {correlation:.2f}, p = {p_value:.2g}".format_map(tests["theory"]), loc="left", fontsize=9)


def _agreement(ax: Axes, found: dict) -> None:
    """Correlation of each measure of distance with the distance of attention, by layer."""
    looks = series(list(NAMES))
    for name, look in looks.items():
        rows = sorted(
            (entry["layer"], entry["correlation"]) for entry in found["agreement"] if entry["measure"] == name
        )
        if rows:
            ax.plot(*zip(*rows, strict=True), label=NAMES[name], **look)
    ax.axhline(0.0, color="0.8", linewidth=0.8, zorder=0)
    ax.set(xlabel="layer", ylabel="correlation with attention")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.set_title("agreement of distances of heads with what they attend to", loc="left")
    legend(ax, ncols=2)


def _nothing(ax: Axes) -> None:
    ax.text(0.5, 0.5, "not measured", transform=ax.transAxes, ha="center", va="center", color="0.5")
