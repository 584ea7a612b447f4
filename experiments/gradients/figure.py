"""Figure of the verification of gradients: errors by input, and the worst one of every metric and mask."""

import numpy as np

from experiments.contract import Table
from experiments.figures.panel import Axis, Panel, Series, heat, upright
from experiments.figures.style import series
from experiments.gradients.config import MASKS, METRICS

FLOOR = 1e-17
"""Place of an error of exactly zero on the logarithmic axis."""
NAMES = {
    "query": "queries $q$",
    "key": "keys $k$",
    "value": "values $v$",
    "beta": r"$\beta$",
    "bias": "additive mask",
    "temperature": "temperature $T$",
    "metric.scale": "scaled: scale",
    "metric.entries": "diagonal: entries",
    "metric.matrix": "full: $g$",
    "metric.factor": "low rank: $W$",
    "metric.w_query": "projected: $W_q$",
    "metric.w_key": "projected: $W_k$",
    "metric.b_query": "projected: $b_q$",
    "metric.b_key": "projected: $b_k$",
    "metric.metrics.0.entries": "block: entries",
    "metric.metrics.1.factor": "block: $W$",
}
WORDS = {"autodiff": "automatic differentiation", "difference": "finite differences"}


def panels(table: Table, summary: dict) -> list[Panel]:
    """Errors by input, and a table of worst errors for every separation."""
    return [_by_input(table), *(_worst(rows, str(name)) for name, rows in table.groupby("separation", sort=False))]


def _by_input(table: Table) -> Panel:
    """The spread of both errors for each input: a line to the worst one, a marker at the median and at the worst."""
    inputs = [name for name in NAMES if name in set(table["input"])]
    kinds = [(dtype, kind) for dtype in table["dtype"].unique() for kind in WORDS]
    looks, found = series([f"{dtype} {kind}" for dtype, kind in kinds]), []
    for number, (dtype, kind) in enumerate(kinds):
        look = looks[f"{dtype} {kind}"] | {"linestyle": ""}
        rows = table[table["dtype"] == dtype]
        errors = rows.groupby("input")[kind].agg(["median", "max"]).reindex(inputs).clip(lower=FLOOR)
        heights = np.arange(len(inputs)) + 0.17 * (number - 0.5 * (len(kinds) - 1))
        spread = np.array(errors["max"] - errors["median"])
        whiskers = [np.zeros(len(spread)), spread]
        found.append(Series(errors["median"], heights, x_error=whiskers, **look | {"markerfacecolor": "white"}))
        found.append(Series(errors["max"], heights, label=f"{dtype}, {WORDS[kind]}", **look))
    limits = {f"{dtype}": rows["tolerance"].iloc[0] for dtype, rows in table.groupby("dtype", sort=False)}
    wider = table["difference_tolerance"]
    if (apart := wider > table["tolerance"]).any():
        limits["by differences"] = wider[apart].max()
    dashes = ((0, (4, 2)), (0, (1, 1)), (0, (4, 1, 1, 1)))
    found += [
        upright(limit, f"allowed, {name}", linestyle=line)
        for (name, limit), line in zip(limits.items(), dashes, strict=False)
    ]
    ticks = [(FLOOR, "0"), *((10.0**power, f"$10^{{{power}}}$") for power in range(-16, -3, 4))]
    x = Axis("error relative to the gradient (or to 1 if larger)", "log", (FLOOR / 3, 3e-3), ticks)
    y = Axis("", limits=(len(inputs) - 0.4, -0.6), ticks=[(place, NAMES[name]) for place, name in enumerate(inputs)])
    return Panel("gradient by hand against two other routes (open: median, filled: worst)", x, y, found, span=2)


def _worst(table: Table, separation: str) -> Panel:
    """Worst error over inputs, shapes and number types, metric against mask, in units in the last place."""
    metrics = [name for name in METRICS if name in set(table["metric"])]
    masks = [name for name in MASKS if name in set(table["mask"])]
    groups = table.assign(units=table["autodiff"] / (table["tolerance"] / 1000)).groupby(["mask", "metric"])
    worst, passed = (
        found.unstack().reindex(index=masks, columns=metrics)
        for found in (groups["units"].max(), groups["passed"].all())
    )
    texts = [
        [f"{worst.loc[mask, name]:.2g}" + " !" * (not passed.loc[mask, name]) for name in metrics] for mask in masks
    ]
    shade = np.log10(worst.clip(0.1, 1000))
    title = f"{separation}: worst error against autodiff, in units in the last place"
    return heat(shade, Axis("metric"), Axis("mask"), title, limits=(-1, 4.5), colours="Greys", texts=texts)
