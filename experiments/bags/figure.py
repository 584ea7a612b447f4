"""Figure of multiple-instance learning: areas under the ROC curve, a panel for each data set."""

import numpy as np

from experiments.bags.summary import divisions, labels, published_area
from experiments.contract import Table
from experiments.figures.panel import Axis, Panel, Series, upright
from experiments.figures.style import series


def panels(table: Table, summary: dict) -> list[Panel]:
    """Every division into folds as a dot, the mean with its standard error, and any published area."""
    called, results = labels(table["data"]), {(entry["data"], entry["method"]): entry for entry in summary["results"]}
    looks = series(list(dict.fromkeys(table["method"])))
    shown = []
    for name, rows in table.groupby("data", sort=False):
        found = []
        for place, (method, look) in enumerate(looks.items()):
            each = divisions(rows[rows["method"] == method].set_index(["repetition", "fold"])["auc"])
            dots = {"color": look["color"], "marker": ".", "alpha": 0.5, "markersize": 4}
            found.append(Series(each, np.full(len(each), place - 0.25), **dots))
            entry = results[called[str(name)], method]
            mean = {"color": look["color"], "marker": look["marker"]}
            found.append(Series([entry["auc"]], [place], x_error=entry["stderr"], **mean))
        if (known := published_area(str(name), rows)) is not None:
            value, error = known
            found.append(upright(value, f"published, Hopfield: {value:g} ± {error:g}"))
            found += [upright(value + side * error, linestyle="-", linewidth=0.5) for side in (-1, 1)]
        methods = Axis("", limits=(len(looks) - 0.5, -0.5), ticks=list(enumerate(looks)))
        shown.append(Panel(called[str(name)], Axis("area under the ROC curve"), methods, found))
    return shown
