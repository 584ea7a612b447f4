"""Summary of a comparison of separations: shares with errors over draws, and which pair leads by how much."""

from experiments.contract import Table
from experiments.separation.config import BOUND, PAIR, READINGS, TASK
from experiments.statistics.clusters import curves, standard_error
from experiments.statistics.columns import common_value, headline


def summarise(table: Table) -> dict:
    """Summary of a table of read-outs.

    Errors are standard errors over draws, of an ensemble as it is: draws of many images from few share some of them. A
    lead is that of the pair that came out first, so that one of less than two errors says nothing.

    results   for every task and pair the shares and the error, with errors, and the sharpness that was tuned: a list
              where the seeds of joined runs tuned different ones
    best      for every task and dynamics the pair that retrieves most, and its lead, draw by draw, over the best of
              another similarity and over the best of another separation with the same similarity
    ranking   for every ensemble and dynamics all pairs by the mean share retrieved over the starts at the largest M,
              and how far each is behind the first of them, draw by draw
    """
    table = table.assign(share=table["retrieved"] / table["queries"])
    ranking = _ranking(table)
    scalars = _scalars(ranking, table["dynamics"].iloc[0])
    return {"results": _results(table), "best": _leaders(table), "ranking": ranking, "scalars": scalars}


def _results(table: Table) -> list[dict]:
    names = ["sharpness_retrieved", "sharpness_error"]
    found = []
    for entry, rows in curves(table, [*TASK, *PAIR]):
        for name in ("retrieved", "identified", "close", "error"):
            values = rows[name] if name == "error" else rows[name] / rows["queries"]
            entry |= {name: float(values.mean()), f"{name}_stderr": standard_error(values)}
        found.append(entry | {name: common_value(rows[name].astype(float)) for name in names})
    return found


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
        entry |= {"retrieved": float(row.mean()), "retrieved_stderr": standard_error(row)}
        if entry["similarity"] != BOUND[0]:
            behind = means.loc[leaders[key[:2]]] - row
            entry |= {"behind": float(behind.mean()), "behind_stderr": standard_error(behind)}
        found.append(entry)
    places = {ensemble: i for i, ensemble in enumerate(table["ensemble"].unique())}
    return sorted(found, key=lambda e: (places[e["ensemble"]], READINGS.index(e["dynamics"]), -e["retrieved"]))


def _scalars(ranking: list[dict], first: str) -> dict[str, float]:
    """The limit, and every similarity and every separation with what suits it best, for one dynamics."""
    scalars: dict[str, float] = {}
    for entry in ranking:
        bound = entry["similarity"] == BOUND[0]
        if bound or entry["dynamics"] == first:
            for name in ["limit"] if bound else [entry["similarity"], entry["separation"]]:
                key = f"retrieved/{entry['ensemble']}/{name}"
                if key not in scalars:  # the ranking falls, so that the first is the best
                    scalars |= headline(key, entry["retrieved"], entry["retrieved_stderr"])
    return scalars
