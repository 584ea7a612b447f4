"""Options of the detection of queries that no stored pattern matches."""

from dataclasses import dataclass

from experiments import contract
from experiments.contract import option


@dataclass
class Config(contract.Config):
    """Options of the detection of queries that no stored pattern matches; the defaults are smoke scale."""

    neurons: list[int] = option([16], "components D of patterns on the sphere", least=3, nonempty=True, extends=True)
    patterns: list[int] = option([32, 128], "numbers of stored patterns M", least=1, nonempty=True, extends=True)
    kappa: list[float] = option([8.0], "κ = β for patterns of norm 1", most=80, above=0, nonempty=True, extends=True)
    overlaps: list[float] = option(
        [0.5, 0.7], "overlaps m of a known query with its pattern", least=0, most=1, nonempty=True, extends=True
    )
    samples: int = option(20, "pairs of memories, one asked by each kind", least=2, extends=True)
    queries: int = option(8, "queries of each kind in each pair", least=1)
