"""Kalaj, Lauditi, Perugini, Lucibello, Malatesta & Negri 2024 (arXiv:2407.05658): examples never stored are retrieved.

Patterns are signs of sums of A of D = δN features, with Gaussian coefficients; P = αN of them are stored by Hebb's
rule. Asynchronous sweeps start in a stored pattern, or in one of the same features that was not stored.
"""

from dataclasses import dataclass
from itertools import product
from typing import ClassVar

import jax

from experiments.contract import option
from experiments.papers.claim import Claim, overlap_kept
from hopfield import hebb_couplings
from hopfield.memories.classical import classical
from hopfield.patterns import spins, superpositions

STARTS = {0.0: "stored", 1.0: "unseen"}


@dataclass
class Unseen(Claim):
    """Overlap kept by stored and by unseen examples, against the number of stored ones."""

    quantity: ClassVar[str] = "overlap kept by an example"
    x: ClassVar[str] = r"load $\alpha=P/N$"
    y: ClassVar[str] = "final overlap"

    neurons: int = option(100, "number of neurons N", least=16, most=8192)
    features: float = option(0.1, "features D/N", above=0, most=4)
    active: int = option(3, "features A of an example", least=1)
    loads: list[float] = option([0.1, 2.0], "loads P/N", above=0, nonempty=True)
    queries: int = option(4, "examples asked for in each draw", least=1, most=64)

    @classmethod
    def label(cls, curve: float) -> str:
        return STARTS[curve]

    def places(self) -> list[tuple[float, float]]:
        return list(product(STARTS, self.loads))

    def cost(self, curve: float, x: float) -> tuple[float, float]:
        return max(x, 1.0) * self.neurons**2, (x * self.neurons / 8 + 20 * self.queries) * self.neurons**2

    def measure(self, key: jax.Array, curve: float, x: float) -> float:
        count, total = max(self.queries, round(x * self.neurons)), max(1, round(self.features * self.neurons))
        feature_key, row_key, order_key = jax.random.split(key, 3)
        features = spins(feature_key, total, self.neurons)
        rows = superpositions(row_key, count + self.queries, features, active=min(self.active, total))
        network = hebb_couplings(classical(rows[:count]))
        asked = rows[count:] if curve else rows[: self.queries]
        return float(overlap_kept(network, asked, order_key, max_steps=200))
