"""Figure of a comparison of separations: for each ensemble of images, by similarity, by separation, all pairs."""

from typing import Any

import numpy as np

from experiments.contract import Table
from experiments.figures import labels
from experiments.figures.panel import SHARE, Axis, Panel, Series, curves, heat, theory_line
from experiments.figures.style import series
from experiments.separation.config import BOUND
from experiments.separation.summary import overall
from experiments.shared import corruptions
from experiments.statistics.clusters import means_by_group

HIDING = {"mask": "fraction masked at random", "lower": "fraction masked from below", "noise": r"noise $\sigma$"}
LIMIT = "limit, told what is hidden"
RETRIEVED = "share retrieved"
READ = {"single": "read once", "iterated": "iterated"}
MOST = 8
"""Panels at most: the ensembles after the first have those that there is room for, the last ones first."""
Looks = dict[str, dict[str, Any]]


def panels(table: Table, summary: dict) -> list[Panel]:
    """Against masks and noise by similarity, against the number of images by separation, and all pairs."""
    table = table.assign(share=table["retrieved"] / table["queries"])
    kinds = [kind for kind in HIDING if kind in {corruptions.parts(start)[0] for start in table["corruption"]}]
    ensembles = _in_order(table, "ensemble")
    pairs = table[table["similarity"] != BOUND[0]]
    similarities, separations = (series(_in_order(pairs, name)) for name in ("similarity", "separation"))
    shown, room = [], MOST // len(ensembles)
    for ensemble in ensembles:
        rows = table[table["ensemble"] == ensemble]
        drawn = [_by_similarity(rows, kind, similarities) for kind in kinds]
        shown += [*drawn, _by_separation(rows, separations), _matrix(rows)][-room:]
    return shown


def _in_order(table: Table, column: str) -> list:
    return list(table[column].unique())


def _curves(rows: Table, x: str, by: str, looks: Looks) -> list[Series]:
    """Mean share over draws with its standard error."""
    means = means_by_group(rows, [by, x], "share", "sample")
    thin = {name: look | {"linewidth": 1.2} for name, look in looks.items()}
    return curves(means, x, "mean", by=by, looks=thin)


def _limit(table: Table, x: str) -> list[Series]:
    mean = table[table["similarity"] == BOUND[0]].groupby(x)["share"].mean()
    return [theory_line(mean.index, mean, LIMIT)] if len(mean) else []


def _by_similarity(table: Table, kind: str, looks: Looks) -> Panel:
    """Against the amount of one kind of corruption at the largest number of images, each similarity at its best."""
    amounts = table["corruption"].map(lambda start: corruptions.parts(start)[1])
    kinds = table["corruption"].map(lambda start: corruptions.parts(start)[0])
    rows = table.assign(amount=amounts.astype(float))[(kinds == kind) & (table["patterns"] == table["patterns"].max())]
    single = _pairs_of_first_dynamics(rows)
    means = single.groupby(["similarity", "separation"], sort=False, as_index=False)["share"].mean()
    best = means.loc[means.groupby("similarity", sort=False)["share"].idxmax(), ["similarity", "separation"]]
    found = [*_curves(single.merge(best), "amount", "similarity", looks), *_limit(rows, "amount")]
    title = rf"{labels.patterns(table['ensemble'].iloc[0])}, $M={table['patterns'].max()}$"
    legend = "similarity, each with its best separation"
    return Panel(title, Axis(HIDING[kind]), Axis(RETRIEVED, limits=SHARE), found, legend=legend)


def _pairs_of_first_dynamics(table: Table) -> Table:
    """Rows of pairs under the first dynamics, without the rows of the bound."""
    pairs = table[table["similarity"] != BOUND[0]]
    return pairs[pairs["dynamics"] == _in_order(pairs, "dynamics")[0]]


def _by_separation(table: Table, looks: Looks) -> Panel:
    """Against the number of images, every separation with the similarity that is best for this task."""
    counts = table.groupby("corruption", sort=False)["patterns"].nunique()
    rows = table[table["corruption"] == counts.idxmax()]
    single = _pairs_of_first_dynamics(rows)
    similarity = single.groupby(["similarity", "separation"], sort=False)["share"].mean().idxmax()[0]
    own = single[single["similarity"] == similarity]
    found = [*_curves(own, "patterns", "separation", looks), *_limit(rows, "patterns")]
    title = f"{labels.patterns(table['ensemble'].iloc[0])}, {corruptions.label(counts.idxmax())}, {similarity}"
    x, y = Axis("stored images $M$", "log"), Axis(RETRIEVED, limits=SHARE)
    return Panel(title, x, y, found, legend="separation, with the best similarity")


def _matrix(table: Table) -> Panel:
    """Mean over all starts for every pair at the most images, percent. A second dynamics is in brackets."""
    means = 100 * overall(table)
    error = means.std(axis=1, ddof=1) / np.sqrt(means.count(axis=1))
    mean = means.mean(axis=1).droplevel("ensemble")
    rows = table[table["similarity"] != BOUND[0]]
    columns, lines = _in_order(rows, "similarity"), _in_order(rows, "separation")
    first, *more = _in_order(rows, "dynamics")
    grid = mean[first].unstack("similarity").reindex(index=lines, columns=columns)

    def text(separation: str, similarity: str) -> str:
        value = grid.loc[separation, similarity]
        again = [mean[other].get((similarity, separation)) for other in more if other in mean.index]
        return ("–" if np.isnan(value) else f"{value:.0f}") + "".join(f" ({v:.0f})" for v in again if v is not None)

    limit = mean.xs(BOUND[0], level="similarity").iloc[0]
    spread = "" if error.isna().all() else rf"$\pm${error.max():.1f} at most; "
    read = "".join([f"; {READ[first]}", *(f" ({READ[other]})" for other in more)])
    texts = [[text(separation, similarity) for similarity in columns] for separation in lines]
    title = f"{labels.patterns(table['ensemble'].iloc[0])}: mean of all corruptions"
    look = {"label": "% retrieved", "limits": (0, 100), "texts": texts}
    return heat(grid, Axis(f"{spread}limit {limit:.0f}{read}"), Axis(""), title, **look)
