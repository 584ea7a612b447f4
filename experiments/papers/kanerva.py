"""Bricken & Pehlevan 2021: Kanerva's sparse distributed memory reads as softmax does.

A pattern's weight there is the number of addresses within a critical distance d of both query and pattern, which falls
with their Hamming distance as e^(β cosine) nearly does. β is fitted to the logarithm over Hamming distances up to d.
"""

from dataclasses import dataclass
from math import comb, log
from typing import ClassVar

import jax
import numpy as np

from experiments.contract import option
from experiments.papers.claim import Claim


@dataclass
class Kanerva(Claim):
    """β of the softmax that reads as Kanerva's memory, against the critical distance."""

    quantity: ClassVar[str] = "β of Kanerva's memory"
    x: ClassVar[str] = "critical distance $d$"
    y: ClassVar[str] = r"fitted $\beta$"
    random: ClassVar[bool] = False

    bits: int = option(16, "bits of an address", least=2, most=1024)
    distances: list[int] = option([2, 4], "critical distances d", least=1, most=512, nonempty=True)

    def __post_init__(self) -> None:
        if max(self.distances) >= self.bits / 2:
            raise ValueError(
                f"kanerva.distances must be below {self.bits / 2:g}, half of the bits, got {self.distances}"
            )

    def places(self) -> list[tuple[float, float]]:
        return [(0.0, float(distance)) for distance in self.distances]

    def measure(self, key: jax.Array, curve: float, x: float) -> float:
        return fitted(self.bits, int(x))[0]


def shared_addresses(bits: int, distance: int, apart: int) -> int:
    """Number of addresses within a distance of both of two that are `apart`."""
    inside = [sum(comb(bits - apart, other) for other in range(most + 1)) for most in range(distance + 1)]
    ways = ((comb(apart, near), distance - max(near, apart - near)) for near in range(apart + 1))
    return sum(number * inside[most] for number, most in ways if most >= 0)


def fitted(bits: int, distance: int) -> tuple[float, float]:
    """β of ln(shared addresses) against the cosine, up to the critical distance, and R² of the line."""
    apart = range(distance + 1)
    cosine = np.array([1 - 2 * each / bits for each in apart])
    logarithm = np.array([log(shared_addresses(bits, distance, each)) for each in apart])
    return float(np.polyfit(cosine, logarithm, 1)[0]), float(np.corrcoef(cosine, logarithm)[0, 1] ** 2)
