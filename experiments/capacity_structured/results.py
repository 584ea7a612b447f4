"""Results of the capacity for structured patterns: critical loads against correlation, and features retained."""

from typing import cast

import numpy as np
import pandas

from experiments.contract import Table
from experiments.figures import labels
from experiments.figures.panel import SHARE, Axis, Panel, Series, guide, shares, upright
from experiments.figures.style import series
from experiments.shared import convergence
from experiments.statistics.clusters import by_group, means_by_group
from experiments.statistics.columns import headline
from experiments.statistics.thresholds import critical_load
from hopfield.theory import classical

CURVE = ["memory", "ensemble", "neurons"]


def learning_load(ratio: float, bound: float | None = None) -> float:
    """Load from which Hebb's rule retains features, δ = D/N, where crosstalk up to `bound` is borne; 0.138 if None.

    By signal to noise; infinite for δ above the bound.
    """
    borne = float(classical.spinodal().load) if bound is None else bound
    return float(np.pi / 2 * ratio * (1 + np.pi / 2 * ratio) / (borne - ratio)) if ratio < borne else float("inf")


def summarise(table: Table) -> dict:
    """Loads at which half are retained with the correlation of patterns there, and those of features with theory."""
    critical, learned, scalars = [], [], {}
    for key, rows in table.groupby(CURVE, sort=False):
        curve = dict(zip(CURVE, cast(tuple, key), strict=True))
        cluster = rows["patterns"].astype(str) + "/" + rows["sample"].astype(str)
        found = critical_load(rows["load"], rows["retained"], rows["queries"], cluster)
        entry = {"load": found.value, "stderr": found.stderr, "method": found.method, "reason": found.reason}
        entry["step_limit_share"] = convergence.cut_share(rows, "load", found.value)
        critical.append(curve | entry | _at(found.value, rows, "correlation") | _at(found.value, rows, "separation"))
        name = "/".join(["critical_load", curve["memory"], curve["ensemble"], f"N={curve['neurons']}"])
        scalars |= headline(name, found.value, found.stderr) if found.found else {}
        if rows["features_asked"].sum() and curve["memory"] == "classical":
            begun = critical_load(rows["load"], rows["features_retained"], rows["features_asked"], cluster)
            entry = {"load": begun.value, "stderr": begun.stderr, "ratio": rows["features"].iloc[0] / curve["neurons"]}
            learned.append(curve | entry | {"reason": begun.reason})
    for entry in learned:
        alike = {"memory": "classical", "ensemble": "random", "neurons": entry["neurons"]}
        borne = next((found["load"] for found in critical if alike.items() <= found.items()), None)
        entry |= {"theory": learning_load(entry["ratio"], borne), "limit": learning_load(entry["ratio"])}
        if np.isfinite(entry["load"]):
            name = "features/{ensemble}/N={neurons}".format(**entry)
            scalars |= headline(name, entry["load"], entry["stderr"], theory=entry["theory"])
    plain = lambda rows: pandas.DataFrame(rows).astype(object).replace({np.nan: None, np.inf: None}).to_dict("records")
    scalars["step_limit_share"] = convergence.cut_share(table)
    return {"critical_load": plain(critical), "features": plain(learned) if learned else [], "scalars": scalars}


def _at(load: float, rows: Table, name: str) -> dict[str, float]:
    """Mean of a column at a load, with its error, between measured loads linear in 1/M, as shares of siblings are."""
    means = means_by_group(rows, "load", name, "sample").sort_values("load", ascending=False)
    read = lambda column: float(np.interp(1 / load, 1 / means["load"], means[column]))
    return {name: read("mean"), f"{name}_stderr": read("stderr")}


def panels(table: Table, summary: dict) -> list[Panel]:
    """Shares retained by ensemble, critical loads against correlation, and features retained."""
    size, looks = table["neurons"].max(), series(list(dict.fromkeys(table["ensemble"])))
    shown = []
    for memory, rows in table[table["neurons"] == size].groupby("memory", sort=False):
        title = f"{labels.memory(str(memory))}, $N={size}$"
        shown.append(_shares(rows, "retained", "queries", title, "patterns retained ($m > 0.8$)", looks))
    shown.append(_against_correlation(summary, size, looks))
    rows = table[(table["neurons"] == size) & (table["memory"] == "classical") & (table["features_asked"] > 0)]
    if len(rows):
        panel = _shares(rows, "features_retained", "features_asked", f"features, classical, $N={size}$", "", looks)
        panel.y.label = "features retained, never stored"
        for entry in summary["features"]:
            if entry["neurons"] == size and entry["theory"] and entry["theory"] <= table["load"].max():
                color = looks[entry["ensemble"]]["color"]
                panel.series = [*panel.series, upright(entry["theory"], color=color, linestyle=":")]
        panel.legend = "dotted: signal to noise at that $N$"
        shown.append(panel)
    return shown


def _shares(rows: Table, counted: str, asked: str, title: str, words: str, looks: dict) -> Panel:
    cluster = rows["patterns"].astype(str) + "/" + rows["sample"].astype(str)
    found = by_group(rows.assign(cluster=cluster), ["ensemble", "load"], counted, asked, "cluster")
    y = Axis(words, limits=SHARE)
    return Panel(title, Axis("load"), y, [*shares(found, "load", by="ensemble", looks=looks), guide(0.5)])


def _against_correlation(summary: dict, size: int, looks: dict) -> Panel:
    critical: Table = pandas.DataFrame(summary["critical_load"])
    critical = critical[critical["neurons"] == size].dropna(subset=["load"])
    several, found = critical["memory"].nunique() > 1, []
    for row in critical.to_dict("records"):
        label = f"{labels.memory(row['memory'])}, {row['ensemble']}" if several else row["ensemble"]
        look = looks[row["ensemble"]] | {"linestyle": ""}
        found.append(Series([row["correlation"]], [row["load"]], [row["stderr"]], label=label, **look))
    x = Axis(r"$N\,\langle m_{\mu\nu}^2\rangle$ of two patterns at that load", "log")
    return Panel(f"half retained, $N={size}$", x, Axis("critical load", "log"), found)
