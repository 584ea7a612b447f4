"""Figure of the geometry of heads: a few layers side by side, and the agreement of measures in all."""

import math

import numpy as np
import pandas

from experiments.contract import Table
from experiments.figures.panel import Axis, Panel, Series, curves, guide, heat
from experiments.figures.style import COLOURS, ordered
from experiments.heads.summary import matrix

LAYERS = 2
"""Layers drawn at most, the first and the last: the others are in the table."""
NAMES = {
    "theory": "Grassmann, query + key",
    "product": "with couplings (product)",
    "frobenius": "Frobenius of $J$",
    "weighted": "Frobenius of $J$ on inputs",
}


def panels(table: Table, summary: dict) -> list[Panel]:
    """Spectra, angles and Grassmann maps, attention against theory, and the agreement of all measures by layer."""
    pairs = table[table["quantity"] == "pair"]
    layers = sorted(int(layer) for layer in pairs["layer"].unique())
    layers = [layers[k] for k in np.unique(np.linspace(0, len(layers) - 1, LAYERS).round().astype(int))]
    shown = []
    for kind in (_spectra, _angles, _map):
        shown += [kind(table[table["layer"] == layer], layer) for layer in layers]
    last = pairs[pairs["layer"] == layers[-1]]
    if np.isfinite(last["attention"]).any():
        shown.append(_scatter(last, layers[-1], summary))
    return [*shown, *([_agreement(summary)] if summary["agreement"] else [])]


def _spectra(rows: Table, layer: int) -> Panel:
    """Singular values of each head, over the layer's largest."""
    rows = rows[rows["quantity"] == "spectrum"]
    rows = rows.assign(index=rows["second"] + 1, share=rows["singular_value"] / rows["singular_value"].max())
    heads = sorted(rows["first"].unique())
    looks = {
        name: {"color": look["color"], "linestyle": "-"} for name, look in ordered([str(h) for h in heads]).items()
    }
    y = Axis(r"$\sigma\,/\,\sigma_{\max}$ of the layer", "log")
    found = curves(rows, "index", "share", by="first", label=lambda head: "", looks=looks)
    return Panel(f"layer {layer}: singular values, heads 0 (dark) to {len(heads) - 1}", Axis("index"), y, found)


def _angles(rows: Table, layer: int) -> Panel:
    """Histograms of principal angles of queries, keys and random subspaces."""
    rows = rows[rows["quantity"] == "angles"]
    edges = np.repeat(np.linspace(0, 90, len(rows) + 1), 2)
    named = (("query_angles", "queries"), ("key_angles", "keys"), ("random_angles", "random"))
    found = []
    for (column, label), color in zip(named, (*COLOURS[:2], "0.45"), strict=True):
        heights = np.pad(np.repeat(rows[column] * len(rows) / 90, 2), 1)
        found.append(Series(edges, heights, label=label, color=color, linestyle="-", linewidth=1.3))
    x = Axis("principal angle (degrees)", ticks=[(angle, str(angle)) for angle in (0, 30, 60, 90)])
    return Panel(f"layer {layer}: angles between heads", x, Axis("density"), found)


def _map(rows: Table, layer: int) -> Panel:
    """Grassmann distances between heads, of queries above the diagonal and of keys below it."""
    pairs = rows[rows["quantity"] == "pair"]
    values = np.triu(matrix(pairs, layer, "query")) + np.tril(matrix(pairs, layer, "key"))
    np.fill_diagonal(values, math.nan)
    known = values[np.isfinite(values)]
    title = f"layer {layer}: queries above, keys below; random {pairs['random'].iloc[0]:.2f}"
    shown = {"label": "Grassmann distance", "colours": "viridis", "limits": (known.min(), known.max())}
    return heat(pandas.DataFrame(values), Axis("head"), Axis("head"), title, **shown)


def _scatter(pairs: Table, layer: int, found: dict) -> Panel:
    """Attention against the sum of Grassmann distances, with its Mantel test."""
    tests = [entry for entry in found["agreement"] if (entry["layer"], entry["measure"]) == (layer, "theory")]
    test = "".join(f", r = {entry['correlation']:.2f}, p = {entry['p_value']:.2g}" for entry in tests)
    dots = Series(pairs["theory"], pairs["attention"], color=COLOURS[0], marker="o", markersize=3, alpha=0.7)
    x, y = Axis("Grassmann: query + key"), Axis(r"attention $\|A_i-A_j\|/\sqrt{T}$")
    return Panel(f"layer {layer}: distance of attention{test}", x, y, [dots])


def _agreement(found: dict) -> Panel:
    """Correlation of each measure of distance with the distance of attention, by layer."""
    rows: Table = pandas.DataFrame(found["agreement"])
    rows = rows[rows["measure"].isin(NAMES)]
    drawn = curves(rows, "layer", "correlation", by="measure", label=NAMES.__getitem__)
    layers = Axis("layer", ticks=[(layer, str(layer)) for layer in sorted(rows["layer"].unique())])
    title = "agreement of distances of heads with what they attend to"
    return Panel(title, layers, Axis("correlation with attention"), [*drawn, guide(0.0)])
