"""The modern continuous Hopfield network, whose update is attention (Ramsauer et al. 2021)."""

from hopfield.memories import EXPONENTIAL
from hopfield.memory import Memory

SCALING = EXPONENTIAL
ENSEMBLE = "sphere"


def modern(patterns, beta: float = 1.0, *, mask=None, values=None) -> Memory:
    """E = ½‖x‖² − β⁻¹ log Σ_μ exp(β ξ_μ·x), update x' = Xᵀ softmax(β X x) (their eqs. 2, 3).

    Their constants β⁻¹ ln M + ½ max‖ξ‖² are left out: they change no difference of energies.

    Args:
        patterns: real patterns [M, N].
        beta: inverse temperature; 1/√N for attention, and the λ of Lucibello & Mézard 2024 when ‖ξ‖² = N.
        mask, values: as in `Memory.create`.
    """
    return Memory.create(patterns, beta, mask=mask, values=values)
