"""Options of the asymptotic capacity experiment."""

from dataclasses import dataclass

from experiments import contract
from experiments.bounds import Use, decided_by
from experiments.columns import Column, shared
from experiments.contract import grid_axis, option

_ENUMERATED = Use("enumerated is not empty", lambda config: bool(config.enumerated))


@dataclass
class Config(contract.Config):
    """Options of the asymptotic capacity experiment."""

    neurons: list[int] = grid_axis([12, 24], "numbers of neurons N, 2 to 1000", least=2, most=1000)
    enumerated: list[int] = option(
        [12],
        "sizes of them at which the patterns are also drawn one by one",
        used_when=decided_by("each has a load of at most 2^24 patterns", "all_enumerated"),
        extends=True,
    )
    corruption: list[float] = option(
        [0.0], "fractions of flipped spins in the start, 0 to 1/2", least=0, below=0.5, nonempty=True, axis=True
    )
    beta: float = option(1.0, "inverse temperature in exp(β ξ·x), above 0", above=0, axis=True)
    around: list[float] = grid_axis(
        [-0.06, -0.03, -0.01, 0.01, 0.03, 0.06],
        "loads to measure at, from the threshold of an infinite system, widened by 1 + 16/N",
        least=-0.5,
        most=0.5,
    )
    sampled_queries: int = option(400, "queries at each load whose overlaps are sampled", least=1)
    samples: int = option(
        8,
        "draws of all patterns at each load, where they are enumerated",
        least=1,
        used_when=_ENUMERATED,
        extends=True,
    )
    queries: int = option(16, "patterns queried in each of those draws", least=1, used_when=_ENUMERATED)

    def __post_init__(self) -> None:
        super().__post_init__()
        for value in self.enumerated:
            if value not in self.neurons:
                raise ValueError(f"enumerated must be some of neurons {self.neurons}, got {value}")


COLUMNS = shared("neurons", "corruption", "beta", "load", "sample", "queries", "entropy") | {
    "method": Column(
        "sampled, each query with patterns of its own, or enumerated, where the queries of a draw share them", kind=str
    ),
    "heavy": Column("queries whose own pattern has more than half of the weight", "count of queries", kind=int),
    "log_odds": Column("median logarithm of the own weight over the sum of the others'"),
    "error": Column("share of wrong spins after one step", "0 to 1"),
}
