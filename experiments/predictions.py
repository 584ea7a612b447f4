"""What theory says of a memory by name: the lines drawn beside measurements, and None where there is no theory."""

import numpy as np


def _parts(memory: str) -> tuple[str, int]:
    """Name and degree: the classical network is the dense one of degree 2."""
    name, _, parameter = memory.partition(":")
    if name == "dense":
        degree = int(parameter or 3)
        return ("classical" if degree == 2 else name), degree
    return name, 2


def critical_load(memory: str, criterion: str, neurons: int | None, corruption, beta: float) -> float | None:
    """Load at which half of the queries should pass a criterion.

    Args:
        memory: as in `hopfield.memories.find`.
        criterion: retained, fixed_point or target_weight.
        neurons: N for the finite-size prediction where there is one; None for the limit of large N.
        corruption: flipped fraction of the start; anything else is beyond theory.
        beta: inverse temperature.
    """
    from hopfield.theory import classical, dense, exponential

    if not isinstance(corruption, int | float):
        return None
    name, degree = _parts(memory)
    clean = corruption == 0
    if name == "exponential" and corruption > 0.5:
        return None
    if name == "classical" and criterion == "retained" and clean:
        return float(classical.critical_load().load)
    if name == "dense" and criterion == "retained" and clean:
        return float(dense.spinodal(degree).load)
    if name == "exponential" and criterion == "target_weight":
        if neurons is None:
            return float(exponential.target_weight_load(beta, corruption))
        return float(exponential.critical_load(neurons, beta, corruption))
    if name == "exponential" and criterion == "fixed_point":
        return float(exponential.one_step_load(beta)) if neurons is None else None
    if name == "projection" and criterion in ("retained", "fixed_point", "exact") and clean:
        return 1.0
    if name == "modern" and clean and criterion in ("target_weight", "retained"):
        return _sphere(criterion, neurons, beta)
    return None


def _sphere(criterion: str, neurons: int | None, beta: float) -> float | None:
    """Thresholds of patterns of norm √N: κ = β N on the unit sphere."""
    from hopfield.theory import spherical

    if neurons is None:
        return float(spherical.typical_load(beta, "sphere")) if criterion == "target_weight" else None
    kind = "one_step" if criterion == "target_weight" else "converged"
    return float(spherical.critical_load(neurons, beta * neurons, kind))


def success(memory: str, criterion: str, neurons: int, patterns, corruption, beta: float) -> np.ndarray | None:
    """Exact share of queries that pass a criterion at a finite size, for an array of numbers of patterns."""
    from hopfield.theory import exponential

    if not isinstance(corruption, int | float) or (_parts(memory)[0], criterion) != ("exponential", "target_weight"):
        return None
    if corruption > 0.5:
        return None
    return np.asarray(exponential.target_weight_probability(neurons, patterns, beta, corruption))


def one_step_error(memory: str, neurons: int, patterns, corruption, beta: float) -> np.ndarray | None:
    """Exact share of wrong spins after one synchronous step, for an array of numbers of patterns."""
    from hopfield.theory import classical, dense, exponential

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
    from hopfield.theory import classical, dense

    name, degree = _parts(memory)
    if name == "classical":
        return np.asarray(classical.retrieval_overlap(load))
    if name == "dense":
        return np.asarray(dense.retrieval_overlap(degree, load))
    return None
