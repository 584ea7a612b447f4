"""Results of multiple-instance learning: areas under the ROC curve by method, beside published ones."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from experiments.bags.config import PUBLISHED
from experiments.contract import Row, Summary, Table
from experiments.figures.panel import Axis, Panel, Series, upright
from experiments.figures.style import series
from experiments.statistics.clusters import standard_error

OURS = "hopfield"


def labels(data: Iterable[Any]) -> dict[str, str]:
    """Short names of data sets: the stem of each file, or the whole path if two files share a stem."""
    stems = {name: Path(name).stem for name in dict.fromkeys(map(str, data))}
    return {name: stem if list(stems.values()).count(stem) == 1 else name for name, stem in stems.items()}


def published_area(name: str, rows: Table) -> tuple[float, float] | None:
    """Published area and its error. None if the name or the number of bags or instances is not the published set's."""
    if not {"bags", "instances"} <= set(rows):
        return None
    held = {(int(bags), int(instances)) for bags, instances in rows[["bags", "instances"]].dropna().to_numpy()}
    bags, instances = held.pop() if len(held) == 1 else (0, 0)
    return PUBLISHED.get((Path(name).stem, bags, instances))


def divisions(areas: Any) -> Any:
    """Mean over the test folds of each division of areas by (repetition, fold). NaN where a fold has no area."""
    return areas.groupby("repetition").agg(lambda each: each.mean(skipna=False))


def summarise(table: Table) -> Summary:
    """Means over folds, with the standard error over divisions; leads of the Hopfield pooling on each other method.

    Scores that are not finite have no area: one such fold leaves neither a mean nor a lead of its method (NaN), and a
    row counts them. A lead is the mean over test folds of the difference on the same fold. Folds share bags that
    they are trained on, so that the variance of their mean has 1/n + 1/(folds − 1) instead of 1/n (Nadeau & Bengio
    2003).
    """
    estimates: list[Row] = []
    called = labels(table["data"])
    for name, rows in table.groupby("data", sort=False):
        label = called[str(name)]
        folds = rows.pivot(index=["repetition", "fold"], columns="method", values="auc")
        for method in dict.fromkeys(rows["method"]):
            each = divisions(folds[method]).to_numpy(float)
            stderr = standard_error(each)
            about = {"data": label, "method": method}
            mean = {"value": float(each.mean()), "stderr": stderr, "samples": len(each)}
            estimates.append({"quantity": AREA, **about, **mean, "headline": True})
            if lost := int(folds[method].isna().sum()):
                said = f"{lost} of {len(folds)} test folds"
                estimates.append({"quantity": "no area", **about, "said": said, "headline": True})
        for method in [m for m in folds.columns if m != OURS and OURS in folds]:
            lead = (folds[OURS] - folds[method]).to_numpy(float)
            wider = float(np.sqrt(1 + len(lead) / (rows["fold"].nunique() - 1)))
            mean = {"value": float(lead.mean()), "stderr": wider * standard_error(lead)}
            about = {"data": label, "over": method, **mean, "samples": len(lead), "headline": True}
            estimates.append({"quantity": "lead", **about})
        if (known := published_area(str(name), rows)) is not None:
            mean = dict(zip(("value", "stderr"), known, strict=True))
            estimates.append({"quantity": "published", "data": label, **mean, "headline": True})
    return Summary(estimates)


AREA = "auc"


def panels(table: Table, summary: Summary) -> list[Panel]:
    """Every division into folds as a dot, the mean with its standard error, and any published area."""
    called = labels(table["data"])
    looks = series(list(dict.fromkeys(table["method"])))
    shown = []
    for name, rows in table.groupby("data", sort=False):
        found = []
        for place, (method, look) in enumerate(looks.items()):
            each = divisions(rows[rows["method"] == method].set_index(["repetition", "fold"])["auc"])
            dots = {"color": look["color"], "marker": ".", "alpha": 0.5, "markersize": 4}
            found.append(Series(each, np.full(len(each), place - 0.25), **dots))
            area = summary.of(AREA, data=called[str(name)], method=method)
            mean = {"color": look["color"], "marker": look["marker"]}
            found.append(Series(area["value"], [place], x_error=area.get("stderr"), **mean))
        if (known := published_area(str(name), rows)) is not None:
            value, error = known
            found.append(upright(value, f"published, Hopfield: {value:g} ± {error:g}"))
            found += [upright(value + side * error, linestyle="-", linewidth=0.5) for side in (-1, 1)]
        methods = Axis("", limits=(len(looks) - 0.5, -0.5), ticks=list(enumerate(looks)))
        shown.append(Panel(called[str(name)], Axis("area under the ROC curve"), methods, found))
    return shown
