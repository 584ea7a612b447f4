"""Options of the detection of queries that no stored pattern matches."""

from dataclasses import dataclass, field

from experiments import contract
from experiments.contract import about


@dataclass
class Config(contract.Config):
    """Options of the detection of queries that no stored pattern matches; the defaults are smoke scale."""

    neurons: list[int] = field(
        default_factory=lambda: [16],
        metadata=about("components D of patterns on the sphere", least=3, nonempty=True, extends=True),
    )
    patterns: list[int] = field(
        default_factory=lambda: [32, 128],
        metadata=about("numbers of stored patterns M", least=1, nonempty=True, extends=True),
    )
    kappa: list[float] = field(
        default_factory=lambda: [8.0],
        metadata=about("κ = β for patterns of norm 1", above=0, most=80, nonempty=True, extends=True),
    )
    overlaps: list[float] = field(
        default_factory=lambda: [0.5, 0.7],
        metadata=about("overlaps m of a known query with its pattern", least=0, most=1, nonempty=True, extends=True),
    )
    samples: int = field(default=20, metadata=about("pairs of memories, one asked by each kind", least=2, extends=True))
    queries: int = field(default=8, metadata=about("queries of each kind in each pair", least=1))
