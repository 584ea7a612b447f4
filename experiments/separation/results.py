"""Results of a comparison of separations: shares with errors over draws, and which pair leads by how much."""

from typing import Any

import numpy as np
import pandas

from experiments.contract import Row, Summary, Table
from experiments.figures import labels, panel
from experiments.figures.panel import SHARE, Axis, Panel, Series, heat, theory_line
from experiments.figures.style import ordered, series
from experiments.separation.config import BOUND, PAIR, READINGS, TASK
from experiments.shared import corruptions
from experiments.statistics.clusters import curves, means_by_group, standard_error
from experiments.statistics.columns import common_value
from experiments.statistics.estimates import tidy


def summarise(table: Table) -> Summary:
    """Summary of a table of read-outs.

    Errors are standard errors over draws, of an ensemble as it is: draws of many images from few share some of them. A
    lead belongs to the pair that came out first, so that one of less than two errors says nothing.

    Estimates are the shares and the error of every task and pair, and for every ensemble and dynamics all pairs by the
    mean share retrieved over the starts at the largest M, and how far each is behind the first of them, draw by draw.

    best       for every task and dynamics the pair that retrieves most, and its lead, draw by draw, over the best of
               another similarity and over the best of another separation with the same similarity
    sharpness  what was tuned for every task and pair: a list where the seeds of joined runs tuned different ones
    """
    table = table.assign(share=table["retrieved"] / table["queries"])
    ranking = _ranking(table)
    of = [*TASK, *PAIR]
    estimates = _told(ranking, table["dynamics"].iloc[0])
    estimates += tidy(
        pandas.DataFrame(ranking),
        ["ensemble", *PAIR],
        {"retrieved": "share retrieved, all starts", "behind": "behind the first"},
    )
    estimates += tidy(
        pandas.DataFrame(_results(table)), of, {name: f"share {name}" for name in SHARES} | {"error": "error"}
    )
    return Summary(estimates, more={"best": _leaders(table), "sharpness": _sharpness(table)})


def _results(table: Table) -> list[dict]:
    found = []
    for entry, rows in curves(table, [*TASK, *PAIR]):
        entry["clusters"] = len(rows)
        for name in (*SHARES, "error"):
            values = rows[name] if name == "error" else rows[name] / rows["queries"]
            entry |= {name: float(values.mean()), f"{name}_stderr": standard_error(values)}
        found.append(entry)
    return found


def _sharpness(table: Table) -> list[dict]:
    """Sharpness that was tuned for every task and pair: a list where the seeds of joined runs tuned different ones."""
    names = ["sharpness_retrieved", "sharpness_error"]
    tuned = curves(table, [*TASK, *PAIR])
    return [entry | {name: common_value(rows[name].astype(float)) for name in names} for entry, rows in tuned]


SHARES = ("retrieved", "identified", "close")


def _leaders(table: Table) -> list[dict]:
    """Leads by task. A lead is a difference on the same draws and queries, where common fluctuations cancel."""
    found = []
    for task, rows in curves(table[table["similarity"] != BOUND[0]], [*TASK, "dynamics"]):
        shares = rows.pivot(index="sample", columns=["similarity", "separation"], values="share")
        found.append(task | _leader(shares))
    return found


def _leader(shares: Table) -> dict:
    """The column of the largest mean in a table [draws, pairs], and its leads over the best with one part replaced."""
    order = shares.mean().sort_values(ascending=False, kind="stable").index
    best = order[0]
    entry = {"similarity": best[0], "separation": best[1], "retrieved": float(shares[best].mean())}
    entry["retrieved_stderr"] = standard_error(shares[best])
    rivals = {
        "similarity": [pair for pair in order if pair[0] != best[0]],
        "separation": [pair for pair in order if pair[0] == best[0] and pair[1] != best[1]],
    }
    for part, others in rivals.items():
        if others:
            lead = shares[best] - shares[others[0]]
            entry |= {f"next_{part}": "/".join(others[0])}
            entry |= {f"{part}_lead": float(lead.mean()), f"{part}_lead_stderr": standard_error(lead)}
    return entry


def overall(table: Table) -> Table:
    """Mean over the starts at the largest number of images [draw × (ensemble, dynamics, similarity, separation)].

    Within a draw all starts share their stored images, so that a draw is one cluster.
    """
    largest = table[table["patterns"] == table["patterns"].max()]
    shares = largest["retrieved"] / largest["queries"]
    return (
        shares.groupby([largest[name] for name in ("ensemble", *PAIR, "sample")], sort=False).mean().unstack("sample")
    )


def _ranking(table: Table) -> list[dict]:
    means = overall(table)
    leaders = (
        means[means.index.get_level_values("similarity") != BOUND[0]]
        .mean(axis=1)
        .groupby(level=["ensemble", "dynamics"])
        .idxmax()
    )
    found = []
    for key, row in means.iterrows():
        entry = dict(zip(["ensemble", *PAIR], key, strict=True))
        entry |= {"retrieved": float(row.mean()), "retrieved_stderr": standard_error(row), "clusters": len(row)}
        if entry["similarity"] != BOUND[0]:
            behind = means.loc[leaders[key[:2]]] - row
            entry |= {"behind": float(behind.mean()), "behind_stderr": standard_error(behind)}
        found.append(entry)
    places = {ensemble: i for i, ensemble in enumerate(table["ensemble"].unique())}
    return sorted(found, key=lambda e: (places[e["ensemble"]], READINGS.index(e["dynamics"]), -e["retrieved"]))


def _told(ranking: list[dict], first: str) -> list[Row]:
    """The limit, and every similarity and every separation with what suits it best, for one dynamics."""
    told: dict[tuple, Row] = {}
    for entry in ranking:
        bound = entry["similarity"] == BOUND[0]
        if bound or entry["dynamics"] == first:
            for name in ["limit"] if bound else [entry["similarity"], entry["separation"]]:
                about = {"quantity": "retrieved", "ensemble": entry["ensemble"], "part": name}
                mean = {"value": entry["retrieved"], "stderr": entry["retrieved_stderr"], "samples": entry["clusters"]}
                # the ranking falls, so that the first is the best
                told.setdefault((entry["ensemble"], name), {**about, **mean, "headline": True})
    return list(told.values())


HIDING = {"mask": "fraction masked at random", "lower": "fraction masked from below", "noise": r"noise $\sigma$"}
LIMIT = "limit, told what is hidden"
RETRIEVED = "share retrieved"
READ = {"single": "read once", "iterated": "iterated"}
MOST = 8
"""Panels at most: the ensembles after the first have those that there is room for, the last ones first."""
Looks = dict[str, dict[str, Any]]


def panels(table: Table, summary: Summary) -> list[Panel]:
    """Against masks and noise by similarity, against the number of images by separation, and all pairs."""
    table = table.assign(share=table["retrieved"] / table["queries"])
    kinds = [kind for kind in HIDING if kind in {corruptions.parts(start)[0] for start in table["corruption"]}]
    ensembles = _in_order(table, "ensemble")
    pairs = table[table["similarity"] != BOUND[0]]
    similarities, separations = series(_in_order(pairs, "similarity")), ordered(_in_order(pairs, "separation"))
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
    return panel.curves(means, x, "mean", by=by, looks=thin)


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
    error = means.apply(lambda draws: standard_error(draws.dropna()), axis=1)
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
