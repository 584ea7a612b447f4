"""Results of the capacity for structured patterns: critical loads against correlation, and features retained."""

from typing import cast

import numpy as np

from experiments.contract import Row, Summary, Table
from experiments.figures import labels
from experiments.figures.panel import SHARE, Axis, Panel, Series, guide, shares, upright
from experiments.figures.style import series
from experiments.shared import convergence
from experiments.statistics.clusters import by_group, means_by_group
from experiments.statistics.thresholds import critical_load
from hopfield.theory import classical

CURVE = ["memory", "ensemble", "neurons"]


def learning_load(ratio: float, bound: float | None = None) -> float:
    """Load from which Hebb's rule retains features, δ = D/N, where crosstalk up to `bound` is borne; 0.138 if None.

    By signal to noise; infinite for δ above the bound.
    """
    borne = float(classical.spinodal().load) if bound is None else bound
    return float(np.pi / 2 * ratio * (1 + np.pi / 2 * ratio) / (borne - ratio)) if ratio < borne else float("inf")


def summarise(table: Table) -> Summary:
    """Loads at which half are retained with the correlation of patterns there, and features' loads with theory."""
    critical, learned = list[Row](), list[Row]()
    alike: list[Row] = []
    for key, rows in table.groupby(CURVE, sort=False):
        curve = dict(zip(CURVE, cast(tuple, key), strict=True))
        cluster = rows["patterns"].astype(str) + "/" + rows["sample"].astype(str)
        found = critical_load(rows["load"], rows["retained"], rows["queries"], cluster)
        draws = {"samples": rows["sample"].nunique()}
        entry = draws | {"value": found.value, "stderr": found.stderr, "fit": found.method, "headline": found.found}
        entry["cut"] = convergence.cut_share(rows, "load", found.value)
        critical.append(
            {"quantity": CRITICAL, **curve, **entry} | ({} if found.found else {"value": None, "stderr": None})
        )
        for name, quantity in (("correlation", ALIKE), ("separation", APART)):
            there = _at(found.value, found.stderr, rows, name) if found.found else {"value": None, "stderr": None}
            alike.append({"quantity": quantity, **curve, **there, **draws})
        if rows["features_asked"].sum() and curve["memory"] == "classical":
            begun = critical_load(rows["load"], rows["features_retained"], rows["features_asked"], cluster)
            ratio = rows["features"].iloc[0] / curve["neurons"]
            entry = {"value": begun.value, "stderr": begun.stderr, **draws, "ratio": ratio}
            learned.append({"quantity": FEATURES, **curve, **entry})
    for entry in learned:
        ratio, random = entry.pop("ratio"), {"memory": "classical", "ensemble": "random", "neurons": entry["neurons"]}
        borne = next((found["value"] for found in critical if random.items() <= found.items()), None)
        entry |= {"theory": _finite(learning_load(ratio, borne)), "limit": _finite(learning_load(ratio))}
        entry |= {"kind": "signal to noise", "headline": bool(np.isfinite(entry["value"]))}
        entry["value"] = _finite(entry["value"])
    return Summary([*critical, *learned, *convergence.cut_estimates(table), *alike])


CRITICAL, FEATURES = "critical load", "critical load of features"
ALIKE, APART = "correlation of patterns at the critical load", "separation at the critical load"


def _at(load: float, error: float, rows: Table, name: str) -> Row:
    """Mean of a column at a load, between measured loads linear in 1/M, as shares of siblings are.

    Its error is the mean's together with what the error of the load moves it by.
    """
    means = means_by_group(rows, "load", name, "sample").sort_values("load", ascending=False)
    read = lambda column, load: float(np.interp(1 / load, 1 / means["load"], means[column]))
    low, high = (read("mean", max(load + sign * error, means["load"].min())) for sign in (-1, 1))
    return {"value": read("mean", load), "stderr": float(np.hypot(read("stderr", load), (high - low) / 2))}


def _finite(value: float | None) -> float | None:
    return None if value is None or not np.isfinite(value) else value


def panels(table: Table, summary: Summary) -> list[Panel]:
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
        known = summary.of(FEATURES, neurons=size).reindex(columns=["ensemble", "theory"])
        for ensemble, load in known[known["theory"] <= table["load"].max()].itertuples(index=False):
            panel.series = [*panel.series, upright(load, color=looks[ensemble]["color"], linestyle=":")]
        panel.legend = "dotted: signal to noise at that $N$"
        shown.append(panel)
    return shown


def _shares(rows: Table, counted: str, asked: str, title: str, words: str, looks: dict) -> Panel:
    cluster = rows["patterns"].astype(str) + "/" + rows["sample"].astype(str)
    found = by_group(rows.assign(cluster=cluster), ["ensemble", "load"], counted, asked, "cluster")
    y = Axis(words, limits=SHARE)
    return Panel(title, Axis("load", "log"), y, [*shares(found, "load", by="ensemble", looks=looks), guide(0.5)])


def _against_correlation(summary: Summary, size: int, looks: dict) -> Panel:
    alike = summary.of(ALIKE)[[*CURVE, "value", "stderr"]]
    critical = summary.of(CRITICAL, neurons=size).merge(alike, on=CURVE, suffixes=("", "_alike"))
    several, found = critical["memory"].nunique() > 1, []
    for row in critical.dropna(subset=["value"]).to_dict("records"):
        label = f"{labels.memory(row['memory'])}, {row['ensemble']}" if several else row["ensemble"]
        look = looks[row["ensemble"]] | {"linestyle": ""}
        place, error, apart = row["value_alike"], row["stderr"], row["stderr_alike"]
        found.append(Series([place], [row["value"]], [error], [apart], label=label, **look))
    x = Axis(r"$N\langle m^2\rangle$ of two patterns at the critical load", "log")
    return Panel(f"half retained, $N={size}$", x, Axis("critical load", "log"), found)
