"""Options of the capacity of memories of random features."""

from dataclasses import dataclass

from experiments import contract
from experiments.columns import Column, shared
from experiments.contract import grid_axis, option

MAPS = ("trigonometric", "orthogonal", "positive")
"""Sin-cos features, the same with projections at right angles, and positive exponentials."""


@dataclass
class Config(contract.Config):
    """Options of the capacity of random features; the defaults are smoke scale."""

    maps: list[str] = grid_axis(["trigonometric"], among=MAPS)
    neurons: list[int] = grid_axis([8], "components N of a pattern", least=2, most=1024)
    patterns: list[int] = grid_axis([8], "patterns M, of norm 1", least=1, most=100_000)
    betas: list[float] = grid_axis([2.0], "inverse temperatures β", above=0, most=1e4)
    features: list[int] = grid_axis([64, 256], "sizes Y of the memory, even numbers", least=4, most=2**20)
    samples: int = option(6, "draws of patterns and of features", least=2, extends=True)
    queries: int = option(4, "patterns that are asked for, each with noise", least=1, most=256)
    noise: float = option(0.3, "norm of the noise of a query", least=0, most=10)

    def __post_init__(self) -> None:
        super().__post_init__()
        for size in self.features:
            if size % 2:
                raise ValueError(f"features must be even numbers, got {size}")


COLUMNS = shared("neurons", "patterns", "beta", "sample") | {
    "map": Column("kind of random features", kind=str),
    "features": Column("number Y of random features", "count", kind=int),
    "squared_error": Column("squared error of the sum of kernels, relative to it, mean over queries"),
    "squared_log_error": Column(
        "squared error of βE, mean over queries; empty where the energy of one is not a number"
    ),
    "squared_distance": Column(
        "squared distance between the ends of the descents on both energies; empty where one is lost"
    ),
    "predicted": Column("relative error that the memory predicts of itself, without the patterns"),
    "failed": Column("share of queries whose energy is not a number", "0 to 1"),
    "lost": Column("share of queries whose end is not a number", "0 to 1"),
}
