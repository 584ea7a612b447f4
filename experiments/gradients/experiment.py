"""Verification of the gradients of attention by hand, against automatic differentiation and finite differences.

One case is one attention: a shape, a mask, a metric, a separation and a number type. Its gradient in every input
(queries, keys, values, each parameter of the metric, β, additive mask, temperature) is taken by hand
(`hopfield.attention.gradients`), by JAX's automatic differentiation of `hopfield.attention`, and by finite differences
of an attention written in numpy in double precision. Inputs are Gaussian; where there are heads, β and the metrics
have one value per head, so that sums over what is shared are part of the test.
"""

from collections.abc import Iterator, Sequence

from experiments.contract import Cost, Point, Row
from experiments.gradients.config import METRICS, Config
from experiments.gradients.figure import panels
from experiments.gradients.measurement import checks_of_case
from experiments.gradients.summary import summarise
from experiments.shared.axes import product_of

__all__ = ["X_AXIS", "Config", "cost", "measure", "panels", "points", "summarise"]
X_AXIS = "magnitude"
COLUMNS = ("size", "magnitude", "autodiff", "difference", "tolerance", "difference_tolerance")


def cost(config: Config) -> Cost:
    """Cost of all cases, some 3e8 multiplications each for automatic and finite differences."""
    cases = len(config.dtypes) * len(config.separations) * len(config.masks) * len(config.shapes)
    number = cases * sum(len(arguments(metric)) for metric in config.metrics)
    return Cost(number, 0.0, 3e8 * cases * len(config.metrics))


def points(config: Config) -> list[Point]:
    """One point per input of every case."""
    cases = product_of(
        dtype=config.dtypes,
        separation=config.separations,
        metric=config.metrics,
        mask=config.masks,
        shape=config.shapes,
    )
    return [case | {"input": name} for case in cases for name in arguments(case["metric"])]


def arguments(metric: str) -> list[str]:
    """Arguments that attention with this metric has a gradient in."""
    return ["query", "key", "value", *(f"metric.{leaf}" for leaf in METRICS[metric]), "beta", "bias", "temperature"]


def measure(config: Config, wanted: Sequence[Point]) -> Iterator[Row]:
    """Errors of every gradient asked for, case by case."""
    cases: dict[tuple[str, ...], list[Point]] = {}
    for point in wanted:
        case = tuple(point[key] for key in ("dtype", "separation", "metric", "mask", "shape"))
        cases.setdefault(case, []).append(point)
    for case, members in cases.items():
        checks = checks_of_case(config.seed, *case)
        for point in members:
            errors = checks[point["input"]]
            yield point | {name: errors[name] for name in COLUMNS} | {"passed": bool(errors["passed"])}
