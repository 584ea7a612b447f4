"""Figure of the training runs: test results with the baselines, learning and the entropy of heads against epochs."""

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.contract import Table
from experiments.figures.panels import LETTERS, log_axis
from experiments.figures.style import THEORY, panels, series
from experiments.statistics.clusters import standard_error
from experiments.training.config import BASELINES, KIND, RUN
from experiments.training.summary import best_rows

CURVES = {
    "loss": "validation loss",
    "effective": r"effective patterns $e^{H}$ per head",
    "beta": r"$\beta$, mean over heads",
    "condition": "condition number of the metric",
}


def plot(table: Table, summary: dict) -> Figure:
    """Test results, then a panel against epochs for each of CURVES: mean and range of the runs that were chosen.

    A run that diverged is in no mean: its own thin line ends in a cross at its last finite value, and the kind's label
    says how many seeds have no result.
    """
    rows = _runs(table)
    several = [name for name in KIND if rows[name].nunique() > 1] or ["task"]
    rows = rows.assign(kind=rows[several].astype(str).agg(", ".join, axis=1))
    learned = rows["condition"].max() > 1.0
    shown = {name: label for name, label in CURVES.items() if name != "condition" or learned}
    figure, axes = panels(1, 1 + len(shown), width=3.0 * (1 + len(shown)), height=3.6)
    looks = series(list(rows["kind"]))
    _results(axes[0, 0], table, several, looks)
    for ax, (column, label) in zip(axes[0, 1:], shown.items(), strict=True):
        for kind, group in rows.groupby("kind", sort=False):
            _course(ax, group, column, looks[str(kind)], str(kind))
        ax.set(xlabel="epoch", ylabel=label)
        if column in ("loss", "effective", "condition"):
            log_axis(ax, "y")
    for letter, ax in zip(LETTERS, axes[0], strict=False):
        ax.set_title(letter, loc="left")
    figure.legend(*axes[0, 1].get_legend_handles_labels(), loc="outside upper left", ncols=4)
    return figure


def _course(ax: Axes, group: Table, column: str, look: dict, label: str) -> None:
    """One kind of run against epochs: mean and range of the seeds that did not diverge, and every one that did."""
    each = group.groupby(["seed_index", "epoch"])[column].mean().unstack("epoch")
    lost = group.groupby("seed_index")["diverged"].any().loc[each.index].to_numpy(bool)
    values, color = each.to_numpy(float), look["color"]
    epochs, fine = np.arange(values.shape[1]), values[~lost]
    middle = fine.mean(axis=0) if len(fine) else np.full(len(epochs), np.nan)
    ax.plot(epochs, middle, color=color, linestyle=look["linestyle"], label=label)
    if len(fine):
        ax.fill_between(epochs, fine.min(axis=0), fine.max(axis=0), color=color, alpha=0.15, linewidth=0)
    for course in values[lost]:
        seen = np.flatnonzero(np.isfinite(course))
        ax.plot(epochs[seen], course[seen], color=color, linewidth=0.6)
        ax.plot(epochs[seen[-1:]], course[seen[-1:]], "x", color=color, markersize=6)


def _runs(table: Table) -> Table:
    """All epochs of the runs that validation chose. Epochs after a run's end repeat its last, unless it diverged."""
    rows = table[~table["layer"].isin(BASELINES)]
    rows = rows.merge(best_rows(rows)[RUN], on=RUN).copy()
    rows = rows[~(rows["diverged"].astype(bool) & rows["stopped"].astype(bool))]
    effective = rows.filter(regex=r"^effective_\d+$").mean(axis=1)
    return rows.assign(effective=effective, beta=rows.filter(regex=r"^beta_\d+$").mean(axis=1))


def _results(ax: Axes, table: Table, several: list[str], looks: dict) -> None:
    """Test accuracy of every kind and baseline: each seed, mean and error. It is the AUC without baselines.

    A kind with seeds that have no result has no mean either.
    """
    best = best_rows(table)
    real = best["layer"].isin(BASELINES).any()
    column = (
        "test_accuracy" if real or best.loc[~best["diverged"].astype(bool), "test_auc"].isna().any() else "test_auc"
    )
    labels = []
    for place, (kind, group) in enumerate(_lines(best, several)):
        values, layer = group[column].to_numpy(float), group["layer"].iloc[0]
        look = {"color": "0.45", "marker": "o"} if layer in BASELINES else looks[kind]
        ax.plot(values, np.full(len(values), place - 0.22), ".", color=look["color"], alpha=0.45, markersize=4)
        ax.errorbar(
            values.mean(), place, xerr=np.nan_to_num(standard_error(values)), color=look["color"], marker=look["marker"]
        )
        lost = int(group["diverged"].sum())
        label = kind if "layer" in several and layer not in BASELINES else f"{layer}, {kind}"
        labels.append(f"{label}\n({lost} of {len(group)} diverged)" if lost else label)
    ax.set_yticks(range(len(labels)), labels)
    ax.invert_yaxis()
    ax.axvline(1.0, **THEORY)
    ax.set(xlabel="test accuracy" if column == "test_accuracy" else "area under the ROC curve (test)")


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
