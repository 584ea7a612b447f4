"""Options of the basins of attraction, and the scale of every memory."""

from dataclasses import dataclass

from experiments import contract
from experiments.columns import Column, shared
from experiments.contract import grid_axis, option

DYNAMICS = ("asynchronous", "synchronous")


@dataclass
class Scale:
    """Scale that one memory is measured at."""

    neurons: list[int] = grid_axis([64], "numbers of neurons N", least=2)
    loads: list[float] = grid_axis([0.05, 0.15], "loads, in the memory's own scaling", above=0)
    samples: int = option(6, "draws of patterns at each load", least=1, extends=True)
    queries: int = option(4, "patterns queried in each sample", least=1)
    dynamics: list[str] | None = option(
        None, "any of asynchronous (default on spins) and synchronous (default elsewhere)", among=DYNAMICS
    )
    beta: float | None = option(None, "inverse temperature, where the memory has one", above=0)
    near: float = option(0.8, "overlap above which a state is near a pattern, from 0 to 1", above=0, below=1)
    max_steps: int = option(50, "updates or sweeps of one query at most", least=1)


@dataclass
class Config(contract.Config):
    """Options of the basins of attraction; the defaults are smoke scale."""

    memories: list[str] = option(
        ["classical", "modern"],
        "memories, each name or name:parameter as in dense:4, sparse:1.5",
        meaning="memory",
        nonempty=True,
        axis=True,
    )
    overlaps: list[float] = grid_axis([0.1, 0.3, 0.5, 0.7, 0.9], "initial overlaps, from 0 to 1", least=0, most=1)
    per_memory: dict[str, Scale] = option(
        {}, "scales of single memories", meaning="memory", entries_of="memories", axis=True
    )


COLUMNS = shared(
    "memory",
    "dynamics",
    "neurons",
    "patterns",
    "beta",
    "max_steps",
    "queries",
    "sample",
    "load",
    "cycles",
    "overlap",
    "step_limit",
    "steps",
) | {
    "near": Column("overlap above which an end counts as near a pattern", "−1 to 1"),
    "initial_overlap": Column("overlap with the pattern that was asked for at the start", "−1 to 1"),
    "start_overlap": Column("overlap at the start, which whole spins meet to 1/N", "−1 to 1"),
    "right": Column("queries that end near their own pattern", "count of queries", kind=int),
    "some": Column("queries that end near any pattern", "count of queries", kind=int),
    "reversed": Column("queries that end near no pattern but near the negative of one", "count of queries", kind=int),
}
