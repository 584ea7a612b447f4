"""Annealed weights of random patterns in a state along one pattern, for weights that depend on overlaps alone.

The sum over the M − 1 other patterns stands at its mean, (M − 1) E[w(t)], with t the overlap per neuron of a random
pattern with the direction of the state:

    sphere    density ∝ (1 − t²)^((N−3)/2)
    spins     binomial
    gaussian  normal of variance r/N, r the squared norm per neuron of the pattern, the median

A memory says what a pattern weighs, ln w(t, m), when the state is m times the pattern; its own pattern has t = r.
"""

from collections.abc import Callable
from typing import NamedTuple, cast

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import betaln, chdtri, entr, expit, logsumexp

from hopfield._arguments.host import Float, plain, real, whole_number
from hopfield._arguments.words import one_of
from hopfield.theory.general import binomial
from hopfield.theory.spherical import CRITERIA, ENSEMBLES, Converged, Ensemble, WeightCriterion

Weight = Callable[[Float, float], Float]
"""ln w of an array of overlaps per neuron t in a state of overlap m, up to a number that all t share."""
_POINTS = 4001
_REACH = 45.0
_NONE = -1e6


class Others(NamedTuple):
    """Sums over the other patterns, in a state of overlap m."""

    gap: float  # ln of the pattern's own weight over the mean of another's
    overlap: float  # mean overlap of their weighted average with the state, over the pattern's own
    spread: float  # their entropy, less ln(M − 1)


def others(neurons: int, log_weight: Weight, ensemble: Ensemble | str, overlap: float = 1.0) -> Others:
    """Averages over the density of t, times w."""
    neurons, overlap = whole_number("neurons", neurons, least=2), real("overlap", overlap)
    if one_of("ensemble", ensemble, ENSEMBLES) == "spins":
        sums, log_probabilities = binomial(neurons)
        t, log_density, own_overlap = sums / neurons, log_probabilities, 1.0
    elif ensemble == "sphere":
        t, log_density = _nodes(lambda u: (np.tanh(u), -(neurons - 1) * _log_cosh(u)), log_weight, overlap, 20.0)
        log_density, own_overlap = log_density - betaln(0.5, (neurons - 1) / 2), 1.0
    else:
        own_overlap = float(chdtri(neurons, 0.5)) / neurons
        variance = own_overlap / neurons
        t, log_density = _nodes(lambda t: (t, -(t**2) / (2 * variance)), log_weight, overlap, 4.0 * own_overlap)
        log_density = log_density - 0.5 * np.log(2 * np.pi * variance)
    weights = log_weight(t, overlap)
    terms = log_density + weights
    total, mine = float(cast(float, logsumexp(terms))), float(log_weight(np.array([own_overlap]), overlap)[0])
    if not np.isfinite(total):  # nothing else has a weight, and maybe not even the pattern
        return Others(np.inf if np.isfinite(mine) else -np.inf, 0.0, 0.0)
    law = np.exp(terms - total)
    spread = total - float(np.sum(np.where(law > 0, law * np.where(law > 0, weights, 0.0), 0.0)))
    return Others(mine - total, float(np.sum(law * t)) / own_overlap, spread)


def _nodes(
    density: Callable[[Float], tuple[Float, Float]], log_weight: Weight, overlap: float, reach: float
) -> tuple[Float, Float]:
    """Nodes t and the logarithms of their trapezoidal weights, where density times w is not negligible."""
    wide = np.linspace(-reach, reach, 20 * _POINTS)
    t, log_density = density(wide)
    terms = log_density + log_weight(t, overlap)
    inside = wide[terms > np.max(terms) - _REACH] if np.any(np.isfinite(terms)) else wide
    step = wide[1] - wide[0]
    fine = np.linspace(inside[0] - step, inside[-1] + step, _POINTS)
    t, log_density = density(fine)
    return t, log_density + np.log(fine[1] - fine[0])


def _log_cosh(u: Float) -> Float:
    return np.logaddexp(u, -u) - np.log(2)


def target_weight(neurons: int, num_patterns: float, log_weight: Weight, ensemble: Ensemble | str = "sphere") -> Float:
    """Share of the weight that a pattern has in the state equal to it, 1/(1 + (M−1) E[w]/w)."""
    num_patterns = real("num_patterns", num_patterns, least=1)
    with np.errstate(divide="ignore"):
        return plain(expit(others(neurons, log_weight, ensemble).gap - np.log(num_patterns - 1.0)))


def converged(neurons: int, num_patterns: float, log_weight: Weight, ensemble: Ensemble | str = "sphere") -> Converged:
    """State that the update Σ p ξ reaches from a pattern: m ← p + (1−p)⟨t⟩/r, p the target weight at m.

    The entropy is taken over the shares of all M >= 2 patterns.
    """
    overlap, log_others = 1.0, float(np.log(real("num_patterns", num_patterns, least=2) - 1.0))
    for _ in range(2000):
        averages = others(neurons, log_weight, ensemble, overlap)
        weight = float(expit(averages.gap - log_others))
        previous, overlap = overlap, weight + (1 - weight) * averages.overlap
        if abs(previous - overlap) <= 1e-13:
            break
    entropy = float(entr(weight) + entr(1 - weight)) + (1 - weight) * (log_others + averages.spread)
    return Converged(plain(overlap), plain(weight), plain(entropy))


def critical_load(
    neurons: int,
    log_weight: Weight,
    criterion: WeightCriterion | str = "target_weight",
    ensemble: Ensemble | str = "sphere",
) -> float:
    """Load ln M / N up to which the target weight is at least 1/2, in one step or where the update ends.

    A fixed point m has p = 1 − (1−m)/(1−⟨t⟩/r), hence one M; the threshold is the largest M with p >= ½.
    """
    if one_of("criterion", criterion, CRITERIA) == "target_weight":
        return float(np.logaddexp(0, others(neurons, log_weight, ensemble).gap) / neurons)

    def log_others(overlap: float) -> float:
        averages = others(neurons, log_weight, ensemble, overlap)
        lost = (1 - overlap) / (1 - averages.overlap)
        gap = float(np.clip(averages.gap, _NONE, -_NONE))
        return gap + float(np.log(lost) - np.log1p(-lost)) if 0 < lost <= 0.5 else _NONE

    grid = 1 - np.geomspace(1e-6, 0.6, 120)
    best = int(np.argmax([log_others(m) for m in grid]))
    low, high = grid[min(best + 1, len(grid) - 1)], grid[max(best - 1, 0)]
    optimum = minimize_scalar(lambda m: -log_others(m), bounds=(low, high), method="bounded", options={"xatol": 1e-12})
    return float(np.logaddexp(0, max(-float(optimum.fun), log_others(grid[best]))) / neurons)
