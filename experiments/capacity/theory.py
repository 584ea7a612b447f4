"""Theory of a memory by its name: the lines drawn beside measurements, and None where there is none."""

from typing import cast

import numpy as np
from scipy.optimize import brentq

from experiments.shared.retention import CUTS
from hopfield.memories import find
from hopfield.theory import classical, dense, exponential, spherical

WRONG = 0.005
"""Share of wrong spins after one step that defines a load, the 0.5 % of Krotov & Hopfield 2016."""
AT_SIZE = {("exponential", "target_weight"), ("modern", "target_weight"), ("modern", "converged_weight")}


def _parts(memory: str) -> tuple[str, int]:
    """Name and degree: the classical network is the dense one of degree 2."""
    name, _, parameter = memory.partition(":")
    if name == "dense":
        degree = int(parameter or 3)
        return ("classical" if degree == 2 else name), degree
    return name, 2


def has_one_step_error(memory: str) -> bool:
    """Whether the share of wrong spins after one step is known."""
    return _parts(memory)[0] in ("classical", "dense", "exponential")


def kind(memory: str, criterion: str) -> str | None:
    """What sort of theory the prediction of `critical_load` for N → ∞ is, in a word or two; None where there is none.

    "annealed" puts the sum over the other patterns at its mean, "replica symmetric" is not exact below the AT line
    (one step of symmetry breaking moves 0.137906 to 0.138186), "uncorrelated steps" neglects the noise that successive
    steps share, "exact" holds without an approximation, "Gaussian noise" becomes exact for N → ∞.
    """
    name, _ = _parts(memory)
    if criterion in CUTS:
        return {"classical": "replica symmetric", "dense": "uncorrelated steps", "projection": "exact"}.get(name)
    if criterion == "one_step_error" and name in ("classical", "dense"):
        return "Gaussian noise"
    if name in ("exponential", "modern") and criterion != "exact":
        return "annealed"
    return "exact" if name == "projection" else None


def depends_on_size(memory: str, criterion: str) -> bool:
    """Whether `critical_load` knows a value at every N: exact but for `modern`, where it is annealed."""
    if criterion == "one_step_error":
        return has_one_step_error(memory)
    return (_parts(memory)[0], criterion) in AT_SIZE


def critical_load(memory: str, criterion: str, neurons: int | None, corruption, beta: float) -> float | None:
    """Load at which half of the queries should pass a criterion, or 0.5 % of the spins be wrong after one step.

    Args:
        memory: as in `hopfield.memories.find`.
        criterion: retained or one of its cuts, one_step_error, fixed_point, target_weight or converged_weight.
        neurons: N for the finite-size prediction where there is one (`depends_on_size`); None for the limit of large N.
        corruption: flipped fraction of the start; anything else is beyond theory.
        beta: inverse temperature.
    """
    if not isinstance(corruption, int | float) or corruption > 0.5:
        return None
    name, degree = _parts(memory)
    clean = corruption == 0
    if criterion == "one_step_error":
        return _wrong(memory, neurons, corruption, beta)
    if criterion in CUTS and clean and name in ("classical", "dense"):
        return _retained(name, degree, CUTS[criterion])
    if name == "exponential" and criterion == "target_weight":
        if neurons is None:
            return float(exponential.target_weight_load(beta, corruption))
        return float(exponential.critical_load(neurons, beta, corruption))
    if name == "exponential" and criterion == "fixed_point":
        return float(exponential.one_step_load(beta)) if neurons is None else None
    if name == "projection" and criterion in (*CUTS, "fixed_point", "exact") and clean:
        return 1.0
    if name == "modern" and clean and criterion in ("target_weight", "converged_weight"):
        return _sphere(criterion, neurons, beta)
    return None


def _retained(name: str, degree: int, cut: float) -> float:
    """Largest load whose retrieval state has an overlap above the cut: the last one, or where m(α) falls to the cut."""
    last = classical.critical_load() if name == "classical" else dense.spinodal(degree)
    if last.overlap >= cut:
        return float(last.load)
    excess = lambda load: float(dense.retrieval_overlap(degree, load)) - cut  # noqa: E731
    return float(cast(float, brentq(excess, 0.01 * float(last.load), 0.999999 * float(last.load))))


def _wrong(memory: str, neurons: int | None, corruption: float, beta: float) -> float | None:
    """Load at which one step leaves `WRONG` of the spins wrong; at finite N exact for odd M, interpolated between."""
    name, degree = _parts(memory)
    if neurons is None:
        if name == "exponential":
            return float(exponential.one_step_load(beta, corruption))
        if name not in ("classical", "dense") or corruption == 0.5:
            return None
        return float(dense.capacity(degree, WRONG)) * (1 - 2 * corruption) ** (2 * (degree - 1))

    def excess(half: int) -> float:
        error = one_step_error(memory, neurons, np.array([2 * half + 1]), corruption, beta)
        assert error is not None
        return float(np.log(np.maximum(error[0], 1e-300) / WRONG))

    low, high = 0, 1
    if not has_one_step_error(memory) or excess(low) >= 0:
        return None
    while excess(high) < 0:
        low, high = high, 2 * high
        if high > 2**40:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if excess(middle) < 0 else (low, middle)
    below, above = excess(low), excess(high)
    patterns = 2 * (low - below * (high - low) / (above - below)) + 1
    return float(find(memory).scaling.load(patterns, neurons))


def _sphere(criterion: str, neurons: int | None, beta: float) -> float | None:
    """Annealed thresholds of patterns of norm √N: κ = β N on the unit sphere."""
    if neurons is None:
        return float(spherical.typical_load(beta, "sphere"))
    kind = "one_step" if criterion == "target_weight" else "converged"
    return float(spherical.critical_load(neurons, beta * neurons, kind))


def success(memory: str, criterion: str, neurons: int, patterns, corruption, beta: float) -> np.ndarray | None:
    """Exact share of queries that pass a criterion at a finite size, for an array of numbers of patterns."""
    if not isinstance(corruption, int | float) or (_parts(memory)[0], criterion) != ("exponential", "target_weight"):
        return None
    if corruption > 0.5:
        return None
    return np.asarray(exponential.target_weight_probability(neurons, patterns, beta, corruption))


def one_step_error(memory: str, neurons: int, patterns, corruption, beta: float) -> np.ndarray | None:
    """Exact share of wrong spins after one synchronous step, for an array of numbers of patterns."""
    if not isinstance(corruption, int | float):
        return None
    name, degree = _parts(memory)
    if name == "classical":
        return np.asarray(classical.one_step_error(neurons, patterns, corruption))
    if name == "dense":
        return np.asarray(dense.one_step_error(degree, neurons, patterns, corruption))
    if name == "exponential" and corruption <= 0.5:
        return np.asarray(exponential.one_step_error(neurons, patterns, beta, corruption))
    return None


def retained_overlap(memory: str, load) -> np.ndarray | None:
    """Overlap of the retrieval state from a clean start in an infinite network; NaN beyond the last one."""
    name, degree = _parts(memory)
    if name == "classical":
        return np.asarray(classical.retrieval_overlap(load))
    if name == "dense":
        return np.asarray(dense.retrieval_overlap(degree, load))
    return None
