"""Perceptron learning of symmetric couplings, which have an energy (Gardner, Gutfreund & Yekutieli 1989)."""

from hopfield.couplings import Couplings
from hopfield.memories import EXTENSIVE, Stored, Used
from hopfield.memories.perceptron import THEORY as THEORY
from hopfield.memories.perceptron import perceptron

SCALING = EXTENSIVE
ENSEMBLE = "spins"
PARAMETER = float
SYMBOL = r"\kappa"


def perceptron_symmetric(patterns: Stored, stability: float = 0.0, *, mask: Used = None) -> Couplings:
    """Couplings W_ij = W_ji learned until every ξ_i h_i > κ ‖W_i‖, as `perceptron` describes.

    Args:
        patterns: spins [M, N].
        stability: κ, finite and at least 0; may be traced.
        mask: patterns in use [M].
    """
    return perceptron(patterns, stability, symmetric=True, mask=mask)
