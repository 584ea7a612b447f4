"""Options of the landscape: where random starts end."""

from dataclasses import dataclass

from experiments import contract
from experiments.bounds import Use, both, includes
from experiments.columns import Column, shared
from experiments.contract import grid_axis, option

SPINS = ("classical", "dense:3", "dense:4", "exponential")
CONTINUOUS = ("modern", "epanechnikov")
KINDS = ("pattern", "reversed", "mixture", "asymmetric", "glassy")
"""Kinds of ends: a pattern, its reverse, a symmetric mixture of three, any other of at most five, and the rest."""
RETRIEVED = 0.9
"""Overlap with a pattern or mixture, or weight in a continuous memory, above which an end counts as one."""
LARGEST = 5
"""Patterns that a mixture is made of at most."""


@dataclass
class Config(contract.Config):
    """Options of the landscape; the defaults are smoke scale."""

    memories: list[str] = grid_axis(["classical", "epanechnikov"], among=(*SPINS, *CONTINUOUS))
    neurons: list[int] = grid_axis([40], "numbers of neurons N", least=8, most=2000)
    patterns: list[int] = grid_axis([5, 12], "numbers of patterns M", least=5, most=10_000)
    temperatures: list[float] = grid_axis(
        [0.5],
        "T of heat-bath sweeps before the descent, 0 for none; 1/β of modern, squared radius / N of epanechnikov, > 0",
        least=0,
        most=100,
    )
    sweeps: int = option(
        30,
        "heat-bath sweeps at T > 0",
        least=1,
        most=10_000,
        used_when=both(
            includes("memories", *SPINS),
            Use("temperatures has one above 0", lambda config: max(config.temperatures) > 0),
        ),
    )
    samples: int = option(3, "draws of patterns", least=2, extends=True)
    starts: int = option(6, "random starts in each sample", least=2, most=4096, extends=True)


COLUMNS = shared("memory", "neurons", "patterns", "temperature", "sample") | {
    "start": Column("number of the start", kind=int),
    "energy": Column("energy per neuron of the end, as the memory defines it"),
    "gradient": Column("slope of the energy at the end; empty on spins"),
    "kind": Column(
        "what the start ends in, of a continuous memory by weights: 0 pattern, 1 reversed, 2 mixture, 3 asymmetric, "
        "4 glassy",
        kind=int,
    ),
    "mark": Column(
        "mark of the end: ends of one mark and draw are one state, in a continuous memory those of one energy too"
    ),
    "overlap": Column("largest overlap of the end with a pattern; on spins its absolute value", "−1 to 1"),
    "settled": Column("1 if the end is a fixed point, 0 otherwise", kind=int),
    "stability": Column("least x_i h_i, or least eigenvalue of the Hessian"),
}
