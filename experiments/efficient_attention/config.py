"""Options of the comparison of ways to compute attention: the methods by name, and the lengths."""

from dataclasses import dataclass

from experiments import contract
from experiments.bounds import Bounds, Number, Use, includes
from experiments.contract import grid_axis, option

EXACT = ("dense", "blockwise")
NUMBERED = ("linear", "window", "low_rank")
"""Methods that take a number: features, positions, stretches."""
LAYERS = {
    **dict.fromkeys(("softmax", "softmax1", "sparsemax")),
    "entmax": Number(Bounds(above=1.0, most=2.0)),
    "top_k": Number(Bounds(least=1), whole=True),
}
"""Separations of a layer's head, which chooses by itself how many queries it reads at a time."""
METHODS = {**dict.fromkeys((*EXACT, "elu")), **dict.fromkeys(NUMBERED, Number(Bounds(least=1), whole=True)), **LAYERS}
PASSES = ("forward", "backward")


@dataclass
class Config(contract.Config):
    """Options of the comparison of ways to compute attention."""

    methods: list[str] = option(
        ["dense", "blockwise", "linear:32", "elu", "window:16", "low_rank:16"],
        "ways to compute it: dense, blockwise, elu, linear:m, window:w, low_rank:r; heads of a layer by separation",
        names=METHODS,
        nonempty=True,
        axis=True,
    )
    lengths: list[int] = grid_axis([64, 128], "lengths of the sequence", least=1)
    passes: list[str] = option(
        ["forward"], "forward, or backward for both passes together", among=PASSES, nonempty=True, axis=True
    )
    width: int = option(16, "dimensions D of queries, keys and values", least=1)
    spread: float = option(0.5, "standard deviation of the components of queries and keys", above=0)
    update_steps: int = option(
        1, "updates of a layer's head, the last of which reads", least=1, used_when=includes("methods", *LAYERS)
    )
    largest_dense: int = option(
        4096,
        "length up to which all scores are held at once",
        least=1,
        used_when=Use(
            "methods has dense, or passes has forward",
            lambda config: "dense" in config.methods or "forward" in config.passes,
        ),
    )
    repeats: int = option(2, "timed runs, of which the fastest counts", least=1)
    samples: int = option(2, "draws over which errors are averaged", least=1, used_when=includes("passes", "forward"))
