"""Options of overlaps in time."""

from dataclasses import dataclass

from experiments import contract
from experiments.columns import Column, shared
from experiments.contract import grid_axis, option

LARGEST = 2**23
"""Entries of all stored patterns at most; sizes of which a degree asks for more are left out."""
CUT = 0.8
"""Overlap above which a pattern is retained."""


@dataclass
class Config(contract.Config):
    """Options of overlaps in time; the defaults are smoke scale."""

    degrees: list[int] = grid_axis([2, 3], "degrees n of the energy; 2 is the classical network", least=2, most=4)
    neurons: list[int] = grid_axis([40], "numbers of neurons N", least=8, most=8192)
    around: list[float] = grid_axis([0.7], "loads in units of the last one with retrieval, N → ∞", above=0, most=3)
    overlaps: list[float] = grid_axis([0.4, 1.0], "overlaps m of the start", above=0, most=1)
    steps: list[int] = grid_axis([1, 2, 10], "numbers of synchronous steps after which m is taken", least=1, most=1000)
    samples: int = option(4, "draws of patterns", least=2, extends=True)
    queries: int = option(4, "patterns asked for in each sample", least=1, most=64)


COLUMNS = shared("neurons", "patterns", "load", "sample", "step", "queries") | {
    "degree": Column("degree of the memory; 2 is the classical network", kind=int),
    "around": Column("load over that of the last retrieval"),
    "overlap": Column("overlap asked for at the start, which whole spins meet to 1/N", "−1 to 1"),
    "final": Column("mean overlap of the queries after step steps", "−1 to 1"),
    "retained": Column("queries with an overlap above 0.8 after step steps", "count of queries", kind=int),
}
