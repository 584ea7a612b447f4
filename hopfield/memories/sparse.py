"""Sparse modern Hopfield networks with α-entmax weights (Hu et al. 2023; Santos et al. 2024)."""

from hopfield.memories import EXPONENTIAL, Patterns, Used, Values
from hopfield.memory import Memory
from hopfield.separations import Entmax, Sparsemax

SCALING = EXPONENTIAL
ENSEMBLE = "sphere"
PARAMETER = float
SYMBOL = r"\alpha"


def sparse(
    patterns: Patterns, alpha: float = 2.0, *, beta: float = 1.0, mask: Used = None, values: Values = None
) -> Memory:
    """E = ½‖x‖² − Ω*_α(β X x)/β, update x' = Xᵀ entmax_α(β X x): exact retrieval once a score leads by enough.

    Args:
        patterns: real patterns [M, N].
        alpha: 1 < α ≤ 2; 2 is sparsemax, computed by sorting.
        beta: inverse temperature.
        mask, values: as in `Memory`.
    Source: Santos, Niculae, McNamee & Martins 2024 (arXiv:2402.13725).
    """
    separation = Sparsemax() if isinstance(alpha, float | int) and alpha == 2 else Entmax(alpha)
    return Memory(patterns, beta, mask=mask, values=values, separation=separation)
