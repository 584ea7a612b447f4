"""The classical Hopfield network with Hebb's rule (Hopfield 1982)."""

from hopfield._numerics import real_matrix
from hopfield.memories import EXTENSIVE
from hopfield.memory import Memory
from hopfield.separations import Linear
from hopfield.spaces import Spins

SCALING = EXTENSIVE
ENSEMBLE = "spins"
INTEGER_FIELDS = True


def classical(patterns, *, mask=None, values=None) -> Memory:
    """E = −½ Σ_μ (ξ_μ·x)² / N on spins: W = ΞᵀΞ/N with zero diagonal, since a neuron's own spin is excluded.

    `hebb_couplings` turns it into that matrix, which is the faster form when M is of the order of N.

    Args:
        patterns: spins [M, N].
        mask: patterns in use [M].
        values: read-out instead of the patterns [M, V].
    Source: Hopfield 1982, eqs. 2 and 7; Amit, Gutfreund & Sompolinsky 1985.
    """
    patterns = real_matrix("patterns", patterns)
    return Memory.create(
        patterns, 1.0 / patterns.shape[1], mask=mask, values=values, separation=Linear(), space=Spins()
    )
