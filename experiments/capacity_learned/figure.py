"""Figure of learned memories: error against the number of patterns for every task, growth, overfitting and time."""

from typing import Any

import pandas

from experiments.capacity_learned.config import BEFORE, KIND, LEARNED, LEVEL, Kind
from experiments.contract import Table
from experiments.figures.panel import Axis, Panel, Series, curves, entry, level, upright
from experiments.figures.style import series
from experiments.statistics.clusters import means_by_group

LEAST = 1e-3
"""Error at which points of smaller ones are drawn, as open triangles."""
TASKS = 4
"""Tasks shown, evenly spaced in the order of the options: the others are in the table."""


def panels(table: Table, summary: dict) -> list[Panel]:
    """Error against M for a few tasks with the last optimiser, linear weights, growth, overfitting, error and time."""
    table, tasks = _with_names(table), list(dict.fromkeys(table["task"]))
    usual = table[
        (table["separation"] == table["separation"].iloc[0]) & (table["dynamics"] == table["dynamics"].iloc[0])
    ]
    looks = series(list(dict.fromkeys(usual["name"])))
    some = tasks if len(tasks) <= TASKS else tasks[:: -(-len(tasks) // TASKS)]
    shown = [_loads(usual[usual["task"] == task], looks, str(task)) for task in some]
    shown += [_linear(table)] if "linear" in set(table["separation"]) else []
    shown.append(_growth(summary, tasks, looks))
    if len({entry["draws"] for entry in summary["overfit"]}) > 1:
        shown.append(_overfit(summary))
    learns = usual["metric"].isin(LEARNED)
    return [*shown, *([_times(usual[learns])] if learns.any() else [])]


def _with_names(table: Table) -> Table:
    """Table with a column `name`: similarity, metric and separation of each row as one text."""
    return table.assign(name=[str(Kind(*parts)) for parts in table[KIND].itertuples(index=False)])


def _loads(table: Table, looks: dict[str, Any], title: str) -> Panel:
    """Error on fresh draws against M. The first memory before learning is grey, errors below LEAST are marked."""
    fresh = table[(table["data"] == "fresh") & (table["strength"] == 1.0) & (table["draws"] == table["draws"].max())]
    last, name = fresh["optimiser"].iloc[-1], fresh["name"].iloc[0]
    before = fresh[(fresh["name"] == name) & (fresh["optimiser"] == BEFORE)]
    start = before.groupby("patterns")["error"].mean().clip(lower=LEAST)
    found = [Series(start.index, start, label=f"{name} before", color="0.6", linestyle="-")]
    means = means_by_group(fresh[fresh["optimiser"] == last], ["name", "patterns"], "error", "sample")
    found += curves(means.assign(mean=means["mean"].clip(lower=LEAST)), "patterns", "mean", by="name", looks=looks)
    small = means[means["mean"] < LEAST]
    below = {"marker": "v", "markersize": 8, "markerfacecolor": "none", "color": "0.3"}
    found += [Series(small["patterns"], [LEAST] * len(small), label=f"below {LEAST:g}", **below)] if len(small) else []
    x, y = Axis("patterns $M$", "log"), Axis("error of the answer", "log", (LEAST / 1.3, 2.0))
    return Panel(title, x, y, [*found, level(LEVEL, "level of held")])


def _linear(table: Table) -> Panel:
    """Errors of linear weights, on the task with their least mean error."""
    rows = table[table["separation"] == "linear"]
    task = rows[rows["data"] == "fresh"].groupby("task", sort=False)["error"].mean().idxmin()
    rows = rows[rows["task"] == task]
    panel = _loads(rows, series(list(dict.fromkeys(rows["name"]))), f"linear weights, {task}")
    panel.y.limits = (LEVEL / 10, 2.0)
    return panel


def _growth(summary: dict, tasks: list[str], looks: dict[str, Any]) -> Panel:
    """Number of patterns held over the number held by the identity metric. Bounds have open markers."""
    chosen = _with_names(pandas.DataFrame(summary["growth"]))
    chosen = chosen[(chosen["draws"] == chosen["draws"].max()) & (chosen["optimiser"] == chosen["optimiser"].iloc[-1])]
    chosen = chosen[(chosen["over"] == "identity") & chosen["name"].isin(list(looks))]
    names, found = list(dict.fromkeys(chosen["name"])), []
    for place, name in enumerate(names):
        rows = chosen[chosen["name"] == name]
        heights = [tasks.index(task) + (place + 0.5) / len(names) * 0.8 - 0.4 for task in rows["task"]]
        bound, label = rows["bounds"].map(lambda text: isinstance(text, str)).to_numpy(bool), str(name)
        for inside, face in ((~bound, None), (bound, "white")):
            look = looks[name] | {"linestyle": "", "markerfacecolor": face, "label": label}
            part = rows[inside].astype({"ratio": float, "ratio_stderr": float})
            found.append(Series(part["ratio"], pandas.Series(heights)[inside], x_error=part["ratio_stderr"], **look))
            label = ""
    found += [entry("a bound", color="0.4", marker="o", markerfacecolor="white"), upright(1.0)]
    y = Axis("", limits=(len(tasks) - 0.4, -0.6), ticks=[(place, task) for place, task in enumerate(tasks)])
    title = "patterns held, metric learned over identity"
    return Panel(title, Axis("ratio of patterns held", "log"), y, found)


def _overfit(summary: dict) -> Panel:
    """Error of the last optimiser on fresh draws and on the training draws, against the number of training draws."""
    found = _with_names(pandas.DataFrame(summary["overfit"]))
    found = found[found["optimiser"] == found["optimiser"].iloc[-1]]
    varied = found[found.groupby(["task", "name"])["draws"].transform("nunique") > 1]
    several = varied["name"].nunique() > 1
    varied = varied.assign(label=varied["task"] + (" " + varied["name"] if several else ""))
    looks = series(list(varied["label"]))
    marks = {name: {"color": look["color"], "linestyle": ":", "linewidth": 1.2} for name, look in looks.items()}
    seen = varied.drop(columns="seen_stderr", errors="ignore")
    drawn = [
        *curves(varied, "draws", "fresh", by="label", looks=looks),
        *curves(seen, "draws", "seen", by="label", label=_none, looks=marks),
        entry("on the draws learned from", color="0.4", linestyle=":"),
    ]
    title = "overfitting" + ("" if several else f": {varied['name'].iloc[0]}")
    y = Axis(f"error at $M={summary['stored']}$", "log")
    return Panel(title, Axis("draws learned from", "log"), y, drawn)


def _none(label: str) -> str:
    return ""


def _times(table: Table) -> Panel:
    """Error against the seconds of a training, each memory and task by each optimiser."""
    trained = table[
        (table["optimiser"] != BEFORE) & (table["data"] == "seen") & (table["draws"] == table["draws"].max())
    ]
    by = ["optimiser", "task", "name"]
    means = trained.groupby(by, sort=False, as_index=False)[["seconds", "further_error"]].mean()
    looks = {name: look | {"linestyle": ""} for name, look in series(list(means["optimiser"])).items()}
    found = curves(means, "seconds", "further_error", by="optimiser", looks=looks)
    x, y = Axis("seconds of a training", "log"), Axis("error on further draws", "log")
    return Panel("learned metrics, equal steps", x, y, found)
