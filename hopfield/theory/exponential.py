"""Exponential memories on spins, E = −Σ_μ exp(β ξ_μ·x) (or its logarithm): M = e^(αN) random patterns.

Three loads α = ln M / N are called capacity; they answer different questions.

    all_patterns_load    every pattern is a fixed point (Demircigil et al.), or corrected from a corrupted start
    one_step_load        a typical pattern is reproduced by one step of the sign rule, own spin excluded
    target_weight_load   a typical pattern has softmax weight above 1/2 in the state

Thresholds are for N → ∞. At N of a few dozen the finite-size functions below take the patterns as what they are,
independent with binomial overlaps, and need no limit: a sum over M − 1 patterns enters through its Laplace or
Fourier transform, the (M−1)-th power of a sum over N + 1 overlaps.

Source: Demircigil, Heusel, Löwe, Upgang, Vermet, J. Stat. Phys. 168, 288 (2017), arXiv:1702.01929; Lucibello and
Mézard, Phys. Rev. Lett. 132, 077301 (2024), arXiv:2304.14964.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import root_scalar
from scipy.special import gammaln, xlogy

from hopfield._arguments.host import Float, plain, reals, whole_numbers
from hopfield.theory import sums
from hopfield.theory.base import flips

_MOST = 1e8  # neurons: beyond them probabilities are not known to 1e-7
_UNDERFLOW = 373.0  # half of -ln of the least number of double precision
_SPACING = 0.25  # of ln s
_AT_ONCE = 2**20  # numbers of a table
_NEGLIGIBLE = 1e-8  # overlaps rarer than this over all patterns are left out of a probability


def rate(overlap: ArrayLike) -> Float:
    """Cramér rate of the overlap of two random patterns, I(a) = ½[(1+a) ln(1+a) + (1−a) ln(1−a)]; I(1) = ln 2.

    Args:
        overlap: a, −1 to 1.
    """
    a = reals("overlap", overlap, least=-1, most=1)
    return plain((xlogy(1 + a, 1 + a) + xlogy(1 - a, 1 - a)) / 2)


def all_patterns_load(corruption: ArrayLike = 0.0) -> Float:
    """Load up to which all patterns are fixed (corruption 0) or corrected in one step, at β = 1: I(1−2ρ)/2.

    Args:
        corruption: ρ, fraction of flipped spins, 0 to 1/2.

    Returns:
        ln(2)/2 = 0.3466 at ρ = 0.

    Source: Demircigil et al. 2017, theorem 3.
    """
    return plain(rate(1 - 2 * reals("corruption", corruption, least=0, most=0.5)) / 2)


def one_step_load(beta: ArrayLike = 1.0, corruption: ArrayLike = 0.0) -> Float:
    """Load up to which the sign rule, own spin excluded, restores a typical pattern in one step.

    With m = 1 − 2ρ: 2βm − ln cosh 2β where m >= tanh 2β, and I(m) otherwise, where a single pattern that happens to
    be nearer to the state than its own pattern does the damage.

    Args:
        beta: inverse temperature in exp(β ξ·x), > 0.
        corruption: ρ, fraction of flipped spins, 0 to 1/2.

    Returns:
        0.6750 at β = 1, ρ = 0.
    """
    return _typical_load(2, reals("beta", beta, above=0), corruption)


def target_weight_load(beta: ArrayLike = 1.0, corruption: ArrayLike = 0.0) -> Float:
    """Load up to which a typical pattern has softmax weight above 1/2 in the state.

    With m = 1 − 2ρ: βm − ln cosh β where m >= tanh β, which is annealed (the sum over the other patterns is at its
    mean), and I(m) otherwise, where the nearest pattern dominates the sum. Arguments: as in `one_step_load`.

    Returns:
        0.5662 at β = 1, ρ = 0.

    Source: Lucibello and Mézard 2024, condition of retrieval for binary patterns.
    """
    return _typical_load(1, reals("beta", beta, above=0), corruption)


def target_weight(
    neurons: ArrayLike, num_patterns: ArrayLike, beta: ArrayLike = 1.0, corruption: ArrayLike = 0.0
) -> Float:
    """Exact mean softmax weight of a pattern in the state with round(corruption·N) of its spins flipped.

    p = 1/(1 + X) with X = Σ_{ν≠μ} e^(β(ξ_ν − ξ_μ)·x), and ⟨p⟩ = ∫₀^∞ e^(−s) ⟨e^(−sX)⟩ ds.

    Args:
        neurons: N >= 1.
        num_patterns: M >= 1, independent and unbiased.
        beta: inverse temperature in exp(β ξ·x), > 0.
        corruption: fraction of flipped spins, 0 to 1/2.

    Returns:
        Mean over the patterns, to a relative error of 1e-9.
    """
    return _apply_elementwise(_mean_weight, neurons, num_patterns, beta, corruption)


def target_weight_probability(
    neurons: ArrayLike, num_patterns: ArrayLike, beta: ArrayLike = 1.0, corruption: ArrayLike = 0.0
) -> Float:
    """Exact probability that a pattern has softmax weight above 1/2 in its corrupted state, that is P(X < 1).

    Arguments: as in `target_weight`. Another pattern as near as the target rules the target out; other ties (e^(2β) =
    2) count half.

    Returns:
        The probability, to 1e-7 for a hundred patterns or more (1e-5 for a handful).
    """
    return _apply_elementwise(_weight_probability, neurons, num_patterns, beta, corruption)


def critical_load(neurons: ArrayLike, beta: ArrayLike = 1.0, corruption: ArrayLike = 0.0) -> Float:
    """Load ln M / N at which half of the patterns have softmax weight above 1/2: `target_weight_load` at finite N.

    Args:
        neurons: N, 1 to 1000; seconds each from 100 on.
        beta: inverse temperature in exp(β ξ·x), > 0.
        corruption: fraction of flipped spins, 0 to 1/2.

    Returns:
        The load, with M taken as continuous; nan where two patterns are already too many.
    """
    return _apply_elementwise(_critical_load, reals("neurons", neurons, most=1000), 1, beta, corruption)


def one_step_error(
    neurons: ArrayLike, num_patterns: ArrayLike, beta: ArrayLike = 1.0, corruption: ArrayLike = 0.0
) -> Float:
    """Fraction of wrong spins after one synchronous step of the sign rule, own spin excluded.

    The field is e^(βs) from the pattern, s its overlap with the N − 1 other spins, plus M − 1 independent terms
    ±e^(βs'). Exact up to ties, which count half, and to 1e-5.

    Args:
        neurons: N >= 2.
        num_patterns: M >= 1, independent and unbiased.
        beta: inverse temperature in exp(β ξ·x), > 0.
        corruption: fraction of flipped spins, 0 to 1/2.

    Returns:
        Probability that a spin, chosen at random among all, differs from the pattern after the step.
    """
    neurons = whole_numbers("neurons", neurons, least=2)
    return _apply_elementwise(_one_step_error, neurons, num_patterns, beta, corruption)


def _typical_load(terms: int, beta: Float, corruption: ArrayLike) -> Float:
    corruption = reals("corruption", corruption, least=0, most=0.5)
    tilt = terms * np.minimum(beta, 400.0)  # tanh is 1 from 20 on, and the load no longer depends on the tilt
    overlap = 1 - 2 * corruption
    annealed = -np.log1p(np.expm1(-2 * tilt) / 2) - 2 * corruption * tilt  # t − ln cosh t, which cancels as written
    return plain(np.where(overlap >= np.tanh(tilt), annealed, rate(overlap)))


def _apply_elementwise(
    function: Callable[[float, float, float, float], float],
    neurons: ArrayLike,
    num_patterns: ArrayLike,
    beta: ArrayLike,
    corruption: ArrayLike,
) -> Float:
    neurons = whole_numbers("neurons", reals("neurons", neurons, most=_MOST), least=1)
    num_patterns = whole_numbers("num_patterns", num_patterns, least=1)
    flipped = flips(reals("corruption", corruption, least=0, most=0.5), neurons)
    elementwise = np.vectorize(function, otypes=[np.float64])
    return plain(elementwise(neurons, num_patterns, reals("beta", beta, above=0), flipped))


def _overlaps(neurons: float) -> tuple[Float, Float]:
    """Values ξ·x of a random pattern and any state, and their probabilities, where double precision holds them."""
    reach = np.ceil(np.sqrt(_UNDERFLOW * neurons))  # Hoeffding: beyond it every probability is 0
    positive = np.arange(max(0, np.floor(neurons / 2 - reach)), min(neurons, np.ceil(neurons / 2 + reach)) + 1)
    log_count = gammaln(neurons + 1) - gammaln(positive + 1) - gammaln(neurons - positive + 1)
    probabilities = np.exp(log_count - neurons * np.log(2))
    return 2 * positive - neurons, probabilities / probabilities.sum()


def _mean_weight(neurons: float, num_patterns: float, beta: float, flipped: float) -> float:
    """The integral over ln s by the trapezoidal rule.

    At ln s + iv the integrand is at most the one at ln s + ln cos v, over cos v: at any N, M and β the rule of
    spacing h is right up to e^(−2πv/h)/cos v, relative, for v < π/2.
    """
    overlaps, probabilities = _overlaps(neurons)
    log_terms = beta * (overlaps - (neurons - 2 * flipped))
    with np.errstate(over="ignore", under="ignore"):
        # ⟨p⟩ >= 1/(1 + ⟨X⟩): below e^-30 times that, s contributes nothing, nor where e^ln s is 0
        least = -np.log1p((num_patterns - 1) * np.sum(probabilities * np.exp(log_terms))) - 30
        log_s = np.arange(max(least, 2 * -_UNDERFLOW - 30), 4.0, _SPACING)
        total = 0.0
        for some in np.array_split(log_s, np.ceil(len(log_s) * len(overlaps) / _AT_ONCE)):
            fall = np.expm1(-np.exp(some[:, None] + log_terms)) @ probabilities
            laplace = (num_patterns - 1) * np.log1p(np.maximum(fall, -1 + 1e-16))
            total += np.sum(np.exp(some - np.exp(some) + laplace))
        return float(total * _SPACING)


def _weight_probability(neurons: float, num_patterns: float, beta: float, flipped: float) -> float:
    overlaps, probabilities = _overlaps(neurons)
    target = neurons - 2 * flipped
    further = overlaps < target
    share = probabilities[further].sum()
    if share == 0:
        return float(num_patterns == 1)
    terms = np.exp(beta * (overlaps[further] - target))
    nearer = (num_patterns - 1) * np.log1p(-probabilities[~further].sum())
    return float(np.exp(nearer)) * sums.below(
        terms, probabilities[further] / share, num_patterns - 1, 1.0, negligible=_NEGLIGIBLE
    )


def _critical_load(neurons: float, _: float, beta: float, flipped: float) -> float:
    def excess(log_others: float) -> float:
        return _weight_probability(neurons, 1 + np.exp(log_others), beta, flipped) - 0.5

    most = neurons * np.log(2) + 3  # twenty copies of every state
    if excess(0.0) < 0:
        return np.nan
    log_others = root_scalar(excess, bracket=(0.0, most), xtol=1e-7).root
    return float(np.log1p(np.exp(log_others))) / neurons


def _one_step_error(neurons: float, num_patterns: float, beta: float, flipped: float) -> float:
    overlaps, probabilities = _overlaps(neurons - 1)

    def below_zero(target: float) -> float:
        """Probability that the field on a spin is negative when its pattern contributes e^(β·target)."""
        apart = beta * (overlaps - target)
        # overlaps that one realisation in a thousand contains decide the sign whatever their size
        rare = np.cumsum(probabilities[::-1])[::-1] * (num_patterns - 1) < 1e-3
        usual = np.sqrt((num_patterns - 1) * np.sum(probabilities[~rare] * np.exp(2 * apart[~rare])))
        most = max(np.log(2.0 + 14.0 * usual), beta * (overlaps[~rare].max(initial=-neurons) + 2 - target))
        terms = np.exp(np.minimum(apart, most))
        values, halves = np.concatenate([terms, -terms]), np.tile(probabilities / 2, 2)
        return sums.below(values, halves, num_patterns - 1, -1.0, negligible=_NEGLIGIBLE, even=True)

    aligned = neurons - 2 * flipped
    return ((neurons - flipped) * below_zero(aligned - 1) + flipped * below_zero(aligned + 1)) / neurons
