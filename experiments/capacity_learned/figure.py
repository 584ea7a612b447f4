"""Figure of learned memories: error against the number of patterns for every task, growth, overfitting and time."""

from functools import partial
from typing import Any

import numpy as np
import pandas
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from experiments.capacity_learned.config import BEFORE, KIND, LEARNED, LEVEL, Kind
from experiments.contract import Table
from experiments.figures.panels import fill, legend, log_axis, point_style, theory_style
from experiments.figures.style import panels, series
from experiments.statistics.clusters import standard_error

LEAST = 1e-3
"""Error below which points are drawn at this one."""
COLUMNS = 3


def plot(table: Table, summary: dict) -> Figure:
    """Error against M for every task with the last optimiser, linear weights, growth, overfitting, error and time."""
    table, tasks = _with_names(table), list(dict.fromkeys(table["task"]))
    usual = table[
        (table["separation"] == table["separation"].iloc[0]) & (table["dynamics"] == table["dynamics"].iloc[0])
    ]
    looks = series(list(dict.fromkeys(usual["name"])))
    drawn = [partial(_loads, table=usual[usual["task"] == task], looks=looks) for task in tasks]
    drawn += [partial(_linear, table=table)] if "linear" in set(table["separation"]) else []
    drawn += [partial(_growth, summary=summary, tasks=tasks, looks=looks)]
    learns = usual["metric"].isin(LEARNED)
    drawn += [partial(_plot_all_ratios, summary=summary, task=tasks[0])] if table["metric"].isin(LEARNED).any() else []
    fewer = len({entry["draws"] for entry in summary["overfit"]}) > 1
    drawn += [partial(_overfit, summary=summary)] if fewer else []
    drawn += [partial(_times, table=usual[learns])] if learns.any() else []
    figure, axes = panels(-(-len(drawn) // COLUMNS), COLUMNS, width=4.2 * COLUMNS, height=3.6)
    fill(axes.ravel(), drawn)
    handles, words = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, words, loc="outside upper left", ncols=5, fontsize=8.5)
    return figure


def _with_names(table: Table) -> Table:
    """Table with a column `name`: similarity, metric and separation of each row as one text."""
    return table.assign(name=[str(Kind(*parts)) for parts in table[KIND].itertuples(index=False)])


def _loads(ax: Axes, table: Table, looks: dict[str, Any]) -> None:
    """Error on fresh draws against M. The first memory before learning is grey."""
    fresh = table[(table["data"] == "fresh") & (table["strength"] == 1.0) & (table["draws"] == table["draws"].max())]
    last, name = fresh["optimiser"].iloc[-1], fresh["name"].iloc[0]
    before = fresh[(fresh["name"] == name) & (fresh["optimiser"] == BEFORE)].groupby("patterns")["error"].mean()
    ax.plot(before.index.to_numpy(float), before.clip(lower=LEAST), color="0.6", label=f"{name} before")
    for name, rows in fresh[fresh["optimiser"] == last].groupby("name", sort=False):
        by = rows.groupby("patterns")["error"]
        mean, error = by.mean(), by.agg(standard_error).fillna(0.0)
        ax.errorbar(
            mean.index.to_numpy(float), mean.clip(lower=LEAST), error, **point_style(looks[str(name)], label=name)
        )
    ax.axhline(LEVEL, **theory_style(label="level of held"))
    log_axis(ax)
    ax.set(yscale="log", ylim=(LEAST / 1.3, 2.0), xlabel="patterns $M$", ylabel="error of the answer")
    ax.set_title(f"{fresh['task'].iloc[0]}", loc="left")


def _linear(ax: Axes, table: Table) -> None:
    """Errors of linear weights, on the task with their least mean error."""
    rows = table[table["separation"] == "linear"]
    task = rows[rows["data"] == "fresh"].groupby("task", sort=False)["error"].mean().idxmin()
    rows = rows[rows["task"] == task]
    _loads(ax, rows, series(list(dict.fromkeys(rows["name"]))))
    ax.set(ylim=(LEVEL / 10, 2.0))
    legend(ax, ncols=2)


def _final_growth(summary: dict) -> Table:
    """Growth over the identity of memories that learned from all draws, by the last optimiser."""
    growth = _with_names(pandas.DataFrame(summary["growth"]))
    last = growth["optimiser"].iloc[-1]
    return growth[(growth["draws"] == growth["draws"].max()) & (growth["optimiser"] == last)]


def _growth(ax: Axes, summary: dict, tasks: list[str], looks: dict[str, Any]) -> None:
    """Number of patterns held over the number held by the identity metric. Bounds have open markers."""
    chosen = _final_growth(summary)
    chosen = chosen[(chosen["over"] == "identity") & chosen["name"].isin(list(looks))]
    places = {name: i for i, name in enumerate(dict.fromkeys(chosen["name"]))}
    for _, row in chosen.iterrows():
        y = tasks.index(row["task"]) + (places[row["name"]] + 0.5) / len(places) * 0.8 - 0.4
        _ratio(ax, row, y, looks[row["name"]])
    ax.set(ylim=(len(tasks) - 0.4, -0.6))
    ax.set_yticks(range(len(tasks)), tasks, fontsize=7.5)
    _ratios(ax, "metric learned (open: a bound)")


def _plot_all_ratios(ax: Axes, summary: dict, task: str) -> None:
    """Ratios of all that is learned on the first task: over the identity, and over the same before learning."""
    chosen = _final_growth(summary)
    chosen = chosen[(chosen["task"] == task) & chosen["metric"].isin(LEARNED)]
    names = list(dict.fromkeys(chosen["name"]))
    for (over, look), shift in zip(series(["identity", "before"]).items(), (-0.15, 0.15), strict=True):
        for _, row in chosen[chosen["over"] == over].iterrows():
            _ratio(ax, row, names.index(row["name"]) + shift, look)
        dots: Any = look | {"linestyle": "none"}
        ax.plot([], [], **dots, label=f"over {over}")
    ax.set(ylim=(len(names) - 0.4, -0.6))
    ax.set_yticks(range(len(names)), names, fontsize=6.5)
    _ratios(ax, task)
    legend(ax)


def _ratio(ax: Axes, row: pandas.Series, y: float, look: dict[str, Any]) -> None:
    shape: dict[str, Any] = (
        look | {"linestyle": "none"} | ({"markerfacecolor": "white"} if isinstance(row["bounds"], str) else {})
    )
    ax.errorbar(row["ratio"], y, xerr=np.nan_to_num(row["ratio_stderr"]), **point_style(shape))


def _ratios(ax: Axes, title: str) -> None:
    ax.axvline(1.0, **theory_style())
    log_axis(ax)
    ax.set(xlabel="ratio of patterns held")
    ax.set_title(title, loc="left")


def _overfit(ax: Axes, summary: dict) -> None:
    """Error of the last optimiser on fresh draws and on the training draws, against the number of training draws."""
    found = _with_names(pandas.DataFrame(summary["overfit"]))
    found = found[found["optimiser"] == found["optimiser"].iloc[-1]]
    varied = found[found.groupby(["task", "name"])["draws"].transform("nunique") > 1]
    several = varied["name"].nunique() > 1
    labels = (varied["task"] + (" " + varied["name"] if several else "")).tolist()
    for label, look in series(labels).items():
        rows = varied[[own == label for own in labels]].sort_values("draws")
        ax.errorbar(rows["draws"], rows["fresh"], rows["fresh_stderr"].fillna(0.0), **point_style(look, label=label))
        ax.plot(rows["draws"], rows["seen"], color=look["color"], linestyle=":", linewidth=1.2)
    ax.plot([], [], color="0.4", linestyle=":", label="on the draws learned from")
    log_axis(ax)
    ax.set(yscale="log", xlabel="draws learned from", ylabel=f"error at $M={summary['stored']}$")
    ax.set_title("overfitting" + ("" if several else f": {varied['name'].iloc[0]}"), loc="left")
    legend(ax, ncols=2, fontsize=7)


def _times(ax: Axes, table: Table) -> None:
    """Error against the seconds of a training, each memory and task by each optimiser."""
    trained = table[
        (table["optimiser"] != BEFORE) & (table["data"] == "seen") & (table["draws"] == table["draws"].max())
    ]
    for optimiser, look in series(list(dict.fromkeys(trained["optimiser"]))).items():
        by = trained[trained["optimiser"] == optimiser].groupby(["task", "name"])[["seconds", "further_error"]].mean()
        dots: Any = look | {"linestyle": "none"}
        ax.plot(by["seconds"], by["further_error"].clip(lower=LEAST), label=optimiser, **dots)
    ax.set(xscale="log", yscale="log", xlabel="seconds of a training", ylabel="error on further draws")
    ax.set_title("learned metrics, equal steps", loc="left")
    legend(ax)
