"""Options of the capacity of sparse patterns and of disturbed couplings."""

from dataclasses import dataclass

from experiments import contract
from experiments.contract import option

COVARIANCE = ("binary", "balanced", "spins")
"""The covariance rule by what is taken off a state: nothing, the activity, one half."""
DISTURBED = ("clipped", "diluted", "noisy")
"""Hebb's rule with unbiased patterns, its couplings disturbed; the last two have a number, as in diluted:0.3."""
RULES = (*COVARIANCE, *DISTURBED, "hebb", "willshaw")


@dataclass
class Config(contract.Config):
    """Options of the capacity of sparse patterns; the defaults are smoke scale."""

    rules: list[str] = option(
        ["binary", "clipped", "hebb", "willshaw"],
        f"any of {', '.join(RULES)}; diluted:SHARE kept, noisy:DEVIATIONS",
        nonempty=True,
        extends=True,
    )
    neurons: list[int] = option([64], "numbers of neurons N", least=32, most=4096, nonempty=True, extends=True)
    activities: list[float] = option(
        [0.2],
        "shares of neurons that are on, of the covariance rule and of Hebb's",
        above=0,
        most=0.5,
        nonempty=True,
        extends=True,
    )
    around: list[float] = option(
        [0.7, 1.3],
        "loads in units of theory's: α_c; of hebb M = 1/m₀²; of willshaw M at which half of the synapses are on",
        above=0,
        most=4,
        nonempty=True,
        extends=True,
    )
    samples: int = option(6, "draws of patterns at each load", least=2, extends=True)
    queries: int = option(4, "patterns asked for in each draw", least=1, most=64)

    def __post_init__(self) -> None:
        super().__post_init__()
        for rule in self.rules:
            parsed(rule)


def parsed(rule: str) -> tuple[str, float]:
    """Name and number of a rule, 0 where it has none. Raises ValueError for any other."""
    name, colon, text = rule.partition(":")
    try:
        number = float(text) if colon else 0.0
    except ValueError:
        number = -1.0
    inside = {"diluted": 0 < number <= 1, "noisy": bool(colon) and 0 <= number <= 100}.get(name, not colon)
    if name not in RULES or not inside:
        raise ValueError(
            f"rules must be among {', '.join(RULES)}, diluted with a share from 0 to 1 and noisy with deviations from "
            f"0 to 100 after a colon, got {rule!r}"
        )
    return name, number
