"""Options of the capacity of sparse patterns and of disturbed couplings."""

from dataclasses import dataclass
from typing import Any

from experiments import contract
from experiments.bounds import Bounds, Number, includes
from experiments.columns import Column, shared
from experiments.contract import grid_axis, option
from experiments.shared import loads

COVARIANCE = ("binary", "balanced", "spins")
"""The covariance rule by what is taken off a state: nothing, the activity, one half."""
DISTURBED = {"clipped": None, "diluted": Number(Bounds(above=0, most=1)), "noisy": Number(Bounds(least=0, most=100))}
"""Hebb's rule with unbiased patterns, its couplings disturbed; the last two have a number, as in diluted:0.3."""
RULES = {**dict.fromkeys(COVARIANCE), **DISTURBED, "hebb": None, "willshaw": None}

CUTS = {"retained_0.5": 0.5, "retained_0.7": 0.7, "retained": 0.8, "retained_0.9": 0.9}
"""Final overlaps P₁ − P₀ above which a pattern counts as retained, by column, each harder than the one before."""


@dataclass
class Config(contract.Config):
    """Options of the capacity of sparse patterns; the defaults are smoke scale."""

    rules: list[str] = grid_axis(
        ["binary", "clipped", "hebb", "willshaw"],
        f"any of {', '.join(RULES)}; diluted:SHARE kept, noisy:DEVIATIONS",
        names=RULES,
    )
    neurons: list[int] = grid_axis([64], "numbers of neurons N", least=32, most=8192)
    activities: list[float] = grid_axis(
        [0.2],
        "shares of neurons that are on, of the covariance rule and of Hebb's",
        above=0,
        most=0.5,
        used_when=includes("rules", *COVARIANCE, "hebb"),
    )
    around: list[float] = grid_axis(
        [0.7, 1.3],
        "loads in units of theory's: α_c; of hebb M = 1/m₀²; of willshaw M at which half of the synapses are on",
        above=0,
        most=4,
    )
    between: Any = option(
        {}, "{size: [lowest, highest]}, what of `around` is measured from that size on (empty: all)", extends=True
    )
    samples: Any = option(6, "draws of patterns at each load, or {size: samples} from that size on", extends=True)
    queries: int = option(4, "patterns asked for in each sample", least=1, most=64)

    def __post_init__(self) -> None:
        super().__post_init__()
        loads.check_by_size(self.samples, self.between)


COLUMNS = shared("rule", "neurons", "patterns", "sample", "load") | {
    "activity": Column("share of neurons on in a pattern", "0 to 1"),
    "on": Column("share on among the neurons that should be, where the dynamics end", "0 to 1"),
    "off": Column("share on among the neurons that should not be, where the dynamics end", "0 to 1"),
    "on_one": Column("share on among the neurons that should be, after one step from the pattern", "0 to 1"),
    "off_one": Column("share on among the neurons that should not be, after one step from the pattern", "0 to 1"),
    "wrong_one": Column("share of wrong neurons after one step from the pattern", "0 to 1"),
    "wrong_theory": Column("share of wrong neurons after one step, as theory predicts it", "0 to 1"),
    "asked": Column("patterns that were queried; one with no neuron on, or none off, is not", "count", kind=int),
    **{
        name: Column(f"queried patterns whose on − off ends above {cut:g}", "count of asked", kind=int)
        for name, cut in CUTS.items()
    },
    "density": Column("share of Willshaw's synapses that are on", "0 to 1"),
}
