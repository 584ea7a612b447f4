"""Options of the attractors of a network that is given."""

from dataclasses import dataclass

from experiments import contract
from experiments.contract import grid_axis, option

WINE = "wine"
"""The couplings that ship: partial correlations of 13 measurements of 178 wines, and 3 cultivars' means."""


@dataclass
class Config(contract.Config):
    """Options of the attractors of a network that is given; the defaults are smoke scale."""

    couplings: str = option(WINE, "file of the matrix W [N, N] (.npy, .csv), W_ij from j to i; wine: one that ships")
    states: str | None = option(
        None, "file of states [S, N] to look for, spins (.npy, .csv); null: none, or wine's own"
    )
    starts: int = option(50, "random states to start from", least=2, most=10**6, extends=True)
    nulls: int = option(4, "copies whose couplings are shuffled, the null model", least=2, most=1000, extends=True)
    temperatures: list[float] = grid_axis(
        [0.3],
        "T of heat-bath runs that leave an attractor, in units of √(Σ_ij W_ij²/N), the field on a spin",
        above=0,
        most=100,
    )
    sweeps: int = option(50, "sweeps of a heat-bath run", least=1, most=10_000)
    max_steps: int = option(200, "sweeps at zero temperature after which a start is cut", least=1)
