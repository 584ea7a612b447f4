"""Options of the verification of gradients: the attentions that are verified, by name."""

from dataclasses import dataclass

from experiments import contract
from experiments.contract import option

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
