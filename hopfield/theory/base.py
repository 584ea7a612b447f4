"""Theory of one memory: its predictions. A method returns None where nothing is known."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike

from hopfield._arguments.host import Float, real, reals, whole_number, whole_numbers
from hopfield._arguments.words import one_of

Criterion = Literal["retained", "one_step_error", "fixed_point", "exact", "target_weight", "converged_weight"]
CRITERIA: tuple[Criterion, ...] = get_args(Criterion)
WeightCriterion = Literal["target_weight", "converged_weight"]
WEIGHTS: tuple[WeightCriterion, ...] = get_args(WeightCriterion)
SpinDynamics = Literal["synchronous", "asynchronous"]
SPIN_DYNAMICS: tuple[SpinDynamics, ...] = get_args(SpinDynamics)
"""Order of a step that theory of spins tells apart: all at once, or one after another in whatever order."""


class Spinodal(NamedTuple):
    """Largest load with a retrieval state, in the memory's own scaling, and the overlap of that state."""

    load: Float
    overlap: Float


class Line(NamedTuple):
    """A line of critical initial overlaps: its label in a figure, its loads and its overlaps."""

    label: str
    loads: Float
    overlaps: Float


_CHECKS: Mapping[str, Callable[[Any], Any]] = {
    "criterion": lambda value: one_of("criterion", value, CRITERIA),
    "dynamics": lambda value: one_of("dynamics", value, SPIN_DYNAMICS),
    "neurons": lambda value: value is None or whole_number("neurons", value, least=1),
    "num_patterns": lambda value: whole_numbers("num_patterns", value, least=1),
    "corruption": lambda value: real("corruption", value, least=0, most=1),
    "cut": lambda value: real("cut", value, least=0, most=1),
    "error": lambda value: real("error", value, above=0, below=0.5),
    "beta": lambda value: value is None or real("beta", value, above=0),
    "load": lambda value: reals("load", value, least=0),
    "loads": lambda value: reals("loads", value, least=0),
    "overlaps": lambda value: reals("overlaps", value, least=-1, most=1),
}


def _with_checked_arguments(method: Callable) -> Callable:
    """A prediction that refuses arguments out of range, whether it uses them or not."""
    signature = inspect.signature(method)

    @functools.wraps(method)
    def prediction(*args, **kwargs):
        for name, value in signature.bind(*args, **kwargs).arguments.items():
            if name in _CHECKS:
                _CHECKS[name](value)
        return method(*args, **kwargs)

    return prediction


class Theory:
    """Predictions of one memory, to be overridden one by one. The base class predicts nothing.

    Criteria are names of what is measured: `retained` (final overlap above a cut), `one_step_error`, `fixed_point`,
    `exact`, `target_weight` (weight on the pattern above one half at the start) and `converged_weight` (where the
    dynamics end). Loads are in the memory's own scaling.

    Arguments out of range are refused by every method of every memory, in one sentence, used or not.
    """

    sized: frozenset[str] = frozenset()
    """Criteria whose `critical_load` is known at every N."""
    softmax: frozenset[str] = frozenset()
    """Criteria of weights that are, on random patterns, a softmax in every state met."""

    def __repr__(self) -> str:
        told = {name: value for name, value in vars(self).items() if isinstance(value, float | int | str)}
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in told.items())})"

    def __init_subclass__(cls):
        for name, method in list(vars(cls).items()):
            if hasattr(getattr(Theory, name, None), "__wrapped__"):
                setattr(cls, name, _with_checked_arguments(method))

    @_with_checked_arguments
    def kind(self, criterion: Criterion) -> str | None:
        """Kind of theory that the `critical_load` of a criterion is for N → ∞, in a word or two.

        "annealed" puts the sum over the other patterns at its mean, "replica symmetric" is not exact below the AT line
        (one step of symmetry breaking moves 0.137906 to 0.138186), "uncorrelated steps" neglects the noise that
        successive steps share, "exact" holds without an approximation, "Gaussian noise" becomes exact for N → ∞,
        "random energy" is annealed where many patterns share the weight and takes the nearest one beyond.
        """
        return None

    @_with_checked_arguments
    def critical_load(
        self,
        criterion: Criterion,
        *,
        neurons: int | None = None,
        corruption: float = 0.0,
        beta: float | None = None,
        cut: float = 0.8,
        error: float = 0.005,
    ) -> float | None:
        """Load at which half of the queries pass a criterion, or `error` of the spins are wrong after one step.

        Args:
            criterion: one of those above.
            neurons: N for the finite-size prediction where there is one (`sized`); None for the limit of large N.
            corruption: flipped fraction of the start, 0 to 1/2.
            beta: inverse temperature; None where there is none or the patterns decide.
            cut: final overlap above which a pattern counts as `retained`, 0 to 1.
            error: share of wrong spins that `one_step_error` asks for, above 0 and below 1/2.
        """
        return None

    @_with_checked_arguments
    def success(
        self,
        criterion: Criterion,
        neurons: int,
        num_patterns: ArrayLike,
        *,
        corruption: float = 0.0,
        beta: float | None = None,
    ) -> Float | None:
        """Exact share of queries that pass a criterion at a finite size, for an array of numbers of patterns."""
        return None

    @_with_checked_arguments
    def one_step_error(
        self, neurons: int, num_patterns: ArrayLike, *, corruption: float = 0.0, beta: float | None = None
    ) -> Float | None:
        """Exact share of wrong spins after one synchronous step, for an array of numbers of patterns."""
        return None

    @_with_checked_arguments
    def retained_overlap(self, load: ArrayLike) -> Float | None:
        """Overlap of the retrieval state from a clean start in an infinite network. NaN at loads without one."""
        return None

    @_with_checked_arguments
    def basins(self, dynamics: SpinDynamics, neurons: int, beta: float | None, loads: Float) -> list[Line]:
        """Lines of critical initial overlaps, of infinite networks unless they say N. Compare with the first line.

        Args:
            dynamics: synchronous or asynchronous.
            neurons: N.
            beta: inverse temperature; None where there is none.
            loads: where; overlaps are nan where a line does not reach.
        """
        return []

    @_with_checked_arguments
    def nearest_share(self, neurons: int, num_patterns: int, overlaps: Float) -> Float | None:
        """Share of queries of given overlaps that end right where the nearest pattern always wins."""
        return None


def heat(beta: float | None) -> float:
    """λ of an exponential memory. The default is 1, as in the memory itself."""
    return 1.0 if beta is None else beta


def numbers(value: ArrayLike) -> Float:
    """A prediction as an array, whatever shape it has."""
    return np.asarray(value, np.float64)


def flips(corruption: ArrayLike, neurons: ArrayLike) -> Float:
    """Spins that a corruption flips, as `patterns.flip` counts them: round(corruption · N), halves to even.

    A product within 10⁻⁴ of a half is one.
    """
    product: Float = np.asarray(corruption, np.float64) * np.asarray(neurons, np.float64)
    return np.round(np.round(product, 4))
