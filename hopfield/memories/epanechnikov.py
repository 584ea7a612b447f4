"""The log-sum-ReLU memory with compact support (Hoover et al. 2025)."""

from hopfield.memories import EXPONENTIAL, Patterns, Used, Values
from hopfield.memory import Memory
from hopfield.patterns.sources import as_patterns
from hopfield.separations import LogReLU
from hopfield.similarities import SquaredDistance
from hopfield.spaces import Euclidean

SCALING = EXPONENTIAL
ENSEMBLE = "sphere"


def epanechnikov(patterns: Patterns, beta: float | None = None, *, mask: Used = None, values: Values = None) -> Memory:
    """E = −β⁻¹ log Σ_μ [1 − β‖x − ξ_μ‖²/2]₊, update x' = mean of the patterns closer than √(2/β).

    A query farther than that from every pattern has infinite energy and stays where it is.

    Args:
        patterns: real patterns [M, N].
        beta: inverse squared radius; 2/N by default, a ball of radius √N, which for patterns of norm
            √N reaches queries of overlap above ½.
        mask, values: as in `Memory.create`.
    Source: Hoover et al. 2025 (arXiv:2506.10801), eq. 6, with their additive ε left out.
    """
    patterns = as_patterns(patterns)
    return Memory.create(
        patterns,
        2.0 / patterns.shape[1] if beta is None else beta,
        mask=mask,
        values=values,
        similarity=SquaredDistance(),
        separation=LogReLU(),
        space=Euclidean(confined=False),
    )
