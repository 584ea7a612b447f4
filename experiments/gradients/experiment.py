"""The gradients of attention worked out by hand, verified: against automatic differentiation and finite differences.

One case is one attention: a shape, a mask, a metric, a separation and a number type. Its gradient in every input
(queries, keys, values, each parameter of the metric, β, additive mask, temperature) is taken by hand
(`hopfield.attention.gradients`), by JAX's automatic differentiation of `hopfield.attention`, and by finite differences
of an attention written in numpy in double precision. Inputs are Gaussian; where there are heads, β and the metrics
have one value per head, so that sums over what is shared are part of the test.
"""

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from experiments import contract
from experiments.contract import Cost, about

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.figure import Figure

Table = Any
"""A pandas.DataFrame, whose columns no type checker knows."""

X_AXIS = "magnitude"
SHAPES: dict[str, tuple[tuple[int, ...], tuple[int, ...], int, int]] = {
    "rows": ((), (), 4, 6),
    "batch": ((2,), (2,), 3, 5),
    "heads": ((2, 3), (2, 3), 4, 4),
    "grouped": ((2, 2, 2), (2, 2, 1), 3, 4),
}
"""Leading axes of queries, of keys and values, number of queries and of keys; the last leading axis is the heads."""
WIDTH, KEY_WIDTH, RANK, VALUES = 4, 5, 3, 2
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

    shapes: list[str] = field(
        default_factory=lambda: ["rows", "grouped"],
        metadata=about(f"shapes, any of {', '.join(SHAPES)}", among=tuple(SHAPES), nonempty=True, distinct=True),
    )
    masks: list[str] = field(
        default_factory=lambda: ["none", "random"],
        metadata=about(f"masks, any of {', '.join(MASKS)}", among=MASKS, nonempty=True, distinct=True),
    )
    metrics: list[str] = field(
        default_factory=lambda: ["none", "low_rank"],
        metadata=about(f"metrics, any of {', '.join(METRICS)}", among=tuple(METRICS), nonempty=True, distinct=True),
    )
    separations: list[str] = field(
        default_factory=lambda: ["softmax", "sparsemax"],
        metadata=about(f"any of {', '.join(SEPARATIONS)}", among=SEPARATIONS, nonempty=True, distinct=True),
    )
    dtypes: list[str] = field(
        default_factory=lambda: list(DTYPES),
        metadata=about(f"number types, any of {', '.join(DTYPES)}", among=DTYPES, nonempty=True, distinct=True),
    )


def cost(config: Config) -> Cost:
    """What all of it takes, from the options alone."""
    cases = len(config.dtypes) * len(config.separations) * len(config.masks) * len(config.shapes)
    return Cost(cases * sum(len(inputs(metric)) for metric in config.metrics), 0.0, 3e8 * cases * len(config.metrics))


def points(config: Config) -> list[dict]:
    """One point per input of every case."""
    return [
        {"dtype": dtype, "separation": separation, "metric": metric, "mask": mask, "shape": shape, "input": name}
        for dtype in config.dtypes
        for separation in config.separations
        for metric in config.metrics
        for mask in config.masks
        for shape in config.shapes
        for name in inputs(metric)
    ]


def inputs(metric: str) -> list[str]:
    """Everything that attention with this metric has a gradient in."""
    return ["query", "key", "value", *(f"metric.{leaf}" for leaf in METRICS[metric]), "beta", "bias", "temperature"]


def science(config: Config) -> dict:
    """What else the numbers depend on."""
    return {"seed": config.seed}


def measure(config: Config, points: Sequence[dict]) -> Iterator[dict]:
    """Errors of every gradient asked for, case by case."""
    cases: dict[tuple[str, ...], list[dict]] = {}
    for point in points:
        case = tuple(point[key] for key in ("dtype", "separation", "metric", "mask", "shape"))
        cases.setdefault(case, []).append(point)
    for case, wanted in cases.items():
        checks = verified(config.seed, *case)
        for point in wanted:
            found = checks[point["input"]]
            yield (
                point
                | {name: found[name] for name in ("size", "magnitude", "autodiff", "difference", "tolerance")}
                | {"passed": bool(found["passed"])}
            )


def verified(seed: int, dtype: str, separation: str, metric: str, mask: str, shape: str) -> dict[str, dict]:
    """The checks of one case by the name of the input; its numbers do not depend on the type they are rounded to."""
    import jax
    import jax.numpy as jnp
    import numpy as np

    from hopfield import separations
    from hopfield.attention.verification import verify_gradients

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
        chosen = maps[separation] if separation in maps else separations.entmax(1.5)
        found = verify_gradients(*drawn, separation=chosen, seed=int(rng.integers(2**32)), **options)
    return {check["input"]: check for check in found.table()}


def _metric(name: str, rng: "np.random.Generator", heads: tuple[int, ...], dtype: str) -> Any:
    """A random metric with one value per head, of typical score 1."""
    import jax.numpy as jnp
    import numpy as np

    from hopfield import metrics as bilinear

    def normal(*shape: int, scale: float = 1.0) -> Any:
        return jnp.asarray(scale * rng.normal(size=(*heads, *shape)), dtype)

    half = WIDTH // 2
    make = {
        "none": lambda: None,
        "scaled": lambda: bilinear.scaled(WIDTH, jnp.asarray(np.exp(0.3 * rng.normal(size=heads)) / 2, dtype)),
        "diagonal": lambda: bilinear.diagonal(normal(WIDTH)),
        "full": lambda: bilinear.full(normal(WIDTH, KEY_WIDTH, scale=0.3)),
        "low_rank": lambda: bilinear.low_rank(normal(half, WIDTH, scale=0.5)),
        "projected": lambda: bilinear.projected(normal(WIDTH, RANK, scale=0.5), normal(KEY_WIDTH, RANK, scale=0.5)),
        "biased": lambda: bilinear.projected(
            normal(WIDTH, RANK, scale=0.5), normal(KEY_WIDTH, RANK, scale=0.5), normal(RANK), normal(RANK)
        ),
        "block": lambda: bilinear.block(bilinear.diagonal(normal(half)), bilinear.low_rank(normal(1, half))),
    }
    return make[name]()


def _mask(name: str, rng: "np.random.Generator", leading: tuple[int, ...], queries: int, keys: int, dtype: str) -> dict:
    """The mask and the additive mask of a case; the random one leaves a query with nothing to read."""
    import jax.numpy as jnp

    from hopfield.attention import masks

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


def summarise(table: Table) -> dict:
    """The verdict for each number type, and the worst error of each input."""
    scalars: dict[str, Any] = {}
    for dtype, rows in table.groupby("dtype", sort=False):
        worst = rows.groupby("input", sort=False)[["autodiff", "difference"]].max()
        good = rows.groupby("input", sort=False)["passed"].agg(["sum", "size"])
        for name, row in worst.iterrows():
            scalars[f"{dtype} {name}"] = (
                f"{good.loc[name, 'sum']} of {good.loc[name, 'size']} agree, worst "
                f"{row['autodiff']:.1e} from autodiff, {row['difference']:.1e} from differences"
            )
        verdict = "verified" if rows["passed"].all() else "NOT VERIFIED"
        scalars[f"{dtype} verdict"] = f"{verdict}: {int(rows['passed'].sum())} of {len(rows)} gradients agree"
        scalars[f"{dtype}_worst_autodiff"] = float(rows["autodiff"].max())
        scalars[f"{dtype}_worst_difference"] = float(rows["difference"].max())
    columns = ["dtype", "separation", "metric", "mask", "shape", "input", "autodiff", "difference", "tolerance"]
    scalars |= {"gradients": len(table), "gradients_wrong": int((~table["passed"]).sum())}
    return {"wrong": table.loc[~table["passed"], columns].to_dict("records"), "scalars": scalars}


def plot(table: Table, summary: dict) -> "Figure":
    """Errors of each input for each number type, and the worst error over metrics, masks and separations."""
    from experiments.gradients.figure import draw

    return draw(table)
