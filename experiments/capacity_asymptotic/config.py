"""Options of the asymptotic capacity experiment."""

from dataclasses import dataclass, field

from experiments import contract
from experiments.bounds import Use, judged
from experiments.contract import about

_ENUMERATED = Use("enumerated is not empty", lambda config: bool(config.enumerated))


@dataclass
class Config(contract.Config):
    """Options of the asymptotic capacity experiment."""

    neurons: list[int] = field(
        default_factory=lambda: [12, 24],
        metadata=about("numbers of neurons N, 2 to 1000", least=2, most=1000, nonempty=True, extends=True),
    )
    enumerated: list[int] = field(
        default_factory=lambda: [12],
        metadata=about(
            "sizes of them at which the patterns are also drawn one by one",
            used_when=judged("each has a load of at most 2^24 patterns", "all_enumerated"),
            extends=True,
        ),
    )
    corruption: list[float] = field(
        default_factory=lambda: [0.0],
        metadata=about(
            "fractions of flipped spins in the start, 0 to 1/2", least=0, below=0.5, nonempty=True, axis=True
        ),
    )
    beta: float = field(default=1.0, metadata=about("inverse temperature in exp(β ξ·x), above 0", above=0, axis=True))
    around: list[float] = field(
        default_factory=lambda: [-0.06, -0.03, -0.01, 0.01, 0.03, 0.06],
        metadata=about(
            "loads to measure at, from the threshold of an infinite system, widened by 1 + 16/N",
            least=-0.5,
            most=0.5,
            nonempty=True,
            extends=True,
        ),
    )
    sampled_queries: int = field(
        default=400, metadata=about("queries at each load whose overlaps are sampled", least=1, formerly="trials")
    )
    samples: int = field(
        default=8,
        metadata=about(
            "draws of all patterns at each load, where they are enumerated",
            least=1,
            used_when=_ENUMERATED,
            formerly="draws",
        ),
    )
    queries: int = field(
        default=16,
        metadata=about("patterns queried in each of those draws", least=1, used_when=_ENUMERATED, formerly="probes"),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        for value in self.enumerated:
            if value not in self.neurons:
                raise ValueError(f"enumerated must be some of neurons {self.neurons}, got {value}")
