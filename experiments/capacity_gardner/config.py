"""Options of learning couplings up to Gardner's bound."""

from dataclasses import dataclass

from experiments import contract
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
