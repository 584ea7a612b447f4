"""Options of relaxation."""

from dataclasses import dataclass

from experiments import contract
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
