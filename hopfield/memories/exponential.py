"""The exponential memory on spins (Demircigil et al. 2017)."""

from hopfield import theory
from hopfield._arguments import Float
from hopfield.memories import EXPONENTIAL, Patterns, Used, Values
from hopfield.memory import Memory
from hopfield.separations import Exponential
from hopfield.spaces import Spins
from hopfield.theory.base import Criterion, Theory, heat, numbers

SCALING = EXPONENTIAL
ENSEMBLE = "spins"


class ExponentialTheory(Theory):
    """Exact sums over random patterns at finite N, their thresholds for N → ∞."""

    sized = frozenset({"one_step_error", "target_weight"})
    softmax = frozenset({"target_weight"})

    def kind(self, criterion: Criterion) -> str | None:
        return None if criterion in ("exact", "retained") else "annealed"

    def critical_load(
        self, criterion, *, neurons=None, corruption=0.0, beta: float | None = None, cut=0.8, error=0.005
    ) -> float | None:
        if criterion == "target_weight":
            if neurons is None:
                return float(theory.exponential.target_weight_load(heat(beta), corruption))
            return float(theory.exponential.critical_load(neurons, heat(beta), corruption))
        theory.general.start_overlap(corruption)
        if neurons is None and (criterion == "one_step_error" or criterion == "fixed_point"):
            start = corruption if criterion == "one_step_error" else 0.0
            return float(theory.exponential.one_step_load(heat(beta), start))
        return None

    def success(self, criterion, neurons, num_patterns, *, corruption=0.0, beta: float | None = None) -> Float | None:
        if criterion != "target_weight" or corruption > 0.5:
            return None
        return numbers(theory.exponential.target_weight_probability(neurons, num_patterns, heat(beta), corruption))

    def one_step_error(self, neurons, num_patterns, *, corruption=0.0, beta: float | None = None) -> Float | None:
        if corruption > 0.5:
            return None
        return numbers(theory.exponential.one_step_error(neurons, num_patterns, heat(beta), corruption))


THEORY = ExponentialTheory()


def exponential(patterns: Patterns, beta: float = 1.0, *, mask: Used = None, values: Values = None) -> Memory:
    """E = −(1/λ) Σ_μ exp(λ ξ_μ·x) on spins, λ = β; updates follow the exact energy difference (their eq. 7).

    Energies and weights overflow from β N = 89 on in float32, 710 in float64: E is −∞ there, and its logarithm is
    `hopfield.observables.energies.log_energy`. Fields, updates, shares and statistics do not, in which the size of the
    weights cancels.

    Args:
        patterns: spins [M, N].
        beta: λ > 0; Demircigil et al. take 1.
        mask, values: as in `Memory`.
    """
    return Memory(patterns, beta, mask=mask, values=values, separation=Exponential(), space=Spins())
