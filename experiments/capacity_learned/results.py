"""Results of learned memories: patterns held at equal error, by how much they grow, basins, and what overfits."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas

from experiments.capacity_learned.config import BEFORE, KIND, LEARNED, LEVEL, TRAINED, Kind
from experiments.contract import Row, Summary, Table
from experiments.figures import panel
from experiments.figures.panel import Axis, Panel, Series, level, upright
from experiments.figures.style import series
from experiments.statistics.clusters import curves, means_by_group, standard_error
from experiments.statistics.crossings import half_crossing
from experiments.statistics.estimates import tidy

COSINES = ("identity", "whitening", "matched")
LEARNT = ("beta", "number", "rate", "seconds", "further_error", *(f"cosine_{name}" for name in COSINES))


class Reach(NamedTuple):
    """Logarithms [S] of how far each training's error stays below LEVEL, cut at the ends of the measured range."""

    logs: np.ndarray
    low: bool
    high: bool

    @property
    def bound(self) -> str | None:
        """Words for a mean that is a bound, since a training was cut: at most, at least. None if it is exact."""
        return {(False, False): None, (True, False): "at most", (False, True): "at least"}.get(
            (self.low, self.high), "cut at both ends"
        )


def summarise(table: Table) -> Summary:
    """Growth of the patterns held by learning, errors on fresh draws and on draws learned from, and what was learned.

    Errors are standard errors over trainings. Growth is M held after learning over that before, and over growth of the
    same memory whose metric is the identity, with β and the family's number learned: geometric means of the ratios of
    the same draws. Patterns held, of every memory, optimiser and number of draws, are the M up to which the mean error
    on fresh draws is at most LEVEL; corruption held is the factor by which corruption may grow at the M that was
    learned from; beside them stand error, entropy, and what was learned; `bound` where a training stays on one side of
    LEVEL at all that is measured.
    """
    stored = int(table.loc[table["data"] == "seen", "patterns"].iloc[0])
    fresh = table[table["data"] == "fresh"]
    loads = {key: _reach(rows, "patterns") for key, rows in _rows_by_training(fresh[fresh["strength"] == 1.0])}
    amounts = {key: _reach(rows, "strength") for key, rows in _rows_by_training(fresh[fresh["patterns"] == stored])}
    held = [
        _entry(key, rows, stored) | _reach_columns("held", loads[key]) | _reach_columns("basin", amounts[key])
        for key, rows in _rows_by_training(fresh)
    ]
    estimates = [row for entry in held for row in _numbers(entry)]
    growth = [entry for key in loads if key[-2] != BEFORE for entry in _growth(key, loads)]
    overfit = _overfit(table[(table["patterns"] == stored) & (table["strength"] == 1.0)])
    errors = tidy(pandas.DataFrame(overfit), TRAINED, QUANTITIES) if overfit else []
    last, most = growth[-1]["optimiser"], max(entry["draws"] for entry in growth)
    for row in [*growth, *errors]:
        ours, most_draws = row["optimiser"] == last, row["draws"] == most
        told = (
            row["metric"] in LEARNED and row["over"] == "identity"
            if row["quantity"] == GROWTH
            else row["quantity"] == GAP
        )
        row["headline"] = ours and told and most_draws == (row["quantity"] == GROWTH)
    return Summary([*growth, *errors, *estimates], more={"level": LEVEL, "stored": stored})


GROWTH, GAP = "growth of patterns held", "gap of the error"
QUANTITIES = {"fresh": "error on fresh draws", "seen": "error on the draws learned from", "gap": GAP}


NUMBERS = {
    "held": "patterns held",
    "basin": "corruption held",
    "identified": "share identified at the patterns learned from",
    "error": "error at the patterns learned from",
    "entropy": "entropy at the patterns learned from",
} | {name: name.replace("_", " ") for name in LEARNT}


def _numbers(entry: dict[str, Any]) -> Iterator[Row]:
    """Rows of what a memory holds, and of what was learned."""
    about = {name: entry[name] for name in TRAINED}
    for name, quantity in NUMBERS.items():
        if entry[name] is not None:
            beside = {"stderr": entry.get(f"{name}_stderr"), "bound": entry.get(f"{name}_bound")}
            yield {"quantity": quantity, **about, "value": entry[name], **beside}


def _rows_by_training(table: Table) -> list[tuple[tuple, Table]]:
    return [(tuple(key.values()), rows) for key, rows in curves(table, TRAINED)]


def _reach(rows: Table, axis: str) -> Reach:
    """M at which the error of each training rises through LEVEL, cut at the ends of the measured range."""
    logs, low, high = [], False, False
    for _, training in rows.groupby("sample"):
        training = training.sort_values(axis)
        x, error = np.log(training[axis].to_numpy(float)), np.clip(training["error"].to_numpy(float), 0.0, 1.0)
        value = x[0] if error[0] > LEVEL else half_crossing(x, error, np.zeros(len(x)), level=LEVEL).value
        low |= bool(error[0] > LEVEL)
        high |= bool(np.isnan(value))
        logs.append(x[-1] if np.isnan(value) else value)
    return Reach(np.array(logs), low, high)


def _reach_columns(name: str, reach: Reach) -> dict[str, Any]:
    value = float(np.exp(reach.logs.mean()))
    return {name: value, f"{name}_stderr": value * standard_error(reach.logs), f"{name}_bound": reach.bound}


def _entry(key: tuple, rows: Table, stored: int) -> dict[str, Any]:
    """Learned numbers of an entry, with error and entropy at the M of the training."""
    here = rows[(rows["patterns"] == stored) & (rows["strength"] == 1.0)]
    entry = dict(zip(TRAINED, key, strict=True))
    for name in ("identified", "error", "entropy"):
        entry |= {name: float(here[name].mean()), f"{name}_stderr": standard_error(here[name])}
    learned = {name: here[name].astype(float) for name in LEARNT}
    return entry | {name: float(values.mean()) if values.notna().all() else None for name, values in learned.items()}


def _growth(key: tuple, loads: dict[tuple, Reach]) -> list[dict[str, Any]]:
    """Ratios of patterns M held after learning to M held before it, and to M held with the identity as metric."""
    kind = dict(zip(TRAINED, key, strict=True))
    most = max(other[-1] for other in loads)
    rivals = {
        "before": kind | {"optimiser": BEFORE, "draws": most},
        "identity": kind | {"metric": "identity", "draws": most},
    }
    ratios = []
    for name, rival in rivals.items():
        other = loads.get(tuple(rival.values()))
        if other is None or rival == kind:
            continue
        ratio = loads[key].logs - other.logs
        value = float(np.exp(ratio.mean()))
        bounds = [side.bound for side in (loads[key], other)]
        told = None if bounds == [None, None] else ", ".join(b or "exact" for b in bounds)
        ratios.append(
            {"quantity": GROWTH, **kind, "over": name, "value": value, "stderr": value * standard_error(ratio)}
            | {"samples": len(ratio), "bounds": told}
        )
    return ratios


def _overfit(table: Table) -> list[dict[str, Any]]:
    """Mean errors on fresh draws and on training draws, and the mean of their difference within a training."""
    errors = []
    for entry, rows in curves(table[table["optimiser"] != BEFORE], TRAINED):
        by = rows.pivot_table(index="sample", columns="data", values="error")
        gap = by["fresh"] - by["seen"]
        values = {"fresh": by["fresh"], "seen": by["seen"], "gap": gap}
        for name, each in values.items():
            entry |= {name: float(each.mean()), f"{name}_stderr": standard_error(each), f"{name}_samples": len(each)}
        errors.append(entry)
    return errors


LEAST = 1e-3
"""Error at which points of smaller ones are drawn, as open triangles."""
TASKS = 4
"""Tasks shown, evenly spaced in the order of the options: the others are in the table."""


def panels(table: Table, summary: Summary) -> list[Panel]:
    """Error against M for a few tasks with the last optimiser, linear weights, growth, overfitting, error and time."""
    table, tasks = _with_names(table), list(dict.fromkeys(table["task"]))
    usual = table[
        (table["separation"] == table["separation"].iloc[0]) & (table["dynamics"] == table["dynamics"].iloc[0])
    ]
    looks = series(list(dict.fromkeys(usual["name"])))
    some = tasks if len(tasks) <= TASKS else tasks[:: -(-len(tasks) // TASKS)]
    shown = [_loads(usual[usual["task"] == task], looks, str(task)) for task in some]
    shown += [_linear(table)] if "linear" in set(table["separation"]) else []
    shown.append(_growth_panel(summary, tasks, looks))
    if len(overfit := summary.of(QUANTITIES["fresh"])) and overfit["draws"].nunique() > 1:
        shown.append(_overfit_panel(summary))
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
    found += panel.curves(
        means.assign(mean=means["mean"].clip(lower=LEAST)), "patterns", "mean", by="name", looks=looks
    )
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


def _growth_panel(summary: Summary, tasks: list[str], looks: dict[str, Any]) -> Panel:
    """Number of patterns held over the number held by the identity metric. Bounds have open markers."""
    chosen = _with_names(summary.of(GROWTH))
    chosen = chosen[(chosen["draws"] == chosen["draws"].max()) & (chosen["optimiser"] == chosen["optimiser"].iloc[-1])]
    chosen = chosen[(chosen["over"] == "identity") & chosen["name"].isin(list(looks))]
    names, found = list(dict.fromkeys(chosen["name"])), []
    for place, name in enumerate(names):
        rows = chosen[chosen["name"] == name]
        heights = [tasks.index(task) + (place + 0.5) / len(names) * 0.8 - 0.4 for task in rows["task"]]
        bounds = rows["bounds"] if "bounds" in rows else rows["name"].map(lambda name: None)
        bound, label = bounds.map(lambda text: isinstance(text, str)).to_numpy(bool), str(name)
        for inside, face in ((~bound, None), (bound, "white")):
            look = looks[name] | {"linestyle": "", "markerfacecolor": face, "label": label}
            part = rows[inside]
            found.append(Series(part["value"], pandas.Series(heights)[inside], x_error=part.get("stderr"), **look))
            label = ""
    found += [panel.entry("a bound", color="0.4", marker="o", markerfacecolor="white"), upright(1.0)]
    y = Axis("", limits=(len(tasks) - 0.4, -0.6), ticks=[(place, task) for place, task in enumerate(tasks)])
    title = "patterns held, metric learned over identity"
    return Panel(title, Axis("ratio of patterns held", "log"), y, found)


def _overfit_panel(summary: Summary) -> Panel:
    """Error of the last optimiser on fresh draws and on the training draws, against the number of training draws."""
    fresh, seen = (_varied(summary.of(QUANTITIES[name])) for name in ("fresh", "seen"))
    several = fresh["name"].nunique() > 1
    fresh, seen = (rows.assign(label=rows["task"] + (" " + rows["name"] if several else "")) for rows in (fresh, seen))
    looks = series(list(fresh["label"]))
    marks = {name: {"color": look["color"], "linestyle": ":", "linewidth": 1.2} for name, look in looks.items()}
    bare = seen.drop(columns="stderr", errors="ignore")
    drawn = [
        *panel.curves(fresh, "draws", "value", by="label", looks=looks),
        *panel.curves(bare, "draws", "value", by="label", label=_none, looks=marks),
        panel.entry("on the draws learned from", color="0.4", linestyle=":"),
    ]
    title = "overfitting" + ("" if several else f": {fresh['name'].iloc[0]}")
    y = Axis(f"error at $M={summary.more['stored']}$", "log")
    return Panel(title, Axis("draws learned from", "log"), y, drawn)


def _varied(rows: Table) -> Table:
    """Rows of the last optimiser where the number of draws was varied."""
    rows = _with_names(rows[rows["optimiser"] == rows["optimiser"].iloc[-1]])
    return rows[rows.groupby(["task", "name"])["draws"].transform("nunique") > 1]


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
    found = panel.curves(means, "seconds", "further_error", by="optimiser", looks=looks)
    x, y = Axis("seconds of a training", "log"), Axis("error on further draws", "log")
    return Panel("learned metrics, equal steps", x, y, found)
