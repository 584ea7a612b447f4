"""Theory of a memory by its name: the lines drawn beside measurements. It is None for a memory without a theory.

Theory by where dynamics stop (`experiments.shared.convergence`). At rest: the retrieval state. After one synchronous
update: the overlap of one step, 1 − 2 · error, so that half of the queries are above a cut c at the load where
(1 − c)/2 of the spins are wrong for N → ∞. After one sweep of one neuron after the other: none. A pattern that one
update does not change is a fixed point, in whatever dynamics.
"""

from typing import Any, NamedTuple

import numpy as np

from experiments.shared.convergence import REST, STEP
from experiments.shared.memories import find
from experiments.shared.retention import CUTS
from hopfield.theory.base import CRITERIA

WRONG = 0.005
"""Share of wrong spins after one step that defines a load, the 0.5 % of Krotov & Hopfield 2016."""


def has_one_step_error(memory: str) -> bool:
    """True if the share of wrong spins after one step is known."""
    return "one_step_error" in find(memory).theory.sized


class Question(NamedTuple):
    """Criterion by its name in theory, with the overlap or the share of wrong spins that it asks for."""

    criterion: str
    cut: float = 0.0
    error: float = WRONG


def _question(criterion: str, end: str, clean: bool) -> Question | None:
    """Question that theory answers about a criterion in the final state. None if theory has no answer."""
    if criterion in CUTS:
        cut = CUTS[criterion]
        single = Question("one_step_error", error=(1 - cut) / 2) if end == STEP else None
        return Question("retained", cut) if end == REST else single
    if end != REST and criterion in ("exact", "converged_weight"):
        return Question("fixed_point") if criterion == "exact" and clean else None
    return Question(criterion)


def kind(memory: str, criterion: str, end: str = REST, clean: bool = True) -> str | None:
    """Kind of theory that the prediction of `critical_load` for N → ∞ is (`hopfield.theory.base`)."""
    question = _question(criterion, end, clean)
    return find(memory).theory.kind(question.criterion) if question else None


def critical_load(
    memory: str,
    criterion: str,
    neurons: int | None,
    corruption: float | str | None,
    beta: float | None,
    *,
    even: bool = False,
    end: str = REST,
) -> float | None:
    """Load at which half of the queries should pass a criterion, or 0.5 % of the spins be wrong after one step.

    Args:
        memory: as in `hopfield.memories.find`.
        criterion: retained or one of its cuts, one_step_error, fixed_point, target_weight or converged_weight.
        neurons: N for the finite-size prediction, None where there is none; None for the limit of large N.
        corruption: flipped fraction of the start; anything else is beyond theory.
        beta: inverse temperature; None where there is none or the patterns decide.
        even: whether the numbers of patterns are even, at which fields can tie.
        end: states where the dynamics end, as `convergence.end` names them.
    """
    if not isinstance(corruption, int | float) or corruption > 0.5:
        return None
    question = _question(criterion, end, corruption == 0)
    if question is None or (neurons is not None and question.criterion not in find(memory).theory.sized):
        return None
    if question.criterion == "one_step_error" and neurons is not None:
        return _load_at_wrong(memory, neurons, corruption, beta, 2 if even else 1) if question.error == WRONG else None
    known = {"corruption": corruption, "beta": beta, "cut": question.cut, "error": question.error}
    return find(memory).theory.critical_load(question.criterion, neurons=neurons, **known)


def _load_at_wrong(memory: str, neurons: int, corruption: float, beta: float | None, first: int) -> float | None:
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


def patterns_at(memory: str, load: Any, neurons: Any) -> np.ndarray:
    """Numbers of patterns at loads and numbers of neurons, arrays of one length."""
    return np.vectorize(find(memory).scaling.num_patterns, otypes=[float])(load, neurons)


def success(
    memory: str,
    criterion: str,
    neurons: int,
    num_patterns: np.ndarray,
    corruption: float | str | None,
    beta: float | None,
) -> np.ndarray | None:
    """Exact share of queries that pass a criterion at a finite size, for an array of numbers of patterns."""
    if not isinstance(corruption, int | float) or criterion not in CRITERIA:
        return None
    return find(memory).theory.success(criterion, neurons, num_patterns, corruption=corruption, beta=beta)


def one_step_error(
    memory: str, neurons: int, num_patterns: np.ndarray, corruption: float | str | None, beta: float | None
) -> np.ndarray | None:
    """Exact share of wrong spins after one synchronous step, for an array of numbers of patterns."""
    if not isinstance(corruption, int | float):
        return None
    return find(memory).theory.one_step_error(neurons, num_patterns, corruption=corruption, beta=beta)


def retained_overlap(memory: str, load: np.ndarray | float) -> np.ndarray | None:
    """Overlap of the retrieval state from a clean start in an infinite network. NaN at loads without one."""
    return find(memory).theory.retained_overlap(load)


def final_overlap(
    memory: str, neurons: int, num_patterns: np.ndarray, beta: float | None, end: str
) -> np.ndarray | None:
    """Mean overlap where dynamics from clean starts end: `retained_overlap` at rest, exact at N after one step."""
    if end == REST:
        loads = np.vectorize(find(memory).scaling.load)(num_patterns, neurons)
        return None if np.isnan(loads).any() else retained_overlap(memory, loads)  # a memory whose code is not run
    error = one_step_error(memory, neurons, num_patterns, 0.0, beta) if end == STEP else None
    return None if error is None else 1 - 2 * error
