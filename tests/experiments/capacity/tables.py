"""Tables of the capacity experiment for its tests: measured ones, and invented ones that cost nothing."""

import io

import numpy as np
import pandas
from scipy.special import ndtr

from experiments.capacity import experiment as capacity
from experiments.capacity import scales
from experiments.shared import retention
from experiments.system.files import encode
from hopfield.memories import find

COUNTS = (*retention.CUTS, "exact", "cycles", "fixed_point", "target_weight", "converged_weight")
COLUMNS = {
    *("memory", "dynamics", "neurons", "patterns", "load", "corruption", "sample", "queries", "ensemble", "beta"),
    *(*COUNTS, "step_limit", "overlap", "overlap_retained", "one_step_error", "steps", "max_steps", "parity"),
}
HALF = {"M / N": 0.15, "ln M / N": 0.56}
"""Loads at which half of the queries of an invented table succeed; 0.09 for the scalings of dense memories."""


def saved_table(rows: list[dict]) -> pandas.DataFrame:
    """Rows as a run saves and reads them."""
    return pandas.read_csv(io.StringIO(pandas.DataFrame(rows).to_csv(index=False)))


def measured_table(**options) -> pandas.DataFrame:
    """The table of the experiment with these options, its rows in the order of the points."""
    config = capacity.Config(**options)
    points = capacity.points(config)
    found = {
        encode({name: row[name] for name in points[0]}, sort=True): row for row in capacity.measure(config, points)
    }
    assert len(found) == len(points)
    return pandas.DataFrame([found[encode(point, sort=True)] for point in points])


def invented_table(half: float | None = None, width: float = 0.2, **options) -> pandas.DataFrame:
    """A saved table whose counts fall along the load as a probit around `half`, of relative `width`, at random."""
    generator = np.random.default_rng(1)
    points = capacity.points(capacity.Config(**options))
    return saved_table([invented_row(generator, point, half, width) for point in points])


def invented_row(generator: np.random.Generator, point: dict, half: float | None, width: float) -> dict:
    """A row of an invented table."""
    blueprint = find(point["memory"])
    load = blueprint.scaling.load(point["patterns"], point["neurons"])
    centre = half or HALF.get(blueprint.scaling.symbol, 0.09)
    share = ndtr((centre * (1 + 1 / point["neurons"]) - load) / (width * centre))
    counts = {name: int(generator.binomial(point["queries"], share)) for name in COUNTS}
    row = point | scales.columns_of(point) | counts
    if point["memory"] in ("projection", "storkey"):
        row |= {"target_weight": None, "converged_weight": None}
    row |= {"overlap": float(share), "overlap_retained": 0.98 if row["retained"] else None}
    return row | {"one_step_error": float(generator.beta(1, 1 / (load + 0.01))), "steps": 3.0, "step_limit": 0}


def mean_and_error(table: pandas.DataFrame, column: str) -> tuple[float, float]:
    """Mean of a column over the queries of one point and its standard error over disorder samples, by hand."""
    weight = table["retained" if column == "overlap_retained" else "queries"].to_numpy(float)
    total = table[column].to_numpy(float) * (1 if column in COUNTS else weight)
    total, weight = total[weight > 0], weight[weight > 0]
    mean = total.sum() / weight.sum()
    residual = total - mean * weight
    return mean, float(np.sqrt(residual.size / (residual.size - 1) * np.sum(residual**2)) / weight.sum())
