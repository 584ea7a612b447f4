"""Options of the detection of queries that no stored pattern matches."""

from dataclasses import dataclass

from experiments import contract
from experiments.contract import grid_axis, option


@dataclass
class Config(contract.Config):
    """Options of the detection of queries that no stored pattern matches; the defaults are smoke scale."""

    neurons: list[int] = grid_axis([16], "components D of patterns on the sphere", least=3)
    patterns: list[int] = grid_axis([32, 128], "numbers of stored patterns M", least=1)
    kappas: list[float] = grid_axis([8.0], "κ = β for patterns of norm 1", most=80, above=0)
    overlaps: list[float] = grid_axis([0.5, 0.7], "overlaps m of a known query with its pattern", least=0, most=1)
    samples: int = option(20, "pairs of memories, one asked by each kind", least=2, extends=True)
    queries: int = option(8, "queries of each kind in each pair", least=1)
