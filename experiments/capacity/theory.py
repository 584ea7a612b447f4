"""Theory of a memory by its name: the lines drawn beside measurements, and None where there is none."""

import numpy as np

from experiments.shared.retention import CUTS
from hopfield.memories import find

WRONG = 0.005
"""Share of wrong spins after one step that defines a load, the 0.5 % of Krotov & Hopfield 2016."""


def has_one_step_error(memory: str) -> bool:
    """Whether the share of wrong spins after one step is known."""
    return "one_step_error" in find(memory).theory.sized


def kind(memory: str, criterion: str) -> str | None:
    """Kind of theory that the prediction of `critical_load` for N → ∞ is (`hopfield.theory.base`)."""
    return find(memory).theory.kind(_theory_name(criterion))


def depends_on_size(memory: str, criterion: str) -> bool:
    """Whether `critical_load` knows a value at every N."""
    return _theory_name(criterion) in find(memory).theory.sized


def critical_load(
    memory: str, criterion: str, neurons: int | None, corruption, beta: float | None, *, even: bool = False
) -> float | None:
    """Load at which half of the queries should pass a criterion, or 0.5 % of the spins be wrong after one step.

    Args:
        memory: as in `hopfield.memories.find`.
        criterion: retained or one of its cuts, one_step_error, fixed_point, target_weight or converged_weight.
        neurons: N for the finite-size prediction where there is one (`depends_on_size`); None for the limit of large N.
        corruption: flipped fraction of the start; anything else is beyond theory.
        beta: inverse temperature; None where there is none or the patterns decide.
        even: whether the numbers of patterns are even, at which fields can tie.
    """
    if not isinstance(corruption, int | float) or corruption > 0.5:
        return None
    if criterion == "one_step_error" and neurons is not None:
        return _wrong(memory, neurons, corruption, beta, 2 if even else 1)
    known = {"corruption": corruption, "beta": beta, "cut": CUTS.get(criterion, 0.0), "error": WRONG}
    return find(memory).theory.critical_load(_theory_name(criterion), neurons=neurons, **known)


def _theory_name(criterion: str) -> str:
    """The criterion by the name it has in theory, which takes its cut as a number."""
    return "retained" if criterion in CUTS else criterion


def _wrong(memory: str, neurons: int, corruption: float, beta: float | None, first: int) -> float | None:
    """Load at which one step leaves `WRONG` of the spins wrong: exact for M = first + 2h, interpolated between."""

    def excess(half: int) -> float:
        error = one_step_error(memory, neurons, np.array([2 * half + first]), corruption, beta)
        return np.nan if error is None else float(np.log(np.maximum(error[0], 1e-300) / WRONG))

    low, high = 0, 1
    if not excess(low) < 0:  # nor where nothing is known
        return None
    while excess(high) < 0:
        low, high = high, 2 * high
        if high > 2**40:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if excess(middle) < 0 else (low, middle)
    below, above = excess(low), excess(high)
    num_patterns = 2 * (low - below * (high - low) / (above - below)) + first
    return float(find(memory).scaling.load(num_patterns, neurons))


def success(
    memory: str, criterion: str, neurons: int, num_patterns, corruption, beta: float | None
) -> np.ndarray | None:
    """Exact share of queries that pass a criterion at a finite size, for an array of numbers of patterns."""
    if not isinstance(corruption, int | float):
        return None
    return find(memory).theory.success(criterion, neurons, num_patterns, corruption=corruption, beta=beta)


def one_step_error(memory: str, neurons: int, num_patterns, corruption, beta: float | None) -> np.ndarray | None:
    """Exact share of wrong spins after one synchronous step, for an array of numbers of patterns."""
    if not isinstance(corruption, int | float):
        return None
    return find(memory).theory.one_step_error(neurons, num_patterns, corruption=corruption, beta=beta)


def retained_overlap(memory: str, load) -> np.ndarray | None:
    """Overlap of the retrieval state from a clean start in an infinite network; NaN beyond the last one."""
    return find(memory).theory.retained_overlap(load)
