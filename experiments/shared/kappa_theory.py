"""Critical κ = β‖ξ‖²: theory of retrieval against κ, by memory and ensemble. None for pairs without a theory.

All of it is annealed: the sum over the other patterns stands at its mean, as if every query met the average of all
draws. At small M each query has a transition of its own.
"""

import numpy as np
from jax.typing import ArrayLike

from experiments.shared.memories import find
from hopfield.theory import spherical

CRITERIA = spherical.BETA_CRITERIA
RANDOM = ("sphere", "gaussian", "spins")


def covers(memory: str, ensemble: str, criterion: str = "target_weight") -> bool:
    """True if theory predicts a criterion: softmax weights of random patterns, of real states after an update."""
    needed = "target_weight" if criterion == "target_weight" else "converged_weight"
    return needed in find(memory).theory.softmax and _law(ensemble) in RANDOM


def _law(ensemble: str) -> str:
    """The ensemble by its law: spins that are generated are spins."""
    return "spins" if ensemble == "generated" else ensemble


def critical_kappa(memory: str, ensemble: str, neurons: int, num_patterns: int, criterion: str) -> float | None:
    """Finite-size κ at which the weight passes one half: at the start, after one update, or where the updates end."""
    if not covers(memory, ensemble, criterion) or num_patterns < 3:
        return None
    kappa = float(spherical.critical_beta(neurons, num_patterns, criterion, _law(ensemble)))  # of patterns of norm 1
    return kappa if kappa == kappa else None


def limit(ensemble: str, loads: np.ndarray) -> np.ndarray:
    """λ = κ/N at which a typical pattern of N → ∞ has half of the weight at the start, for loads ln M / N, or NaN."""
    beta = np.geomspace(1e-3, 1e2, 4000)
    typical = spherical.typical_load(beta, _law(ensemble))
    rising = np.append(True, np.diff(typical) > 0)
    return np.interp(loads, typical[rising], beta[rising], right=np.nan)


def start_weight(memory: str, ensemble: str, neurons: int, num_patterns: int, kappas: ArrayLike) -> np.ndarray | None:
    """Weight on the pattern in the state equal to it, for an array of κ. NaN where theory ends."""
    if not covers(memory, ensemble):
        return None
    weights = np.full(np.shape(kappas), np.nan)
    valid = _valid(ensemble, neurons, kappas)
    weights[valid] = spherical.target_weight(neurons, num_patterns, np.asarray(kappas)[valid], _law(ensemble))
    return weights


def converged(
    memory: str, ensemble: str, neurons: int, num_patterns: int, kappas: ArrayLike
) -> spherical.Converged | None:
    """Overlap, weight and entropy where the updates end, for an array of κ. NaN where theory ends."""
    if not covers(memory, ensemble, "converged_weight"):
        return None
    valid = _valid(ensemble, neurons, kappas)
    states = np.full((3, *np.shape(kappas)), np.nan)
    states[:, valid] = spherical.converged(neurons, num_patterns, np.asarray(kappas)[valid], _law(ensemble))
    return spherical.Converged(*states)


def _valid(ensemble: str, neurons: int, kappas: ArrayLike) -> np.ndarray:
    return (np.asarray(kappas) < neurons) | (ensemble != "gaussian")
