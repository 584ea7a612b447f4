"""Kafraj, Krotov & Latham 2026 (arXiv:2601.00984): hidden units with a threshold make every binary state a memory.

V visible neurons are v = Σ_μ ξ_μ s_μ/√V, H hidden ones s_μ = 1 where ξ_μ·v/√V > ½, with spins ξ_μ [V]. A state s of the
2^H is a memory if it leads to itself; each is asked.
"""

from dataclasses import dataclass
from itertools import product
from typing import ClassVar

import jax
import numpy as np

from experiments.contract import option
from experiments.papers.claim import Claim
from hopfield.patterns import spins


@dataclass
class Hidden(Claim):
    """Probability that all binary states of the hidden units are stable, against the visible neurons."""

    quantity: ClassVar[str] = "all hidden states are stable"
    x: ClassVar[str] = "visible neurons $V$"
    y: ClassVar[str] = "share of networks"
    symbol: ClassVar[str] = "H"

    hidden: list[int] = option([4], "numbers of hidden units H", least=2, most=16, nonempty=True)
    visible: list[int] = option([20, 80], "numbers of visible neurons V", least=2, most=2**20, nonempty=True)
    networks: int = option(10, "networks of each draw", least=1, most=10_000)

    def places(self) -> list[tuple[float, float]]:
        return [(float(units), float(neurons)) for units, neurons in product(self.hidden, self.visible)]

    def cost(self, curve: float, x: float) -> tuple[float, float]:
        return 2**curve * curve, self.networks * (2**curve * curve**2 + x * curve**2)

    def measure(self, key: jax.Array, curve: float, x: float) -> float:
        units = int(curve)
        rows = np.asarray(spins(key, units * self.networks, int(x))).reshape(self.networks, units, -1)
        return float(np.mean([stable(patterns).all() for patterns in rows]))


def stable(patterns: np.ndarray) -> np.ndarray:
    """Which of the 2^H states of the hidden units lead to themselves [2^H]. Counts of integers, exact."""
    units, visible = patterns.shape
    states = (np.arange(2**units)[:, None] >> np.arange(units)) & 1
    fields = states @ (patterns @ patterns.T).astype(int)
    return ((2 * fields > visible) == (states == 1)).all(axis=1)
