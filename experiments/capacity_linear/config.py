"""Options of the capacity of fast-weight memories."""

from dataclasses import dataclass

from experiments import contract
from experiments.contract import option

RULES = ("outer", "delta", "pseudo_inverse")


@dataclass
class Config(contract.Config):
    """Options of the capacity of fast-weight memories; the defaults are smoke scale."""

    rules: list[str] = option(
        ["outer", "pseudo_inverse"],
        "outer, delta, pseudo_inverse; of the first two also rule:decay, as in delta:0.99, which is gated",
        nonempty=True,
    )
    neurons: list[int] = option(
        [16, 32], "numbers of components D of keys and of values", least=3, most=4096, nonempty=True, extends=True
    )
    loads: list[float] = option(
        [0.2, 0.4, 0.6, 0.8], "loads n ln n / D² of n pairs", most=20, above=0, nonempty=True, extends=True
    )
    samples: int = option(8, "draws of pairs at each load", least=2, extends=True)
    queries: int = option(256, "keys asked for in each draw, spread over all ages", least=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        for rule in self.rules:
            parsed(rule)


def parsed(rule: str) -> tuple[str, float]:
    """Name and decay of a rule, 1 where none is given. Raises ValueError for any other."""
    name, colon, number = rule.partition(":")
    try:
        decay = float(number) if colon else 1.0
    except ValueError:
        decay = 0.0
    if name not in RULES or not 0 < decay <= 1 or (colon and name == "pseudo_inverse"):
        raise ValueError(
            f"rules must be among {', '.join(RULES)}, outer:DECAY, delta:DECAY (from 0 to 1), got {rule!r}"
        )
    return name, decay
