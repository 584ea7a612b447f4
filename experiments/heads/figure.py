"""Figure of the geometry of heads: one column per layer, as figures 2 to 7 of the report it follows."""

import math
from functools import partial

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.figures.style import COLOURS, Table, panels
from experiments.heads.summary import matrix

COLUMNS = 6
"""Layers drawn at most, evenly spaced."""


def plot(table: Table, summary: dict) -> Figure:
    """Spectra, their distances, angles, Grassmann maps, theory and attention, a column for each layer."""
    pairs = table[table["quantity"] == "pair"]
    layers = sorted(int(layer) for layer in pairs["layer"].unique())
    layers = [layers[k] for k in np.unique(np.linspace(0, len(layers) - 1, COLUMNS).round().astype(int))]
    maps = {
        "spectrum": "‖Σ$_i$ − Σ$_j$‖",
        "grassmann": "Grassmann: query ◥ key ◣",
        "theory": "theory: query + key",
        "attention": "measured attention",
    }
    drawn = [
        _spectra,
        partial(_map, name="spectrum", title=maps["spectrum"]),
        _angles,
        *(partial(_map, name=name, title=maps[name]) for name in ("grassmann", "theory", "attention")),
        partial(_scatter, found=summary),
    ]
    figure, axes = panels(len(drawn), len(layers), width=max(3.1 * len(layers), 4.0), height=2.7)
    axes = np.asarray(axes).reshape(len(drawn), len(layers))
    for row, panel in zip(axes, drawn, strict=True):
        for ax, layer in zip(row, layers, strict=True):
            panel(ax, table[table["layer"] == layer], layer)
    return figure


def _spectra(ax: Axes, rows: Table, layer: int) -> None:
    """Singular values of each head, over the layer's largest."""
    rows = rows[rows["quantity"] == "spectrum"]
    top = rows["singular_value"].max()
    for place, (_, values) in enumerate(rows.groupby("first")):
        ax.plot(values["second"] + 1, values["singular_value"] / top, color=COLOURS[place % len(COLOURS)], alpha=0.8)
    ax.set(xlabel="index", ylabel=r"$\sigma\,/\,\sigma_{\max}$ of the layer", yscale="log")
    ax.set_title(f"layer {layer}", loc="left")


def _angles(ax: Axes, rows: Table, layer: int) -> None:
    """Histograms of principal angles of queries, keys and random subspaces."""
    rows = rows[rows["quantity"] == "angles"]
    edges = np.linspace(0, 90, len(rows) + 1)
    named = (("query_angles", "queries"), ("key_angles", "keys"), ("random_angles", "random"))
    for (column, label), colour in zip(named, (*COLOURS[:2], "0.45"), strict=True):
        ax.stairs(rows[column] * len(rows) / 90, edges, color=colour, label=label, linewidth=1.3)
    ax.set(xlabel="principal angle (degrees)", ylabel="density", xticks=(0, 30, 60, 90))
    ax.legend(fontsize=7, loc="upper left")


def _map(ax: Axes, rows: Table, layer: int, name: str, title: str) -> None:
    """A matrix of distances of heads; text in place of what was not measured."""
    pairs = rows[rows["quantity"] == "pair"]
    if name == "grassmann":
        values = np.triu(matrix(pairs, layer, "query")) + np.tril(matrix(pairs, layer, "key"))
        title += f"\nrandom {pairs['random'].iloc[0]:.3f}"
    else:
        values = matrix(pairs, layer, name)
    ax.set_title(title, loc="left", fontsize=8)
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
    named = {"theory": "theory", "frobenius": "‖J‖", "weighted": "‖J‖ on inputs"}
    lines = [
        f"{label}: r = {tests[name]['correlation']:.2f}, p = {tests[name]['p_value']:.2g}"
        for name, label in named.items()
        if name in tests
    ]
    ax.set_title("\n".join(lines), loc="left", fontsize=7)


def _nothing(ax: Axes) -> None:
    ax.text(0.5, 0.5, "not measured", transform=ax.transAxes, ha="center", va="center", color="0.5")
