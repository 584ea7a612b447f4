"""Dense associative memory of polynomial degree (Krotov & Hopfield 2016)."""

from hopfield._numerics import real_matrix
from hopfield.memories import polynomial_scaling
from hopfield.memory import Memory
from hopfield.separations import polynomial
from hopfield.spaces import Spins

SCALING = polynomial_scaling
ENSEMBLE = "spins"
INTEGER_FIELDS = True
PARAMETER = int


def dense(patterns, degree: int = 3, *, rectified: bool = False, mask=None, values=None) -> Memory:
    """E = −(N/n) Σ_μ m_μⁿ on spins, m_μ = ξ_μ·x/N; updates follow the exact energy difference (their eq. 7).

    Args:
        patterns: spins [M, N].
        degree: n ≥ 2; 2 is the classical network.
        rectified: Σ [m]₊ⁿ instead, which stores no negatives of patterns.
        mask, values: as in `Memory.create`.
    """
    patterns = real_matrix("patterns", patterns)
    return Memory.create(
        patterns,
        1.0 / patterns.shape[1],
        mask=mask,
        values=values,
        separation=polynomial(degree, rectified),
        space=Spins(),
    )
