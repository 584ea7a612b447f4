"""Summary of a comparison of optimisers: steps and times of every rule, and who is ahead by how much."""

import json
from typing import Any

import numpy as np

from experiments.contract import Row, Summary, Table
from experiments.optimisers.config import BATCHES, NATURAL, RIVALS
from experiments.statistics.columns import common_value

TASK = ["batch", "conditioning"]


def summarise(table: Table) -> Summary:
    """Summary of a table of training runs.

    estimates    for every kind of batch, conditioning and rule: medians over problems of steps, seconds and of the
                 excess at equal time, all counting a miss as infinite; means of what was held out, NaN where a problem
                 has none
    results      beside them: problems on which the target was reached; `diverged`, problems on which the run did, which
                 is a miss, and `searches_diverged`, those for which all trials of the search did; what the search chose
                 and how many of its trials diverged, a list where the seeds of joined runs differ
    comparisons  for every kind of batch and conditioning, by steps and by seconds: the first of the natural gradients
                 and of each kind of rival, the median over problems of the ratio of rival to natural, and the winner. A
                 ratio is a bound from below where the rival missed the target on most problems: it counts what was run
    product      cost of a Fisher–vector product in gradients

    Equal time is the median time that the first rule takes to the target.
    """
    results = [entry for _, rows in table.groupby(TASK, sort=False) for entry in _results(rows)]
    comparisons = [
        entry
        for _, rows in table.groupby(TASK, sort=False)
        for measure in ("steps", "seconds")
        if (entry := _comparison(rows, measure)) is not None
    ]
    product = _product(table)
    estimates = _told(results, comparisons, product)
    for name in NUMBERS:
        estimates += [
            {"quantity": name.replace("_", " "), **{key: entry[key] for key in (*TASK, "rule")}}
            | {"value": entry.pop(name), "samples": entry["problems"]}
            | {"headline": name == "steps" and not comparisons}
            for entry in results
        ]
    return Summary(estimates, more={"results": results, "comparisons": comparisons, "product": product})


NUMBERS = ("steps", "seconds", "excess_then", "held_loss", "held_accuracy", "held_best", "step_seconds")


def _median(values: Any) -> float:
    """Median in which a missing value counts as infinite. An infinite median becomes NaN, which is saved as null."""
    numbers = np.asarray(values, float)
    middle = float(np.median(np.where(np.isnan(numbers), np.inf, numbers)))
    return middle if np.isfinite(middle) else float("nan")


def curves(rows: Table) -> list[dict[str, np.ndarray]]:
    """The runs of some rows, each a dict of arrays, with `excess` over the least loss known of that problem."""
    runs = []
    for optimum, text in zip(rows["optimum"], rows["curve"], strict=True):
        run = {name: np.array(values, float) for name, values in json.loads(text).items()}
        runs.append(run | {"excess": run["loss"] - optimum})
    return runs


def _excess_at(run: dict[str, np.ndarray], seconds: float) -> float:
    """Excess of a run at a time, interpolated in its logarithm. A run that ended earlier keeps its last excess."""
    finite = np.isfinite(run["excess"])
    level = np.log(np.maximum(run["excess"][finite], 1e-9))
    return float(np.exp(np.interp(seconds, run["seconds"][finite], level))) if finite.any() else float("nan")


def _results(rows: Table) -> list[dict]:
    times = [_median(runs["seconds"]) for _, runs in rows.groupby("rule", sort=False)]
    equal = min((t for t in times if np.isfinite(t)), default=float("nan"))
    results = []
    for _, runs in rows.groupby("rule", sort=False):
        entry: dict[str, Any] = {name: runs[name].iloc[0] for name in (*TASK, "rule")}
        entry |= {"problems": len(runs), "reached": int(runs["steps"].notna().sum())}
        entry |= {name: _median(runs[name]) for name in ("steps", "seconds")}
        entry |= {"step_seconds": float(runs["step_seconds"].median()), "steps_tried": int(runs["steps_done"].max())}
        then = [
            np.inf if lost else _excess_at(run, equal) for lost, run in zip(runs["diverged"], curves(runs), strict=True)
        ]
        entry |= {"equal_seconds": equal, "excess_then": _median(then)}
        entry |= {"diverged": int(runs["diverged"].sum())}
        entry |= {name: common_value(runs[name].astype(int)) for name in ("search_trials", "search_trials_diverged")}
        entry |= {"searches_diverged": int((runs["search_trials_diverged"] == runs["search_trials"]).sum())}
        names = ("held_loss", "held_accuracy", "held_best", "iterations", "accepted", "residual", "last_damping")
        entry |= {name: float(runs[name].astype(float).mean(skipna=False)) for name in names}
        numbers = ("rate", "friction", "damping", "curvature", "memory")
        entry |= {name: common_value(runs[name].astype(float)) for name in numbers if runs[name].notna().any()}
        results.append(entry | {"edge": common_value(runs["edge"].map(_text))})
    return results


def _text(value: Any) -> str:
    """Text of a table's cell. An empty text comes back from a table as NaN, and is made a text again."""
    return value if isinstance(value, str) else ""


def _pivot(rows: Table, measure: str) -> Table:
    """Steps or seconds to the target [problems × rules], infinite if it was missed."""
    return rows.pivot(index="sample", columns="rule", values=measure).astype(float).fillna(np.inf)


def _best_rule(wide: Table, rules: tuple[str, ...]) -> str | None:
    """Rule with the least median. Ties go to the rule that missed the target least often, then to the least mean."""
    present = [rule for rule in rules if rule in wide]
    order = {rule: (wide[rule].median(), np.isinf(wide[rule]).sum(), wide[rule].mean()) for rule in present}
    return min(present, key=order.__getitem__) if present else None


def _comparison(rows: Table, measure: str) -> dict | None:
    wide = _pivot(rows, measure)
    natural = _best_rule(wide, NATURAL)
    spent = rows.assign(steps=rows["steps_done"], seconds=rows["steps_done"] * rows["step_seconds"])
    tried = spent.pivot(index="sample", columns="rule", values=measure).astype(float)
    winner = _winner(wide, tried)
    if natural is None or not np.isfinite(wide[natural].median()):
        return None if natural is None else _entry(rows, measure) | {"natural": None, "winner": winner}
    entry = _entry(rows, measure) | {"natural": natural, "natural_median": float(wide[natural].median())}
    for kind, rules in RIVALS.items():
        rival = _best_rule(wide, rules)
        if rival is None:
            continue
        missed = np.isinf(wide[rival])
        # Where both missed there is no ratio; where the natural rule alone did it is none at all.
        ratio = wide[rival].where(~missed, tried[rival].where(np.isfinite(wide[natural]))) / wide[natural]
        name = kind.replace("-", "_").lower()
        entry |= {f"{name}": rival, f"{name}_median": _median(wide[rival].replace(np.inf, np.nan))}
        entry |= {f"{name}_ratio": float(ratio.median()), f"{name}_low": float(ratio.min())}
        entry |= {f"{name}_high": float(ratio.max()), f"{name}_bound": bool(missed.mean() >= 0.5)}
    return entry | {"winner": winner}


def _entry(rows: Table, measure: str) -> dict[str, Any]:
    return {name: rows[name].iloc[0] for name in TASK} | {"measure": measure}


def _winner(wide: Table, tried: Table) -> str | None:
    """Rule with the least median. None if a rule that missed the target was tried for less than that median."""
    rule = _best_rule(wide, tuple(wide.columns))
    if rule is None or not np.isfinite(best := wide[rule].median()):
        return None
    missed = [name for name in wide if not np.isfinite(wide[name].median())]
    return None if any(tried[name].median() < best for name in missed) else rule


def _product(table: Table) -> dict | None:
    ratios = table["product_ratio"].dropna()
    if ratios.empty:
        return None
    columns = {"median": "product_ratio", "low": "product_low", "high": "product_high"}
    return {name: float(table[column].median()) for name, column in columns.items()} | {"measurements": len(ratios)}


def _told(results: list[dict], comparisons: list[dict], product: dict | None) -> list[Row]:
    """Ratios of rivals to natural gradients, the winners at each conditioning, and the rules that diverged."""
    told: list[Row] = []
    for entry in sorted(comparisons, key=lambda e: (BATCHES.index(e["batch"]), e["conditioning"])):
        where = {name: entry[name] for name in TASK} | {"headline": True}
        for rival, kind in ((name, name.replace("-", "_").lower()) for name in RIVALS):
            if f"{kind}_ratio" in entry:
                least = " at least" if entry[f"{kind}_bound"] else ""
                ratio = {"value": entry[f"{kind}_ratio"], "low": entry[f"{kind}_low"], "high": entry[f"{kind}_high"]}
                told.append({"quantity": f"{entry['measure']} ratio{least}", "rival": rival, **where, **ratio})
        told.append({"quantity": f"winner in {entry['measure']}", **where, "said": entry["winner"] or "none"})
    if product is not None:
        told.append({"quantity": "product in gradients", "value": product["median"], "headline": True})
    for entry in results:
        lost = f"{entry['diverged']} of {entry['problems']} problems" if entry["diverged"] else ""
        some = entry["searches_diverged"] < entry["problems"]
        share = f" for {entry['searches_diverged']} of {entry['problems']} problems" if some else ""
        search = f"all {entry['search_trials']} trials{share}" if entry["searches_diverged"] else ""
        if said := ", ".join(filter(None, (lost, search))):
            about = {name: entry[name] for name in (*TASK, "rule")}
            told.append({"quantity": "diverged", **about, "said": said, "headline": True})
    return told
