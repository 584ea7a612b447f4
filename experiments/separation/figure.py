"""Figure of a comparison of separations: one row of panels for each ensemble of images."""

from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.contract import Table
from experiments.figures import labels
from experiments.figures.panels import fill
from experiments.figures.style import THEORY, panels, series
from experiments.separation.config import BOUND
from experiments.separation.summary import overall
from experiments.shared import corruptions
from experiments.statistics.clusters import standard_error

HIDING = {"mask": "fraction masked at random", "lower": "fraction masked from below", "noise": r"noise $\sigma$"}
LIMIT: dict[str, Any] = THEORY | {"label": "limit, told what is hidden"}
SHARE = "share retrieved"
READ = {"single": "read once", "iterated": "iterated"}
Looks = dict[str, dict[str, Any]]


def plot(table: Table, summary: dict) -> Figure:
    """Against masks and noise by similarity, against the number of images by separation, and all pairs."""
    table = table.assign(share=table["retrieved"] / table["queries"])
    kinds = [
        kind for kind in HIDING if any(corruptions.parts(start)[0] == kind for start in _in_order(table, "corruption"))
    ]
    ensembles = _in_order(table, "ensemble")
    pairs = table[table["similarity"] != BOUND[0]]
    similarities, separations = (series(_in_order(pairs, name)) for name in ("similarity", "separation"))
    figure, axes = panels(len(ensembles), len(kinds) + 2, width=3.5 * (len(kinds) + 2), height=3.3)
    for line, ensemble in zip(axes, ensembles, strict=True):
        rows = table[table["ensemble"] == ensemble]
        drawn = [partial(_by_similarity, table=rows, kind=kind, looks=similarities) for kind in kinds]
        drawn += [partial(_by_separation, table=rows, looks=separations), partial(_matrix, table=rows)]
        fill(line, drawn, len(line) * ensembles.index(ensemble))
    _legend(axes[:, : len(kinds)], similarities, "left", "similarity, each with its best separation")
    _legend(axes[:, [-2]], separations, "right", "separation, with the best similarity")
    return figure


def _legend(axes: np.ndarray, looks: Looks, side: str, title: str) -> None:
    """One legend above all panels, for the lines that panels of one kind share."""
    drawn: dict[str, Any] = {}
    for ax in axes.ravel():
        drawn |= {name: line for line, name in zip(*ax.get_legend_handles_labels(), strict=True)}
    if drawn:
        names = sorted(drawn, key=[LIMIT["label"], *looks].index)
        where: dict[str, Any] = {"fontsize": 8.5, "ncols": 4, "title_fontsize": 8.5, "alignment": "left"}
        figure = axes.ravel()[0].figure
        figure.legend([drawn[name] for name in names], names, loc=f"outside upper {side}", title=title, **where)


def _in_order(table: Table, column: str) -> list:
    return list(table[column].unique())


def _plot_mean_share(ax: Axes, rows: Table, x: str, look: dict[str, Any]) -> None:
    """Mean share over draws with its standard error."""
    groups = rows.groupby(x)["share"]
    mean, error = groups.mean(), groups.agg(standard_error)
    shape: dict[str, Any] = {"elinewidth": 0.9, "linewidth": 1.2} | look
    ax.errorbar(mean.index.to_numpy(float), mean, error.fillna(0.0), **shape)


def _limit(ax: Axes, table: Table, x: str) -> None:
    mean = table[table["similarity"] == BOUND[0]].groupby(x)["share"].mean()
    ax.plot(mean.index.to_numpy(float), mean, **LIMIT)


def _by_similarity(ax: Axes, table: Table, kind: str, looks: Looks) -> None:
    """Against the amount of one kind of corruption at the largest number of images, each similarity at its best."""
    amounts = table["corruption"].map(lambda start: corruptions.parts(start)[1])
    kinds = table["corruption"].map(lambda start: corruptions.parts(start)[0])
    rows = table.assign(amount=amounts)[(kinds == kind) & (table["patterns"] == table["patterns"].max())]
    single = _pairs_of_first_dynamics(rows)
    for similarity in _in_order(single, "similarity"):
        own = single[single["similarity"] == similarity]
        best = own.groupby("separation", sort=False)["share"].mean().idxmax()
        _plot_mean_share(ax, own[own["separation"] == best], "amount", looks[similarity] | {"label": similarity})
    _limit(ax, rows, "amount")
    ax.set(xlabel=HIDING[kind], ylabel=SHARE, ylim=(-0.03, 1.03))
    ax.set_title(rf"{labels.patterns(table['ensemble'].iloc[0])}, $M={table['patterns'].max()}$", loc="left")


def _pairs_of_first_dynamics(table: Table) -> Table:
    """Rows of pairs under the first dynamics, without the rows of the bound."""
    pairs = table[table["similarity"] != BOUND[0]]
    return pairs[pairs["dynamics"] == _in_order(pairs, "dynamics")[0]]


def _by_separation(ax: Axes, table: Table, looks: Looks) -> None:
    """Against the number of images, every separation with the similarity that is best for this task."""
    counts = table.groupby("corruption", sort=False)["patterns"].nunique()
    rows = table[table["corruption"] == counts.idxmax()]
    single = _pairs_of_first_dynamics(rows)
    similarity = single.groupby(["similarity", "separation"], sort=False)["share"].mean().idxmax()[0]
    own = single[single["similarity"] == similarity]
    for separation in _in_order(own, "separation"):
        look = looks[separation] | {"label": separation}
        _plot_mean_share(ax, own[own["separation"] == separation], "patterns", look)
    _limit(ax, rows, "patterns")
    ax.set(xscale="log", xlabel="stored images $M$", ylabel=SHARE, ylim=(-0.03, 1.03))
    ax.set_title(f"{corruptions.label(counts.idxmax())}: {similarity}", loc="left")


def _matrix(ax: Axes, table: Table) -> None:
    """Mean over all starts for every pair at the most images, percent. A second dynamics is in brackets."""
    means = 100 * overall(table)
    error = means.std(axis=1, ddof=1) / np.sqrt(means.count(axis=1))
    mean = means.mean(axis=1).droplevel("ensemble")
    rows = table[table["similarity"] != BOUND[0]]
    columns, lines = _in_order(rows, "similarity"), _in_order(rows, "separation")
    first, *more = _in_order(rows, "dynamics")
    grid = mean[first].unstack("similarity").reindex(index=lines, columns=columns).to_numpy(float)
    shades = ax.imshow(grid, cmap="cividis", vmin=0, vmax=100, aspect="auto")
    ax.figure.colorbar(shades, ax=ax, label="% retrieved", fraction=0.06, pad=0.02)
    for (i, j), value in np.ndenumerate(grid):
        text = "–" if np.isnan(value) else f"{value:.0f}"
        for other in more:
            again = mean[other].get((columns[j], lines[i])) if other in mean.index else None
            text += "" if again is None else f" ({again:.0f})"
        ax.text(j, i, text, ha="center", va="center", fontsize=8, color="black" if value > 45 else "white")
    ax.set_xticks(range(len(columns)), columns, rotation=30, ha="right", fontsize=8)
    ax.set_yticks(range(len(lines)), lines, fontsize=8)
    ax.grid(False)
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    ax.set_title("mean of all corruptions", loc="left")
    limit = mean.xs(BOUND[0], level="similarity").iloc[0]
    spread = "" if error.isna().all() else rf"$\pm${error.max():.1f} at most; "
    read = "".join([f"; {READ[first]}", *(f" ({READ[other]})" for other in more)])
    ax.set_xlabel(f"{spread}limit {limit:.0f}{read}", fontsize=8.5)
