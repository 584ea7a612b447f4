"""Verification of the gradients of attention by hand, against automatic differentiation and finite differences.

One case is one attention: a shape, a mask, a metric, a separation and a number type. Its gradient in every input
(queries, keys, values, each parameter of the metric, β, additive mask, temperature) is taken by hand
(`hopfield.attention.gradients`), by JAX's automatic differentiation of `hopfield.attention`, and by finite differences
of an attention written in numpy in double precision. Inputs are Gaussian; where there are heads, β and the metrics
have one value per head, so that sums over what is shared are part of the test.
"""

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from experiments import contract
from experiments.columns import Column, shared
from experiments.contract import Cost, Point, Row, Summary, Table, option
from experiments.figures.panel import Axis, Panel, Series, heat, upright
from experiments.figures.style import series
from experiments.shared.axes import product_of
from experiments.statistics.clusters import curves
from hopfield import metrics, separations
from hopfield.attention import masks
from hopfield.attention.verification import verify_gradients

SHAPES: dict[str, tuple[tuple[int, ...], tuple[int, ...], int, int]] = {
    "rows": ((), (), 4, 6),
    "batch": ((2,), (2,), 3, 5),
    "heads": ((2, 3), (2, 3), 4, 4),
    "grouped": ((2, 2, 2), (2, 2, 1), 3, 4),
}
"""Leading axes of queries, of keys and values, number of queries and of keys; the last leading axis is the heads."""
MASKS = ("none", "causal", "window", "padding", "random", "bias")
METRICS: dict[str, tuple[str, ...]] = {
    "none": (),
    "scaled": ("scale",),
    "diagonal": ("entries",),
    "full": ("matrix",),
    "low_rank": ("factor",),
    "projected": ("w_query", "w_key"),
    "biased": ("w_query", "w_key", "b_query", "b_key"),
    "block": ("metrics.0.entries", "metrics.1.factor"),
}
"""Metrics and their parameters; `biased` is `projected` with biases."""
SEPARATIONS = ("softmax", "entmax", "sparsemax")
DTYPES = ("float32", "float64")


@dataclass
class Config(contract.Config):
    """Options of the verification of gradients."""

    shapes: list[str] = option(
        ["rows", "grouped"], f"shapes, any of {', '.join(SHAPES)}", among=tuple(SHAPES), nonempty=True, axis=True
    )
    masks: list[str] = option(
        ["none", "random"], f"masks, any of {', '.join(MASKS)}", among=MASKS, nonempty=True, axis=True
    )
    metrics: list[str] = option(
        ["none", "low_rank"], f"metrics, any of {', '.join(METRICS)}", among=tuple(METRICS), nonempty=True, axis=True
    )
    separations: list[str] = option(["softmax", "sparsemax"], among=SEPARATIONS, nonempty=True, axis=True)
    dtypes: list[str] = option(
        [*DTYPES], f"number types, any of {', '.join(DTYPES)}", among=DTYPES, nonempty=True, axis=True
    )


COLUMNS = shared("separation", "metric") | {
    "dtype": Column("number type of the inputs", kind=str),
    "mask": Column("mask of the case", kind=str),
    "shape": Column("shape of the case", kind=str),
    "input": Column("input whose gradient is taken", kind=str),
    "size": Column("entries of that input", "count", kind=int),
    "magnitude": Column("largest entry of the gradient"),
    "autodiff": Column("largest deviation from automatic differentiation"),
    "difference": Column("largest deviation from finite differences; empty where none are taken"),
    "tolerance": Column("largest autodiff allowed"),
    "difference_tolerance": Column("largest difference allowed"),
    "passed": Column("whether both deviations stay within what is allowed", kind=bool),
}


X_AXIS = "magnitude"
ERRORS = ("size", "magnitude", "autodiff", "difference", "tolerance", "difference_tolerance")


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
            yield point | {name: errors[name] for name in ERRORS} | {"passed": bool(errors["passed"])}


WIDTH, KEY_WIDTH, RANK, VALUES = 4, 5, 3, 2


def checks_of_case(seed: int, dtype: str, separation: str, metric: str, mask: str, shape: str) -> dict[str, dict]:
    """Deviations of the gradients of one random attention, by input; all number types round the same draw."""
    rng = np.random.default_rng([seed, zlib.crc32("/".join((separation, metric, mask, shape)).encode())])
    leading, key_leading, queries, keys = SHAPES[shape]
    heads = leading[-1:]
    maps = {"softmax": separations.LogSumExp(), "sparsemax": separations.Sparsemax()}
    with jax.enable_x64(dtype == "float64"):
        width = KEY_WIDTH if metric in ("full", "projected", "biased") else WIDTH
        shapes = ((*leading, queries, WIDTH), (*key_leading, keys, width), (*key_leading, keys, VALUES))
        drawn = [jnp.asarray(rng.normal(size=size), dtype) for size in shapes]
        beta, temperature = np.exp(0.3 * rng.normal(size=heads)), np.exp(0.3 * rng.normal())
        options: dict[str, Any] = {"beta": jnp.asarray(beta, dtype), "temperature": jnp.asarray(temperature, dtype)}
        options["metric"] = _metric(metric, rng, heads, dtype)
        options |= _mask(mask, rng, leading, queries, keys, dtype)
        chosen = maps[separation] if separation in maps else separations.Entmax(1.5)
        checks = verify_gradients(*drawn, separation=chosen, seed=int(rng.integers(2**32)), **options)
    return {check["input"]: check for check in checks.table()}


def _metric(name: str, rng: np.random.Generator, heads: tuple[int, ...], dtype: str) -> Any:
    """A random metric with one value per head, of typical score 1."""

    def normal(*shape: int, scale: float = 1.0) -> Any:
        return jnp.asarray(scale * rng.normal(size=(*heads, *shape)), dtype)

    half = WIDTH // 2
    make = {
        "none": lambda: None,
        "scaled": lambda: metrics.Scaled(WIDTH, jnp.asarray(np.exp(0.3 * rng.normal(size=heads)) / 2, dtype)),
        "diagonal": lambda: metrics.Diagonal(normal(WIDTH)),
        "full": lambda: metrics.Full(normal(WIDTH, KEY_WIDTH, scale=0.3)),
        "low_rank": lambda: metrics.LowRank(normal(half, WIDTH, scale=0.5)),
        "projected": lambda: metrics.Projected(normal(WIDTH, RANK, scale=0.5), normal(KEY_WIDTH, RANK, scale=0.5)),
        "biased": lambda: metrics.Projected(
            normal(WIDTH, RANK, scale=0.5), normal(KEY_WIDTH, RANK, scale=0.5), normal(RANK), normal(RANK)
        ),
        "block": lambda: metrics.BlockDiagonal(metrics.Diagonal(normal(half)), metrics.LowRank(normal(1, half))),
    }
    return make[name]()


def _mask(name: str, rng: np.random.Generator, leading: tuple[int, ...], queries: int, keys: int, dtype: str) -> dict:
    """Mask and additive mask of a case. The random mask leaves one query without a readable key."""
    if name == "bias":
        return {"bias": jnp.asarray(rng.normal(size=(queries, keys)), dtype)}
    made = {
        "none": lambda: None,
        "causal": masks.causal,
        "window": lambda: masks.sliding_window(1, 1),
        "padding": lambda: masks.padding(jnp.asarray(rng.integers(1, keys + 1, size=leading))),
        "random": lambda: jnp.asarray(rng.random((queries, keys)) < 0.6).at[0].set(False),
    }
    return {"mask": made[name]()}


def summarise(table: Table) -> Summary:
    """How many gradients agree, and the worst error of each input, for each number type."""
    estimates: list[Row] = [{"quantity": "gradients", "value": len(table), "headline": True}]
    estimates.append({"quantity": "gradients wrong", "value": int((~table["passed"]).sum()), "headline": True})
    for about, rows in [*curves(table, ["dtype"]), *curves(table, ["dtype", "input"])]:
        share = float(rows["passed"].mean())
        estimates.append({"quantity": "share of gradients that agree", **about, "value": share, "samples": len(rows)})
        for name, words in WORDS.items():
            worst = float(rows[name].max())
            estimates.append({"quantity": f"worst error against {words}", **about, "value": worst})
    estimates = [row | {"headline": True} for row in estimates]
    wrong = table[~table["passed"]].groupby("dtype", sort=False).size()
    notes = [f"NOT VERIFIED: {count} gradients in {dtype} disagree" for dtype, count in wrong.items()]
    case = ["dtype", "separation", "metric", "mask", "shape", "input"]
    columns = [*case, "autodiff", "difference", "tolerance", "difference_tolerance"]
    return Summary(estimates, notes=notes, more={"wrong": table[~table["passed"]][columns].to_dict("records")})


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


def panels(table: Table, summary: Summary) -> list[Panel]:
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
