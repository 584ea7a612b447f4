"""The modern continuous Hopfield network, whose update is attention (Ramsauer et al. 2021)."""

import numpy as np

from hopfield import theory
from hopfield._arguments import Float
from hopfield.memories import EXPONENTIAL, Patterns, Used, Values
from hopfield.memory import Memory
from hopfield.theory.base import WEIGHTS, Criterion, Line, SpinDynamics, Theory, heat, numbers

SCALING = EXPONENTIAL
ENSEMBLE = "sphere"


class ModernTheory(Theory):
    """Annealed softmax weights of random patterns of norm √N, and basins of a random energy model."""

    sized = softmax = frozenset(WEIGHTS)

    def kind(self, criterion: Criterion) -> str | None:
        return None if criterion in ("exact", "retained") else "annealed"

    def critical_load(
        self, criterion, *, neurons=None, corruption=0.0, beta: float | None = None, cut=0.8, error=0.005
    ) -> float | None:
        if criterion not in self.sized or corruption != 0:
            return None
        if neurons is None:
            return float(theory.spherical.typical_load(heat(beta), "sphere"))
        kappa = heat(beta) * neurons  # on the unit sphere
        return float(theory.spherical.critical_load(neurons, kappa, criterion))

    def basins(self, dynamics: SpinDynamics, neurons: int, beta: float | None, loads: Float) -> list[Line]:
        num_patterns = np.maximum(np.round(np.exp(loads * neurons)), 2)
        nearest = numbers(theory.basins.nearest_pattern(neurons, num_patterns))
        edge = theory.basins.basin_on_sphere(loads, heat(beta))
        return [
            Line(rf"nearest pattern, $N={neurons}$", np.log(num_patterns) / neurons, nearest),
            Line(r"random energy model, $N\to\infty$", loads, numbers(edge)),
        ]

    def nearest_share(self, neurons: int, num_patterns: int, overlaps: Float) -> Float:
        return numbers(theory.basins.nearest_pattern_share(neurons, num_patterns, overlaps))


THEORY = ModernTheory()


def modern(patterns: Patterns, beta: float = 1.0, *, mask: Used = None, values: Values = None) -> Memory:
    """E = ½‖x‖² − β⁻¹ log Σ_μ exp(β ξ_μ·x), update x' = Xᵀ softmax(β X x) (their eqs. 2, 3).

    Their constants β⁻¹ ln M + ½ max‖ξ‖² are left out: they change no difference of energies.
    At β below 1e-4 differences drown in ln M/β all the same; `hopfield.observables.energies.bare_energy` lacks it.

    Args:
        patterns: real patterns [M, N].
        beta: inverse temperature; 1/√N for attention, and the λ of Lucibello & Mézard 2024 when ‖ξ‖² = N.
        mask, values: as in `Memory`.
    """
    return Memory(patterns, beta, mask=mask, values=values)
