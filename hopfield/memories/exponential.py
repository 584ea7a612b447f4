"""The exponential memory on spins (Demircigil et al. 2017)."""

from hopfield.memories import EXPONENTIAL
from hopfield.memory import Memory
from hopfield.separations import Exponential
from hopfield.spaces import Spins

SCALING = EXPONENTIAL
ENSEMBLE = "spins"


def exponential(patterns, beta: float = 1.0, *, mask=None, values=None) -> Memory:
    """E = −(1/λ) Σ_μ exp(λ ξ_μ·x) on spins, λ = β; updates follow the exact energy difference (their eq. 7).

    Args:
        patterns: spins [M, N].
        beta: λ > 0; Demircigil et al. take 1.
        mask, values: as in `Memory.create`.
    """
    return Memory.create(patterns, beta, mask=mask, values=values, separation=Exponential(), space=Spins())
