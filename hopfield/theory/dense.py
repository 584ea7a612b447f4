"""Dense memories on spins, E = −Σ_μ F(ξ_μ·x) with F(s) = sⁿ: storage in units of N^(n−1).

A spin compares the energies of its two states. The difference is a signal from the pattern and a crosstalk from the
others, whose variance over the signal squared is a = (2n−3)!! M/N^(n−1), because ⟨s^(2n−2)⟩ = (2n−3)!! N^(n−1) for
random patterns. A rectified F(s) = max(s, 0)ⁿ hears half of the others, and a is halved.

Source: Krotov and Hopfield, NIPS 2016, arXiv:1606.01164, "KH" below.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import elementwise
from scipy.special import erf, erfc, erfcinv, gammaln, poch

from hopfield._arguments.host import Float, flag, plain, reals, whole_numbers
from hopfield.theory import sums
from hopfield.theory.base import Spinodal, flips


def noise(degree: ArrayLike, *, rectified: bool = False) -> Float:
    """Crosstalk variance over signal squared, per unit of load M/N^(n−1): (2n−3)!!, half of it when rectified.

    Args:
        degree: n >= 2.
        rectified: F(s) = max(s, 0)ⁿ instead of sⁿ.
    """
    degree = whole_numbers("degree", degree, least=2)
    double_factorial = 2 ** (degree - 1) * poch(0.5, degree - 1)
    return plain(double_factorial / (2 if flag("rectified", rectified) else 1))


def distinct_index_factor(degree: ArrayLike) -> Float:
    """Ratio (2n−3)!!/(n−1)! of the n-spin network's capacity without repeated indices to the capacity of F(s) = sⁿ.

    Its field sums over sets of n−1 distinct spins, with crosstalk variance (n−1)! M/N^(n−1) over signal squared.

    Args:
        degree: n >= 2.

    Source: Gardner, J. Phys. A 20, 3453 (1987).
    """
    degree = whole_numbers("degree", degree, least=2)
    return plain(2 ** (degree - 1) * poch(degree, -0.5) / np.sqrt(np.pi))


def one_step_error(
    neurons: ArrayLike,
    num_patterns: ArrayLike,
    degree: ArrayLike,
    corruption: ArrayLike = 0.0,
    *,
    rectified: bool = False,
) -> Float:
    """Fraction of wrong spins after one synchronous step from a pattern with round(corruption·N) flipped spins.

    The crosstalk on a spin is a sum of M − 1 independent copies of ±[F(s+1) − F(s−1)], s the overlap of a random
    pattern with the N − 1 other spins. Its distribution is computed exactly, by convolution while its lattice is
    small and by inversion of its characteristic function beyond, where an exact tie counts half. For n = 2 this is
    the error of the classical network. At N = 100 and 0.1 % it lies well above `one_step_error_asymptotic`.

    Args:
        neurons: N >= 1.
        num_patterns: M >= 1, independent and unbiased.
        degree: n >= 2.
        corruption: fraction of flipped spins, 0 to 1.
        rectified: F(s) = max(s, 0)ⁿ instead of sⁿ.

    Returns:
        Probability that a spin, chosen at random among all, differs from the pattern after the step.
    """
    degree, neurons = whole_numbers("degree", degree, least=2), whole_numbers("neurons", neurons, least=1)
    num_patterns = whole_numbers("num_patterns", num_patterns, least=1)
    flipped = flips(reals("corruption", corruption, least=0, most=1), neurons)
    errors = np.vectorize(_one_step_error, otypes=[np.float64])
    return plain(errors(degree, neurons, num_patterns, flipped, flag("rectified", rectified)))


def one_step_error_asymptotic(
    load: ArrayLike, degree: ArrayLike, corruption: ArrayLike = 0.0, *, rectified: bool = False
) -> Float:
    """Large-N limit of `one_step_error`: ½ erfc(m^(n−1)/√(2a)), m = 1 − 2·corruption, a = noise(n)·load.

    Args:
        load: M/N^(n−1), > 0.
        degree: n >= 2.
        corruption: fraction of flipped spins, 0 to 1/2.
        rectified: F(s) = max(s, 0)ⁿ instead of sⁿ.

    Source: KH.
    """
    variance = noise(degree, rectified=rectified) * reals("load", load, above=0)
    overlap = 1 - 2 * reals("corruption", corruption, least=0, most=0.5)
    return plain(erfc(overlap ** (reals("degree", degree) - 1) / np.sqrt(2 * variance)) / 2)


def capacity(degree: ArrayLike, error: ArrayLike = 0.005, *, rectified: bool = False) -> Float:
    """Load α_n = M/N^(n−1) at which a spin is wrong after one step with probability `error`, for N → ∞.

    Args:
        degree: n >= 2.
        error: between 0 and 1/2.
        rectified: F(s) = max(s, 0)ⁿ instead of sⁿ.

    Returns:
        0.150718/(2n−3)!! at an error of 0.5 %: 0.1507 for n = 2, 0.0502 for 3, 0.0100 for 4.

    Source: KH.
    """
    quantile = erfcinv(2 * reals("error", error, above=0, below=0.5))
    return plain(1 / (2 * quantile**2 * noise(degree, rectified=rectified)))


def error_free_patterns(neurons: ArrayLike, degree: ArrayLike, *, rectified: bool = False) -> Float:
    """Number of patterns that a given one of is a fixed point of, to leading order: N^(n−1)/(2(2n−3)!! ln N).

    Args:
        neurons: N >= 2.
        degree: n >= 2.
        rectified: F(s) = max(s, 0)ⁿ instead of sⁿ.

    Source: KH.
    """
    neurons = reals("neurons", neurons, least=2)
    power = whole_numbers("degree", degree, least=2) - 1
    log_noise = power * np.log(2) + gammaln(power + 0.5) - gammaln(0.5) - np.log(2) * flag("rectified", rectified)
    with np.errstate(over="ignore"):
        return plain(np.exp(power * np.log(neurons) - log_noise) / (2 * np.log(neurons)))


def spinodal(degree: ArrayLike, *, rectified: bool = False) -> Spinodal:
    """Largest load with a retrieval state of the iterated step, max over y of [erf(y)^(n−1)/y]²/(2 noise(n)).

    The iteration neglects the noise that successive steps share, which finite networks do not.

    Args:
        degree: n >= 3; at n = 2 successive crosstalks are correlated and the replica theory of `classical` holds.
        rectified: F(s) = max(s, 0)ⁿ instead of sⁿ.
    """
    degree = whole_numbers("degree", degree, least=3)
    ratio = _spinodal_ratio(degree)
    load = _root_variance(ratio, degree) ** 2 / (2 * noise(degree, rectified=rectified))
    return Spinodal(plain(load), plain(erf(1 / ratio)))


def retrieval_overlap(load: ArrayLike, degree: ArrayLike, *, rectified: bool = False) -> Float:
    """Overlap m that the iterated step m ↦ erf(m^(n−1)/√(2a)) keeps when started from a pattern, for N → ∞.

    Args:
        load: M/N^(n−1), >= 0; a = noise(n)·load.
        degree: n >= 3.
        rectified: F(s) = max(s, 0)ⁿ instead of sⁿ.

    Returns:
        The largest fixed point; nan above `spinodal(degree).load`.
    """
    degree, load = np.broadcast_arrays(whole_numbers("degree", degree, least=3), reals("load", load, least=0))
    target = np.sqrt(2 * noise(degree, rectified=rectified) * load)

    def excess(ratio: Float, degree: Float, target: Float) -> Float:
        return _root_variance(ratio, degree) - target

    # erf <= 1: half the target lies strictly below the root even after rounding
    root = elementwise.find_root(excess, (target / 2, _spinodal_ratio(degree)), args=(degree, target))
    with np.errstate(divide="ignore"):
        return plain(erf(1 / root.x))


def _root_variance(ratio: Float, degree: Float) -> Float:
    """√(2a) at which the fixed point is m = erf(1/ratio)."""
    with np.errstate(divide="ignore"):
        return ratio * erf(1 / ratio) ** (degree - 1)


def _spinodal_ratio(degree: Float) -> Float:
    """Ratio 1/y at which erf(y)^(n−1)/y is largest: (n−1)(2y/√π) e^(−y²) = erf(y)."""

    def slope(y: Float, degree: Float) -> Float:
        return (degree - 1) * 2 * y / np.sqrt(np.pi) * np.exp(-(y**2)) - erf(y)

    bracket = np.full(degree.shape, 1e-3), np.full(degree.shape, 20.0)
    return 1 / elementwise.find_root(slope, bracket, args=(degree,)).x


def _one_step_error(degree: float, neurons: float, num_patterns: float, flipped: float, rectified: bool) -> float:
    positive = np.arange(neurons)  # spins that agree, of the N − 1 others
    log_count = gammaln(neurons) - gammaln(positive + 1) - gammaln(neurons - positive)
    half = np.exp(log_count - (neurons - 1) * np.log(2)) / 2
    values = _difference(degree, 2 * positive - (neurons - 1), rectified)
    values, probabilities = np.concatenate([values, -values]), np.tile(half / (2 * half.sum()), 2)

    def probability_below(others: float, tie: float) -> float:
        """P(crosstalk < −signal + tie), where the signal comes from a pattern with an overlap with the other spins."""
        bound = -float(_difference(degree, np.array(others), rectified))
        if np.max(np.abs(values)) < 2**53:
            exact = sums.lattice_below(values, probabilities, int(num_patterns) - 1, bound + tie)
            if exact is not None:
                return exact
        return sums.below(values, probabilities, num_patterns - 1, bound, even=True)

    aligned = neurons - 2 * flipped
    from_right = probability_below(aligned - 1, 0.0) if flipped < neurons else 0.0
    from_flipped = probability_below(aligned + 1, 0.5) if flipped > 0 else 0.0  # a tie leaves it wrong
    return ((neurons - flipped) * from_right + flipped * from_flipped) / neurons


def _difference(degree: float, overlap: Float, rectified: bool) -> Float:
    """F(s+1) − F(s−1)."""
    up, down = overlap + 1.0, overlap - 1.0
    if rectified:
        up, down = np.maximum(up, 0), np.maximum(down, 0)
    return up**degree - down**degree
