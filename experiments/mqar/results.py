"""Results of multi-query associative recall: mean accuracies with 95 % intervals over seeds."""

from typing import Any

import numpy as np

from experiments.contract import Row, Summary, Table
from experiments.figures.panel import Axis, Panel, Series
from experiments.figures.style import series
from experiments.statistics.clusters import standard_error

KEYS = ["mixer", "width", "length", "pairs", "state_bytes"]


def summarise(table: Table) -> Summary:
    """Mean accuracies in test, half of their 95 % intervals (Student's, over seeds), and how many seeds are solved."""
    estimates: list[Row] = []
    for kind, rows in table.groupby(KEYS, sort=False):
        values = rows["accuracy"].to_numpy(float)
        count, error = len(values), standard_error(values)
        half, mean, about = (
            standard_error(values, 0.95),
            float(values.mean()),
            dict(zip(KEYS, kind, strict=True)),
        )
        ends = {"low": mean - half, "high": mean + half, "samples": count, "headline": True}
        estimates.append({"quantity": ACCURACY, **about, "value": mean, "stderr": error, **ends})
        for quantity, value in (
            ("solved", int((values >= 0.99).sum())),
            ("epochs", float(rows["epochs"].mean())),
            ("contradicted", float(rows["contradicted"].mean())),
        ):
            estimates.append({"quantity": quantity, **about, "value": value, "samples": count})
    contradicted = {"quantity": "contradicted", "value": float(table["contradicted"].mean()), "headline": True}
    return Summary([*estimates, contradicted])


ACCURACY = "accuracy"
NAMES = {"softmax1": "softmax$_1$", "hopfield": "Hopfield, updates before it reads", "by_hand": "by hand, untrained"}
"""Words for mixers whose names are none."""


FEWEST = 4
"""Models from which a mean has its interval: fewer make it wider than what it is to tell."""


def panels(table: Table, summary: Summary) -> list[Panel]:
    """Accuracy against bytes of state at the fewest pairs, and, of several, against pairs at the largest width.

    The first at the shortest sequences, the second at the longest. Every model is a dot; means with 95 % intervals of
    at least FEWEST models, cut at 0 and 1.
    """
    results = summary.of(ACCURACY)
    looks = series(list(dict.fromkeys(results["mixer"])))
    trained = results[results["mixer"] != "by_hand"]
    widest = trained["width"].max() if len(trained) else 0
    length, longest, fewest = results["length"].min(), results["length"].max(), results["pairs"].min()

    def few_pairs(rows: Table) -> Table:
        return rows[(rows["pairs"] == fewest) & (rows["length"] == length)]

    def wide(rows: Table) -> Table:
        return rows[((rows["width"] == widest) | (rows["mixer"] == "by_hand")) & (rows["length"] == longest)]

    by_state = f"$K={fewest}$ pairs, $L={length}$ tokens"
    shown = [_panel(few_pairs(results), few_pairs(table), "state_bytes", looks, by_state)]
    if results["pairs"].nunique() > 1:
        shown.append(_panel(wide(results), wide(table), "pairs", looks, f"width {widest}, $L={longest}$ tokens"))
    return shown


def _panel(means: Table, models: Table, column: str, looks: dict[str, Any], title: str) -> Panel:
    """Means of each mixer against a column, shifted where they would overlap, and a dot for every model."""
    found = []
    for place, (mixer, look) in enumerate(looks.items()):
        apart = 1.05 ** (place - len(looks) / 2)
        each = models[models["mixer"] == mixer]
        dots = {"color": look["color"], "marker": ".", "alpha": 0.5, "markersize": 5}
        found.append(Series(each[column] * apart, each["accuracy"], **dots))
        part = means[means["mixer"] == mixer].sort_values(column)
        several = each.groupby(column)["accuracy"].size().reindex(part[column]).to_numpy() >= FEWEST
        half = (part["high"] - part["value"] if "high" in part else 0.0 * part["value"]).fillna(0.0).where(several, 0.0)
        bars = np.minimum(half, part["value"]), np.minimum(half, 1.0 - part["value"])
        look = look | {"label": NAMES.get(mixer, mixer), "samples": part["samples"]}
        found.append(Series(part[column] * apart, part["value"], bars, **look))
    ticks = sorted(means[column].unique())
    label = "pairs $K$" if column == "pairs" else "state kept of a sequence (bytes)"
    named = [(tick, f"{tick:g}") for tick in ticks] if column == "pairs" else None
    x = Axis(label, "log", (ticks[0] / 1.5, ticks[-1] * 1.5), named)
    legend = f"dots: models; lines: means, with 95 % intervals of {FEWEST} models or more"
    return Panel(title, x, Axis("accuracy", limits=(-0.03, 1.05)), found, legend=legend)
