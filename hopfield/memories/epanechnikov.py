"""The log-sum-ReLU memory with compact support (Hoover et al. 2025)."""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc

from hopfield._arguments import Float
from hopfield.memories import EXPONENTIAL, Patterns, Used, Values
from hopfield.memory import Memory
from hopfield.patterns.sources import as_patterns
from hopfield.separations import LogReLU
from hopfield.similarities import SquaredDistance
from hopfield.spaces import Euclidean
from hopfield.theory.base import WEIGHTS, Criterion, Theory, numbers

SCALING = EXPONENTIAL
ENSEMBLE = "sphere"


class NeighbourTheory(Theory):
    """Counts of neighbours: a pattern has more than half of the weight, and stays, iff no other is within its support.

    So for patterns of norm √N with probability (1 − p)^{M−1}, exact, p the probability of an overlap above 1 − 1/(βN).
    """

    sized = frozenset(WEIGHTS)

    def kind(self, criterion: Criterion) -> str | None:
        return "exact" if criterion in self.sized else None

    def critical_load(
        self, criterion, *, neurons=None, corruption=0.0, beta: float | None = None, cut=0.8, error=0.005
    ) -> float | None:
        if criterion not in self.sized or corruption:
            return None
        if neurons is None:  # −½ ln(1 − t²) at the overlap t = ½ that β = 2/N reaches
            return float(-0.5 * np.log(0.75)) if beta is None else None
        return float(np.log1p(np.log(2) / -np.log1p(-_within_support(neurons, beta))) / neurons)

    def success(
        self, criterion: Criterion, neurons: int, num_patterns: ArrayLike, *, corruption=0.0, beta: float | None = None
    ) -> Float | None:
        if criterion not in self.sized or corruption:
            return None
        others = np.asarray(num_patterns, np.float64) - 1
        return numbers(np.exp(others * np.log1p(-_within_support(neurons, beta))))


def _within_support(neurons: int, beta: float | None) -> float:
    """Probability that a random pattern is closer than √(2/β) to another, of overlap above 1 − 1/(βN)."""
    least = 0.5 if beta is None else 1 - 1 / (beta * neurons)
    return float(betainc((neurons - 1) / 2, (neurons - 1) / 2, np.clip((1 - least) / 2, 0.0, 1.0)))


THEORY = NeighbourTheory()


def epanechnikov(patterns: Patterns, beta: float | None = None, *, mask: Used = None, values: Values = None) -> Memory:
    """E = −β⁻¹ log Σ_μ [1 − β‖x − ξ_μ‖²/2]₊, update x' = mean of the patterns closer than √(2/β).

    A query farther than that from every pattern has infinite energy and does not move.

    Args:
        patterns: real patterns [M, N].
        beta: inverse squared radius; 2/N by default, a ball of radius √N, which for patterns of norm
            √N reaches queries of overlap above ½.
        mask, values: as in `Memory`.
    Source: Hoover et al. 2025 (arXiv:2506.10801), eq. 6, with their additive ε left out.
    """
    patterns = as_patterns(patterns)
    return Memory(
        patterns,
        2.0 / patterns.shape[1] if beta is None else beta,
        mask=mask,
        values=values,
        similarity=SquaredDistance(),
        separation=LogReLU(),
        space=Euclidean(confined=False),
    )
