"""Options of relaxation."""

from dataclasses import dataclass

from experiments import contract
from experiments.columns import Column, shared
from experiments.contract import grid_axis, option

CUT = 0.5
"""Overlap below which a state has left its pattern."""


@dataclass
class Config(contract.Config):
    """Options of relaxation; the defaults are smoke scale."""

    degrees: list[int] = grid_axis([2, 3], "degrees n of the energy; 2 is the classical network", least=2, most=4)
    temperatures: list[float] = grid_axis([0.4], "temperatures T", above=0, below=1)
    neurons: list[int] = grid_axis([40], "numbers of neurons N", least=8, most=4096)
    around: list[float] = grid_axis([0.3, 0.6], "loads in units of the spinodal one at T, N → ∞", above=0, most=2)
    samples: int = option(3, "draws of patterns", least=2, extends=True)
    queries: int = option(2, "patterns started from in each sample", least=1, extends=True)
    burn_in: int = option(20, "heat-bath sweeps before overlaps are kept", least=0)
    sweeps: int = option(200, "sweeps of which they are kept", least=20)


COLUMNS = shared("temperature", "neurons", "patterns", "load", "sample") | {
    "degree": Column("degree of the memory; 2 is the classical network", kind=int),
    "around": Column("load over the replica-symmetric spinodal one at T"),
    "query": Column("number of the pattern started from", kind=int),
    "observed": Column("heat-bath sweeps that were made", "sweeps", kind=int),
    "exposure": Column("sweeps until the overlap fell below ½, or all that were made", "sweeps", kind=int),
    "left": Column("1 if the overlap fell below ½, 0 otherwise", kind=int),
    "mean": Column("mean overlap after burn_in sweeps, of a start that never left", "−1 to 1"),
    "time": Column("integrated autocorrelation time of the overlap, of a start that never left", "sweeps"),
    "window": Column("lag that the autocorrelation was summed to", "sweeps"),
}
