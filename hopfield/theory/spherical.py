"""Softmax memories: exponents of M = e^(αN) patterns, and annealed finite-size predictions.

Retrieval starts at a stored pattern, so these are statements about a typical pattern being kept, not about basins.

The finite-size predictions are annealed: they put the sum over the M − 1 other patterns at its mean,
⟨Σ e^(κ ξ_ν·x)⟩ = (M−1) E(κ) for unit vectors, which is right where many patterns share it, and good to a per cent from
a thousand patterns on. Spins and Gaussian patterns are scaled by 1/√N, so that their norm is 1 (for Gaussian patterns
in the mean square):

    sphere    E_d(κ) = Γ(d/2)(2/κ)^ν I_ν(κ), ν = d/2 − 1    A = E'/E = I_{ν+1}/I_ν
    spins     cosh(κ/N)^N                                   tanh(κ/N)
    gaussian  e^(κ²/2N)                                     κ/N, for the pattern of median norm, κ < N

Source: Lucibello and Mézard, Phys. Rev. Lett. 132, 077301 (2024), arXiv:2304.14964, "LM" below.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import elementwise
from scipy.special import entr, expit

from hopfield._arguments.host import Float, plain, reals, whole_numbers
from hopfield._arguments.words import one_of
from hopfield.theory.averages import ENSEMBLES, Averages, Ensemble, averages_of, sphere
from hopfield.theory.base import WEIGHTS as CRITERIA
from hopfield.theory.base import WeightCriterion
from hopfield.theory.exponential import target_weight_load

BetaCriterion = Literal["target_weight", "first_weight", "converged_weight"]
BETA_CRITERIA: tuple[BetaCriterion, ...] = get_args(BetaCriterion)
"""Weights that a β is critical of: at the start, after one update, and where the updates end."""


class Converged(NamedTuple):
    """Fixed point reached from a pattern: overlap with it, its softmax weight, entropy of the weights in nats."""

    overlap: Float
    target_weight: Float
    entropy: Float


def typical_load(beta: ArrayLike, ensemble: Ensemble | str = "sphere") -> Float:
    """Load α_1 = ln M / N up to which a typical pattern of squared norm N is retrieved, for N → ∞.

    sphere    α_1 = λ(1−t) − ½ ln(1−t²),  t = (√(1+4λ²) − 1)/(2λ), without limit in λ
    spins     α_1 = λ − ln cosh λ, below ln 2
    gaussian  α_1 = λ − λ²/2 for λ <= 1, ½ beyond

    Args:
        beta: λ, inverse temperature in exp(λ ξ·x), > 0. For patterns of unit norm it is λN.
        ensemble: "sphere", "spins" or "gaussian" (independent standard normal components).

    Source: LM.
    """
    beta = reals("beta", beta, above=0)
    if one_of("ensemble", ensemble, ENSEMBLES) == "spins":
        return target_weight_load(beta)
    if ensemble == "gaussian":
        capped = np.minimum(beta, 1.0)
        return plain(capped - capped**2 / 2)
    ratio = 1 / (0.5 + np.hypot(0.5, beta))  # t/λ
    t = beta * ratio
    # (1−t)(1+t) = t/λ at the saddle point; 1 − t itself cancels for large λ
    return plain(t / (1 + t) - np.log(ratio) / 2)


def target_weight(
    neurons: ArrayLike, num_patterns: ArrayLike, kappa: ArrayLike, ensemble: Ensemble | str = "sphere"
) -> Float:
    """Annealed softmax weight of a pattern in the state equal to it: p = 1/(1 + (M−1) E(κ) e^(−κ)).

    Args:
        neurons: dimension d >= 2.
        num_patterns: M >= 1, independent.
        kappa: β times the squared norm of the patterns, >= 0; below d for Gaussian patterns.
        ensemble: "sphere", "spins" or "gaussian".
    """
    average, (neurons, num_patterns, kappa) = averages_of(ensemble), _arguments(neurons, num_patterns, kappa, ensemble)
    return plain(expit(average(neurons, kappa).gap - _log_others(num_patterns)))


def converged(
    neurons: ArrayLike, num_patterns: ArrayLike, kappa: ArrayLike, ensemble: Ensemble | str = "sphere"
) -> Converged:
    """State that the update reaches from a pattern, annealed: m ← p + (1−p) A(κm), p the target weight at κm.

    A = E'/E is the mean overlap of the other patterns' weighted average with the state. The entropy is
    H = −p ln p − (1−p) ln(1−p) + (1−p)[ln(M−1) + ln E(κm) − κm A(κm)].

    Args:
        neurons: dimension d >= 2.
        num_patterns: M >= 1, independent.
        kappa: β times the squared norm of the patterns, >= 0; below d for Gaussian patterns.
        ensemble: "sphere", "spins" or "gaussian".

    Returns:
        The largest fixed point, which the iteration approaches from above; within 1e-7 of a threshold the
        iteration is cut after 10 000 steps.
    """
    averages, (neurons, num_patterns, kappa) = averages_of(ensemble), _arguments(neurons, num_patterns, kappa, ensemble)
    others = _log_others(num_patterns)
    overlap = np.ones(kappa.shape)
    moving = np.ones(kappa.shape, bool)  # near a threshold some entries need thousands of steps, all others a few
    for _ in range(10_000):
        average = averages(neurons[moving], kappa[moving] * overlap[moving])
        reached = 1 - (1 - expit(average.gap - others[moving])) * average.miss
        fell, overlap[moving] = overlap[moving] - reached > 1e-13, reached
        moving[moving] = fell
        if not fell.any():
            break
    average = averages(neurons, kappa * overlap)
    weight = expit(average.gap - others)
    field = kappa * overlap
    rest = np.where(np.isfinite(others), others, 0.0) - average.gap + field * average.rate
    entropy = entr(weight) + entr(1 - weight) + (1 - weight) * rest
    return Converged(plain(overlap), plain(weight), plain(entropy))


def critical_beta(
    neurons: ArrayLike,
    num_patterns: ArrayLike,
    criterion: BetaCriterion | str = "target_weight",
    ensemble: Ensemble | str = "sphere",
) -> Float:
    """Smallest κ (β for patterns of unit norm) at which the annealed target weight exceeds 1/2.

    Args:
        neurons: dimension d >= 2.
        num_patterns: M >= 3.
        criterion: "target_weight", in the state equal to the pattern, "first_weight", after one update from there, or
            "converged_weight", where the updates end.
        ensemble: "sphere", "spins" or "gaussian".

    Returns:
        κ, or NaN for more spins or Gaussian patterns than any κ retrieves.
    """
    averages, (neurons, num_patterns, _) = averages_of(ensemble), _arguments(neurons, num_patterns, 0.0, ensemble)
    others = _log_others(whole_numbers("num_patterns", num_patterns, least=3))

    def excess(log_kappa: Float, neurons: Float, others: Float) -> Float:
        return averages(neurons, np.exp(log_kappa)).gap - others

    # the gap of Gaussian patterns grows up to κ = N and falls beyond
    highest = np.log(neurons) if ensemble == "gaussian" else np.full(others.shape, np.log(1e15))
    wide = np.full(others.shape, np.log(1e-9)), highest
    half = np.exp(elementwise.find_root(excess, wide, args=(neurons, others)).x)
    if one_of("criterion", criterion, BETA_CRITERIA) == "target_weight":
        return plain(half)
    if criterion == "converged_weight":
        return plain(_converged_beta(averages, half, neurons, others))

    def excess_of_first(log_kappa: Float, neurons: Float, others: Float) -> Float:
        average = averages(neurons, np.exp(log_kappa))
        overlap = 1 - (1 - expit(average.gap - others)) * average.miss
        return averages(neurons, np.exp(log_kappa) * overlap).gap - others

    bracket = np.log(half), np.broadcast_to(highest, others.shape)
    return plain(np.exp(elementwise.find_root(excess_of_first, bracket, args=(neurons, others)).x))


def _converged_beta(averages: Averages, half: Float, neurons: Float, others: Float) -> Float:
    """Smallest β at which the fixed point that a pattern leads to weighs it more than 1/2, which κ = `half` gives."""

    def overlap(kappa: Float, neurons: Float, others: Float) -> tuple[Float, Float]:
        average = averages(neurons, kappa)
        weight = expit(average.gap - others)
        slope = (1 - weight) * (weight * average.rate * average.miss + average.variance)
        return 1 - (1 - weight) * average.miss, slope

    def steepness(kappa: Float, neurons: Float, others: Float) -> Float:
        """Sign of the slope of κ ↦ κ/m(κ), the β that has a fixed point at κ = βm."""
        m, slope = overlap(kappa, neurons, others)
        return m - kappa * slope

    beyond = half / overlap(half, neurons, others)[0]
    turn = elementwise.find_root(steepness, (half, beyond), args=(neurons, others)).x
    field = np.where(np.isnan(turn), half, turn)  # without a turn the weight passes 1/2 continuously
    return field / overlap(field, neurons, others)[0]


def critical_load(neurons: ArrayLike, kappa: ArrayLike, criterion: WeightCriterion | str = "target_weight") -> Float:
    """Annealed load ln M / d up to which the target weight is at least 1/2: `typical_load` at finite d, for κ = λd.

    Args:
        neurons: dimension d >= 2.
        kappa: β times the squared norm of the patterns, > 0.
        criterion: "target_weight", in the state equal to the pattern, or "converged_weight", where the update ends.

    Returns:
        The load, with M taken as continuous.
    """
    neurons, _, kappa = _arguments(neurons, 1, reals("kappa", kappa, above=0))
    if one_of("criterion", criterion, CRITERIA) == "target_weight":
        log_others = sphere(neurons, kappa).gap
    else:
        log_others = _converged_log_others(neurons, kappa)
    return plain(np.logaddexp(0, log_others) / neurons)


def critical_patterns(
    neurons: ArrayLike, kappa: ArrayLike, criterion: WeightCriterion | str = "target_weight"
) -> Float:
    """Number of patterns M = e^(d·critical_load), taken as continuous; inf beyond 1e308.

    Arguments as for `critical_load`.
    """
    with np.errstate(over="ignore"):
        return plain(np.exp(reals("neurons", neurons) * critical_load(neurons, kappa, criterion)))


def _converged_log_others(neurons: Float, kappa: Float) -> Float:
    """ln(M−1) at which the converged weight on the target falls through or jumps below 1/2.

    A fixed point at field f = κm has weight p with (1−p)(1−A(f)) = 1 − f/κ, hence one M; the largest M with p >= ½
    lies where p = ½ or at the maximum of M along the branch.
    """

    def half_weight(field: Float, neurons: Float, kappa: Float) -> Float:
        return 1 - field / kappa - sphere(neurons, field).miss / 2

    def rise(field: Float, neurons: Float, kappa: Float) -> Float:
        """Sign of the slope of ln(M−1) = gap + ln((1−p)/p) along the branch."""
        average = sphere(neurons, field)
        lost = 1 - field / kappa
        weight = 1 - lost / average.miss
        slope = (1 / kappa - lost * average.variance / average.miss) / average.miss
        return average.miss * weight * (1 - weight) - slope

    half = elementwise.find_root(half_weight, (np.zeros(kappa.shape), kappa), args=(neurons, kappa)).x
    turn = elementwise.find_root(rise, (half, kappa), args=(neurons, kappa)).x
    field = np.where(np.isnan(turn), half, turn)
    average = sphere(neurons, field)
    lost = (1 - field / kappa) / average.miss
    return average.gap + np.log(lost) - np.log1p(-lost)


def _log_others(num_patterns: Float) -> Float:
    with np.errstate(divide="ignore"):
        return np.log(num_patterns - 1)


def _arguments(
    neurons: ArrayLike, num_patterns: ArrayLike, kappa: ArrayLike, ensemble: Ensemble | str = "sphere"
) -> tuple[Float, Float, Float]:
    dimension, count = whole_numbers("neurons", neurons, least=2), whole_numbers("num_patterns", num_patterns, least=1)
    dimension, count, kappa = np.broadcast_arrays(dimension, count, reals("kappa", kappa, least=0))
    if ensemble == "gaussian" and np.any(kappa >= dimension):
        raise ValueError(f"kappa must be below neurons for gaussian patterns, got {kappa}")
    return dimension, count, kappa
