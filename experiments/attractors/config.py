"""Options of the attractors of a network that is given."""

from dataclasses import dataclass

from experiments import contract
from experiments.columns import Column, shared
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


COLUMNS = shared("neurons", "temperature") | {
    "null": Column("0 for the network that is given, else the number of its shuffled copy", kind=int),
    "start": Column("number of the random start", kind=int),
    "end": Column("name of the state that the start ends in, a hash of its spins", kind=str),
    "settled": Column("1 if that is a fixed point, 0 if it was still moving", kind=int),
    "left": Column("1 if it is another one than at temperature 0, 0 otherwise", kind=int),
    "energy": Column("energy per neuron of the end; empty where couplings are asymmetric"),
    "bound": Column("least energy per neuron that the largest eigenvalue allows; empty as the energy is"),
    "exist": Column("fixed points that there are, counted over all states; empty for more than 16 neurons"),
    "nearest": Column("number of the given state of largest |overlap|, −1 if none is given", kind=int),
    "overlap": Column("its overlap with the end", "−1 to 1"),
    "axis_*": Column("projection of the end on the eigenvector * of the symmetric part of the couplings, over √N"),
    "eigenvalue_*": Column("eigenvalue * of the symmetric part of the couplings, largest first"),
}
