"""Dense associative memory of polynomial degree (Krotov & Hopfield 2016)."""

from numpy.typing import ArrayLike

from hopfield import theory
from hopfield._arguments import Float
from hopfield.memories import Patterns, Used, Values, polynomial_scaling
from hopfield.memories.classical import ClassicalTheory
from hopfield.memory import Memory
from hopfield.patterns.sources import as_patterns
from hopfield.separations import Polynomial
from hopfield.spaces import Spins
from hopfield.theory.base import Criterion, Line, SpinDynamics, Theory, numbers

SCALING = polynomial_scaling
ENSEMBLE = "spins"
INTEGER_FIELDS = True
PARAMETER = int
SYMBOL = "n"


class DenseTheory(Theory):
    """The exact one-step error for n ≥ 3, and its map for N → ∞, iterated as if the noise of steps were independent."""

    sized = frozenset({"one_step_error"})

    def __init__(self, degree: int):
        self.degree = degree

    def kind(self, criterion: Criterion) -> str | None:
        return {"retained": "uncorrelated steps", "one_step_error": "Gaussian noise"}.get(criterion)

    def critical_load(
        self, criterion, *, neurons=None, corruption=0.0, beta=None, cut=0.8, error=0.005
    ) -> float | None:
        overlap = theory.general.start_overlap(corruption)
        if criterion == "one_step_error" and neurons is None and overlap > 0:
            return float(theory.dense.capacity(self.degree, error)) * overlap ** (2 * self.degree - 2)
        if criterion == "retained" and corruption == 0:
            return theory.general.load_at_overlap(self.retained_overlap, theory.dense.spinodal(self.degree), cut)
        return None

    def one_step_error(self, neurons, num_patterns, *, corruption=0.0, beta=None) -> Float:
        return numbers(theory.dense.one_step_error(neurons, num_patterns, self.degree, corruption))

    def retained_overlap(self, load: ArrayLike) -> Float:
        return numbers(theory.dense.retrieval_overlap(load, self.degree))

    def basins(self, dynamics: SpinDynamics, neurons: int, beta: float | None, loads: Float) -> list[Line]:
        return [Line(theory.basins.ONE_STEP, loads, numbers(theory.basins.dense(loads, self.degree)))]


def theory_of_degree(degree: int) -> Theory:
    """Theory of a degree. Degree 2 is the classical network, in which successive steps share noise."""
    return ClassicalTheory() if degree == 2 else DenseTheory(degree)


THEORY = theory_of_degree


def dense(
    patterns: Patterns, degree: int = 3, *, rectified: bool = False, mask: Used = None, values: Values = None
) -> Memory:
    """E = −(N/n) Σ_μ m_μⁿ on spins, m_μ = ξ_μ·x/N; updates follow the exact energy difference (their eq. 7).

    Args:
        patterns: spins [M, N].
        degree: n ≥ 2; 2 is the classical network.
        rectified: Σ [m]₊ⁿ instead, which stores no negatives of patterns.
        mask, values: as in `Memory`.
    """
    patterns = as_patterns(patterns)
    return Memory(
        patterns,
        1.0 / patterns.shape[1],
        mask=mask,
        values=values,
        separation=Polynomial(degree, rectified),
        space=Spins(),
    )
