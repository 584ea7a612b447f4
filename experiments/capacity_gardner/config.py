"""Options of learning couplings up to Gardner's bound."""

from dataclasses import dataclass

from experiments import contract
from experiments.columns import Column, shared
from experiments.contract import grid_axis, option

LEARNED = ("perceptron", "adatron")
"""Rules that learn every spin by itself, as Cover's theorem has it."""


@dataclass
class Config(contract.Config):
    """Options of learning couplings up to Gardner's bound; the defaults are smoke scale."""

    rules: list[str] = option(
        ["adatron", "perceptron"],
        "memories of couplings: adatron, perceptron:κ, perceptron_symmetric:κ, projection, classical, storkey",
        meaning="memory",
        nonempty=True,
        axis=True,
    )
    neurons: list[int] = grid_axis([20, 40], "numbers of neurons N", least=4)
    loads: list[float] = grid_axis([0.5, 1.5], "loads M / N", above=0, most=4)
    biases: list[float] = grid_axis([0.0], "means of the spins of patterns", above=-1, below=1)
    flipped: list[float] = grid_axis([0.0, 0.1], "shares of flipped spins in starts of retrieval", least=0, most=0.5)
    samples: int = option(4, "draws of patterns at each load", least=2, extends=True)
    queries: int = option(8, "patterns retrieved in each draw", least=1)
    max_steps: int = option(50, "sweeps of one retrieval at most", least=1)


COLUMNS = shared("rule", "neurons", "patterns", "sample", "load") | {
    "bias": Column("mean of the spins of patterns", "−1 to 1"),
    "flipped": Column("share of flipped spins in the starts of retrieval", "0 to 0.5"),
    "stability": Column("least stability γ = ξ h/‖W‖ of a spin over all patterns, mean over spins"),
    "held": Column("share of spins whose least stability is above that of the rule, 0 unless it names one", "0 to 1"),
    "fixed": Column("share of patterns that one update leaves as they are", "0 to 1"),
    "retained": Column("share of queries that end with an overlap above 0.9 with their pattern", "0 to 1"),
}
