"""Results of the geometry of heads: distances beside random ones, and whether distance and attention agree.

Source: permutation test, Mantel 1967.
"""

import math

import numpy as np
import pandas

from experiments.contract import Row, Summary, Table
from experiments.figures.panel import Axis, Panel, Series, curves, guide, heat
from experiments.figures.style import COLOURS, ordered
from experiments.heads.config import MEASURES
from experiments.statistics.estimates import tidy

PERMUTATIONS = 9999


def summarise(table: Table) -> Summary:
    """Mean distances beside random ones, and the agreement of every measure with attention, by layer and in all.

    Agreement needs attention and three heads.
    """
    pairs = table[table["quantity"] == "pair"]
    layers = [int(layer) for layer in pairs["layer"].unique()]
    estimates: list[Row] = []
    attention = np.array([matrix(pairs, layer, "attention") for layer in layers])
    tested = attention.shape[-1] > 2 and bool(np.isfinite(attention).all())
    for name in MEASURES if tested else ():
        found = np.array([matrix(pairs, layer, name) for layer in layers])
        tests = [
            (layer, *mantel(one, other, PERMUTATIONS))
            for layer, one, other in zip(layers, found, attention, strict=True)
        ]
        for layer, r, p in [*tests, (None, *mantel(found, attention, PERMUTATIONS))]:
            about = {"measure": name, "layer": layer, "headline": layer is None}
            estimates += [{"quantity": MANTEL, **about, "value": r}, {"quantity": P_VALUE, **about, "value": p}]
    means = pairs.groupby("layer")[["query", "key", "random", "random_deviation"]].mean().reset_index()
    whole = pairs[["query", "key", "random", "random_deviation"]].mean().to_frame().T.assign(layer=None)
    for frame, told in ((means, False), (whole, True)):
        for side in ("query", "key", "random", "random_deviation"):
            rows = tidy(frame, ["layer"], {side: "Grassmann distance"}, side=side, headline=told)
            estimates += rows
    for layer, rows in [*pairs.groupby("layer"), (None, pairs)]:
        error = {"layer": layer, "value": float(rows["attention_error"].max()), "headline": layer is None}
        estimates.append({"quantity": "attention error", **error})
    known = table[table["quantity"] == "similarity"]
    if len(known):
        apart = float((known["similarity"] - known["published"]).abs().max())
        same = float((known["similarity"].round(4) == known["published"]).mean())
        for quantity, value in (("similarity error", apart), ("share of similarities to 4 decimals", same)):
            estimates.append({"quantity": quantity, "value": value, "headline": True})
    return Summary(estimates)


MANTEL, P_VALUE = "Mantel correlation", "p of the Mantel correlation"


def matrix(pairs: Table, layer: int, name: str) -> np.ndarray:
    """The distances of a layer's heads as a symmetric matrix with zeros on its diagonal."""
    rows = pairs[pairs["layer"] == layer]
    i, j = rows["first"].to_numpy(int), rows["second"].to_numpy(int)
    distances = np.zeros((j.max() + 1,) * 2)
    distances[i, j] = distances[j, i] = rows[name].to_numpy(float)
    return distances


def mantel(first: np.ndarray, second: np.ndarray, permutations: int = 9999, seed: int = 0) -> tuple[float, float]:
    """Correlation of the distances of two matrices, and its p-value when the objects of one are shuffled.

    Args:
        first, second: symmetric matrices [H, H], or stacks [L, H, H] whose L objects are shuffled apart; the statistic
            of a stack is the mean of its correlations.
        permutations: P shuffles; p = (1 + number that reach the correlation) / (1 + P), one-sided.
        seed: of the shuffles.
    """
    first, second = (x.reshape(-1, *x.shape[-2:]) for x in (first, second))
    above = np.triu_indices(first.shape[-1], 1)
    rng = np.random.default_rng(seed)
    total, reached = 0.0, np.zeros(permutations)
    for one, other in zip(first, second, strict=True):
        fixed = _standard(one[above])
        order = rng.permuted(np.tile(np.arange(len(other)), (permutations, 1)), axis=1)
        total += float(fixed @ _standard(other[above]))
        reached += _standard(other[order[:, above[0]], order[:, above[1]]]) @ fixed
    beaten = int(np.sum(reached >= total - 1e-12))
    return total / len(first), (1 + beaten) / (1 + permutations)


def _standard(x: np.ndarray) -> np.ndarray:
    """Centred values of length one along the last axis. They are zero where all are equal."""
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / np.maximum(np.linalg.norm(centred, axis=-1, keepdims=True), 1e-300)


LAYERS = 2
"""Layers drawn at most, the first and the last: the others are in the table."""
NAMES = {
    "theory": "Grassmann, query + key",
    "product": "with couplings (product)",
    "frobenius": "Frobenius of $J$",
    "weighted": "Frobenius of $J$ on inputs",
}


def panels(table: Table, summary: Summary) -> list[Panel]:
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
    return [*shown, *([_agreement(agreement)] if len(agreement := summary.of(MANTEL)) else [])]


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
    return Panel(
        f"layer {layer}: singular values", Axis("index"), y, found, legend=f"heads 0 (dark) to {len(heads) - 1}"
    )


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
    title = f"layer {layer}: pairs of heads"
    shown = {"label": "Grassmann distance", "colours": "viridis", "limits": (known.min(), known.max())}
    return heat(
        pandas.DataFrame(values),
        Axis(f"head (queries above, keys below; random {pairs['random'].iloc[0]:.2f})"),
        Axis("head"),
        title,
        **shown,
    )


def _scatter(pairs: Table, layer: int, summary: Summary) -> Panel:
    """Attention against the sum of Grassmann distances, with its Mantel test."""
    about = {"measure": "theory", "layer": layer}
    tests = zip(summary.of(MANTEL, **about)["value"], summary.of(P_VALUE, **about)["value"], strict=True)
    test = ", ".join(f"Mantel r = {r:.2f}, p = {p:.2g}" for r, p in tests)
    dots = Series(pairs["theory"], pairs["attention"], color=COLOURS[0], marker="o", markersize=3, alpha=0.7)
    x, y = Axis("Grassmann: query + key"), Axis(r"attention $\|A_i-A_j\|/\sqrt{T}$")
    return Panel(f"layer {layer}: attention", x, y, [dots], legend=test)


def _agreement(rows: Table) -> Panel:
    """Correlation of each measure of distance with the distance of attention, by layer."""
    rows = rows[rows["measure"].isin(NAMES) & rows["layer"].notna()]
    drawn = curves(rows, "layer", "value", by="measure", label=NAMES.__getitem__)
    layers = Axis("layer", ticks=[(layer, str(layer)) for layer in sorted(rows["layer"].unique())])
    title = "distances that tell attention"
    return Panel(title, layers, Axis("correlation with attention"), [*drawn, guide(0.0)])
