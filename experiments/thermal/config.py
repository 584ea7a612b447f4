"""Options of continuous memories at a temperature."""

from dataclasses import dataclass

from experiments import contract
from experiments.columns import Column, shared
from experiments.contract import grid_axis, option

KERNELS = ("lse", "lsr")
MIXED, ENOUGH = 1.01, 400
"""R̂ below which chains count as mixed, and least effective number of samples (Vehtari et al. 2021)."""


@dataclass
class Config(contract.Config):
    """Options of continuous memories at a temperature; the defaults are smoke scale."""

    kernels: list[str] = grid_axis(list(KERNELS), among=KERNELS)
    neurons: list[int] = grid_axis([8], "numbers of components N", least=4)
    loads: list[float] = grid_axis([0.2, 0.5], "loads ln M / N", above=0, most=2)
    temperatures: list[float] = grid_axis([0.2, 1.0], "temperatures T", above=0, most=100)
    sharpness: float = option(8.0, "b, inverse width of a pattern's basin in overlap", above=1, most=1000)
    samples: int = option(2, "draws of patterns", least=2, extends=True)
    chains: int = option(4, "chains that start in the pattern", least=2, most=1024)
    length: int = option(50, "states that each chain keeps", least=8)
    every: int = option(5, "Langevin steps from one to the next", least=1)
    burn_in: int = option(100, "steps before the first", least=0)


COLUMNS = shared("neurons", "patterns", "load", "temperature", "sample") | {
    "kernel": Column("lse, the log of a sum of exponentials, or lsr, of rectified overlaps", kind=str),
    "overlap": Column("mean of x·ξ/N over chains and samples", "−1 to 1"),
    "energy": Column("mean energy per neuron, −1 at a pattern that is alone"),
    "rhat": Column("R̂ of the overlap, of chains that began in the pattern", "at least about 1"),
    "effective": Column("effective number of samples of the overlap", "count"),
    "one_pattern": Column("mean overlap with a pattern that is stored alone, exact at this N", "0 to 1"),
    "critical": Column("load to which theory retrieves: of lse the thermodynamic one, of lsr that of its support"),
    "stable": Column("load to which lse has a retrieval state; empty of lsr"),
    "accepted": Column("share of Langevin steps accepted", "0 to 1"),
}
