"""Options of learning patterns from noisy examples."""

from dataclasses import dataclass

from experiments import contract
from experiments.columns import Column, shared
from experiments.contract import grid_axis, option

RULES = ("supervised", "unsupervised")
"""Whether examples of one pattern are added up before they are stored, as a teacher makes possible."""
KEPT = 0.7
"""Overlap above which a pattern is retained; states of few examples end well below 1."""


@dataclass
class Config(contract.Config):
    """Options of learning patterns from noisy examples; the defaults are smoke scale."""

    rules: list[str] = grid_axis(list(RULES), among=RULES)
    neurons: list[int] = grid_axis([100], "numbers of neurons N", least=10)
    loads: list[float] = grid_axis([0.05], "loads M / N", above=0, most=1)
    qualities: list[float] = grid_axis([0.5], "qualities r of examples", above=0, most=1)
    examples: list[int] = grid_axis([2, 20], "numbers of examples A of each pattern", least=1)
    samples: int = option(4, "draws of patterns and examples", least=2, extends=True)
    queries: int = option(4, "patterns retrieved in each draw", least=1)
    max_steps: int = option(100, "sweeps of one retrieval at most", least=1)


COLUMNS = shared("rule", "neurons", "patterns", "load", "sample", "overlap") | {
    "quality": Column("r, mean overlap of an example with its pattern", "0 to 1"),
    "examples": Column("examples A shown of each pattern", "count", kind=int),
    "retained": Column("share of patterns whose state, started in them, ends with an overlap above 0.7", "0 to 1"),
}
"""Patterns, the archetypes, are never shown themselves. `overlap` is with the pattern, after a start in it."""
