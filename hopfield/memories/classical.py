"""The classical Hopfield network with Hebb's rule (Hopfield 1982)."""

from numpy.typing import ArrayLike

from hopfield import theory
from hopfield._arguments import Float
from hopfield.memories import EXTENSIVE, Patterns, Used, Values
from hopfield.memory import Memory
from hopfield.patterns.sources import as_patterns
from hopfield.separations import Linear
from hopfield.spaces import Spins
from hopfield.theory.base import Criterion, Line, SpinDynamics, Theory, numbers

SCALING = EXTENSIVE
ENSEMBLE = "spins"
INTEGER_FIELDS = True

NEURODYNAMICS = "Amari & Maginu: not the dynamics\nbeyond the first steps"
"""Label of the statistical neurodynamics: its crosstalk is Gaussian noise that forgets all steps but the last."""


class ClassicalTheory(Theory):
    """Replica-symmetric theory, the exact one-step error, statistical neurodynamics."""

    sized = frozenset({"one_step_error"})

    def kind(self, criterion: Criterion) -> str | None:
        return {"retained": "replica symmetric", "one_step_error": "Gaussian noise"}.get(criterion)

    def critical_load(
        self, criterion, *, neurons=None, corruption=0.0, beta=None, cut=0.8, error=0.005
    ) -> float | None:
        overlap = theory.general.start_overlap(corruption)
        if criterion == "one_step_error" and neurons is None and overlap > 0:
            return float(theory.dense.capacity(2, error)) * overlap**2
        if criterion == "retained" and corruption == 0:
            return theory.general.load_at_overlap(theory.classical.retrieval_overlap, theory.classical.spinodal(), cut)
        return None

    def one_step_error(self, neurons, num_patterns, *, corruption=0.0, beta=None) -> Float:
        return numbers(theory.classical.one_step_error(neurons, num_patterns, corruption))

    def retained_overlap(self, load: ArrayLike) -> Float:
        return numbers(theory.classical.retrieval_overlap(load))

    def basins(self, dynamics: SpinDynamics, neurons: int, beta: float | None, loads: Float) -> list[Line]:
        if dynamics != "synchronous":
            return []
        return [Line(NEURODYNAMICS, loads, numbers(theory.basins.classical(loads)))]


THEORY = ClassicalTheory()


def classical(patterns: Patterns, *, mask: Used = None, values: Values = None) -> Memory:
    """E = −½ Σ_μ (ξ_μ·x)² / N on spins: W = ΞᵀΞ/N with zero diagonal, since a neuron's own spin is excluded.

    `hebb_couplings` turns it into that matrix, which is the faster form when M is of the order of N.

    Args:
        patterns: spins [M, N].
        mask: patterns in use [M].
        values: read-out instead of the patterns [M, V].
    Source: Hopfield 1982, eqs. 2 and 7; Amit, Gutfreund & Sompolinsky 1985.
    """
    patterns = as_patterns(patterns)
    return Memory(patterns, 1.0 / patterns.shape[1], mask=mask, values=values, separation=Linear(), space=Spins())
