"""Options of the experiment on sequence memories."""

from dataclasses import dataclass

from experiments import contract
from experiments.columns import Column, shared
from experiments.contract import grid_axis, option

EXPONENTIAL = "exponential"
DEGREES = ("1", "2", "3", "4", EXPONENTIAL)
LONGEST = 256
"""Patterns of a sequence at most: a step from each of them asks all of them. Longer ones are left out."""
LEARNING = ("plain", "pseudo_inverse")


def degree(name: str) -> int | None:
    """The degree d of a rule by its name, None for the exponential one."""
    return None if name == EXPONENTIAL else int(name)


@dataclass
class Config(contract.Config):
    """Options of the experiment on sequence memories; the defaults are smoke scale."""

    degrees: list[str] = grid_axis(["1", "2"], f"rules f(x) = x^d by d: {', '.join(DEGREES)}", among=DEGREES)
    neurons: list[int] = grid_axis([16], "numbers of neurons N, 4 to 1000", least=4, most=1000)
    shares: list[float] = grid_axis(
        [0.8, 0.3],
        "whole sequences expected right at the lengths measured, bits taken as independent",
        above=0,
        below=1,
    )
    correlation: list[float] = grid_axis(
        [0.0], "mean overlaps of any two patterns, 0 to 1; lengths stay those of independent ones", least=0, below=1
    )
    learning: list[str] = grid_axis(["plain"], among=LEARNING)
    samples: int = option(20, "sequences drawn at each length", least=1, extends=True)


COLUMNS = shared("neurons", "patterns", "sample") | {
    "degree": Column("degree d of the rule f(x) = x^d, or exponential", kind=str),
    "learning": Column("rule by which the sequence is learned", kind=str),
    "correlation": Column("correlation of any two patterns", "−1 to 1"),
    "bit_error": Column("share of wrong spins over all transitions", "0 to 1"),
    "overlap": Column("overlap with the first pattern after following the sequence once around", "−1 to 1"),
    "right": Column("transitions of which every spin is right", "count of patterns", kind=int),
    "whole": Column("1 if all transitions are right, 0 otherwise", kind=int),
}
