"""Figure of the training runs: test results with the baselines, learning and the entropy of heads against epochs."""

from typing import Any

import numpy as np

from experiments.contract import Summary, Table
from experiments.figures.panel import Axis, Panel, Series, band
from experiments.figures.style import series
from experiments.statistics.clusters import standard_error
from experiments.training.config import BASELINES, KIND, RUN
from experiments.training.summary import best_rows

CURVES = {
    "loss": ("learning", "validation loss", "log"),
    "effective": ("patterns that heads attend to", r"effective patterns $e^{H}$ per head", "log"),
    "beta": ("inverse temperature of heads", r"$\beta$, mean over heads", "linear"),
    "condition": ("learned metric", "condition number of the metric", "log"),
}


def panels(table: Table, summary: Summary) -> list[Panel]:
    """Test results, then a panel against epochs for each of CURVES: mean and range of the runs that were chosen.

    A run that diverged is in no mean: its own thin line ends in a cross at its last finite value, and the kind's label
    says how many seeds have no result.
    """
    rows = _runs(table)
    several = [name for name in KIND if rows[name].nunique() > 1] or ["task"]
    rows = rows.assign(kind=rows[several].astype(str).agg(", ".join, axis=1))
    looks, shown = series(list(rows["kind"])), []
    for column, (title, label, scale) in CURVES.items():
        if column != "condition" or rows["condition"].max() > 1.0:
            kinds = rows.groupby("kind", sort=False)
            found = [part for kind, group in kinds for part in _course(group, column, looks[str(kind)], str(kind))]
            shown.append(Panel(title, Axis("epoch"), Axis(label, scale), found))
    return [_results(table, several, looks), *shown]


def _course(group: Table, column: str, look: dict, label: str) -> list[Series]:
    """One kind of run against epochs: mean and range of the seeds that did not diverge, and every one that did."""
    each = group.groupby(["seed_index", "epoch"])[column].mean().unstack("epoch")
    lost = group.groupby("seed_index")["diverged"].any().loc[each.index].to_numpy(bool)
    values, color = each.to_numpy(float), look["color"]
    epochs, fine = np.arange(values.shape[1]), values[~lost]
    middle = fine.mean(axis=0) if len(fine) else np.full(len(epochs), np.nan)
    found = [Series(epochs, middle, color=color, linestyle=look["linestyle"], label=label)]
    if len(fine):
        found.append(band(epochs, fine.min(axis=0), fine.max(axis=0), color=color))
    for course in values[lost]:
        seen = np.flatnonzero(np.isfinite(course))
        found.append(Series(epochs[seen], course[seen], color=color, linestyle="-", linewidth=0.6))
        found.append(Series(epochs[seen[-1:]], course[seen[-1:]], color=color, marker="x", markersize=6))
    return found


def _runs(table: Table) -> Table:
    """All epochs of the runs that validation chose. Epochs after a run's end repeat its last, unless it diverged."""
    rows = table[~table["layer"].isin(BASELINES)]
    rows = rows.merge(best_rows(rows)[RUN], on=RUN).copy()
    rows = rows[~(rows["diverged"].astype(bool) & rows["stopped"].astype(bool))]
    effective = rows.filter(regex=r"^effective_\d+$").mean(axis=1)
    return rows.assign(effective=effective, beta=rows.filter(regex=r"^beta_\d+$").mean(axis=1))


def _results(table: Table, several: list[str], looks: dict) -> Panel:
    """Test accuracy of every kind and baseline: each seed, mean and error. It is the AUC without baselines.

    A kind with seeds that have no result has no mean either.
    """
    best = best_rows(table)
    real = best["layer"].isin(BASELINES).any()
    column = (
        "test_accuracy" if real or best.loc[~best["diverged"].astype(bool), "test_auc"].isna().any() else "test_auc"
    )
    names, found = [], []
    for place, (kind, group) in enumerate(_lines(best, several)):
        values, layer = group[column].to_numpy(float), group["layer"].iloc[0]
        look = {"color": "0.45", "marker": "o"} if layer in BASELINES else looks[kind]
        dots = {"color": look["color"], "marker": ".", "alpha": 0.45, "markersize": 4}
        found.append(Series(values, np.full(len(values), place - 0.22), **dots))
        mean: Any = {"color": look["color"], "marker": look["marker"]}
        found.append(Series([values.mean()], [place], x_error=standard_error(values), **mean))
        lost = int(group["diverged"].sum())
        label = kind if "layer" in several and layer not in BASELINES else f"{layer}, {kind}"
        names.append(f"{label}\n({lost} of {len(group)} diverged)" if lost else label)
    words = "test accuracy" if column == "test_accuracy" else "area under the ROC curve (test)"
    x = Axis(words, limits=(None, 1.002 if best[column].max() > 0.95 else None))
    y = Axis("", limits=(len(names) - 0.4, -0.6), ticks=list(enumerate(names)))
    return Panel("test results: mean, error and every seed", x, y, found)


def _lines(best: Table, several: list[str]) -> list[tuple[str, Table]]:
    """Kinds of run and baselines, task by task."""
    found = []
    for _, rows in best.groupby("task", sort=False):
        mine = rows[~rows["layer"].isin(BASELINES)]
        for _, group in mine.groupby(KIND, sort=False):
            found.append((", ".join(str(group[name].iloc[0]) for name in several), group))
        for baseline in BASELINES:
            group = rows[rows["layer"] == baseline]
            if len(group):
                found.append((str(group["task"].iloc[0]), group))
    return found
