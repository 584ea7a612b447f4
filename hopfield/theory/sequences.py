"""Sequence memories on spins: exact error of a bit, chances of a transition and of a whole sequence, published limits.

From pattern μ the field on spin i is ξ_i^{μ+1} f(1) plus P − 1 terms ξ_i^{ν+1} f(t_ν/(N−1)), t_ν the sum of N − 1 fair
signs, the signs before them fair and independent: an exact sum of independent terms at every N and P. Bits of one
step are not quite independent: they share the overlaps t_ν, so that errors cluster and all of T steps are right more
often than (1 − ε)^{TN}. At d = 1, where few patterns carry the noise, 100 neurons follow 11 patterns in .59(2) of the
draws, and (1 − ε)^{TN} is .41; at d = 2 and 205 patterns it is .47(4) and .43.

Source: Chaudhry, Zavatone-Veth, Krotov and Pehlevan, NeurIPS 2023, arXiv:2306.04532, "CZKP" below.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import comb, ndtr

from hopfield._arguments.host import Float, flag, plain, reals, whole_number, whole_numbers
from hopfield.theory import general, sums
from hopfield.theory.dense import noise


def bit_error(neurons: int, num_patterns: ArrayLike, degree: int | None) -> Float:
    """Exact chance ε that a spin is wrong after one step from a pattern of a cyclic sequence. A tie keeps the spin.

    The pattern that the step begins at is the successor of the last one, whose term f of an even degree and of the
    exponential draws to it: of ties more than half are wrong then. Beyond 200 patterns of the exponential rule, and
    where no lattice can be summed, half of them are.

    Args:
        neurons: N >= 2.
        num_patterns: P >= 1, independent and unbiased.
        degree: d >= 1 of f(x) = x^d, None for e^{(N−1)(x−1)}.
    """
    neurons, counts = whole_number("neurons", neurons, least=2), whole_numbers("num_patterns", num_patterns, least=1)
    sums, log_probabilities = general.binomial(neurons - 1)
    values = np.exp(sums - (neurons - 1)) if degree is None else sums ** whole_number("degree", degree, least=1)
    probabilities, signal = np.exp(log_probabilities), float(values[-1])

    def error(count: float) -> float:
        wrong, tied = (general.below_zero(values, probabilities, signal, count - 1, tie) for tie in (0.0, 0.5))
        bias = _bias_of_ties(values, probabilities, int(count)) if degree is None or degree % 2 == 0 else 0.0
        return (wrong + tied + bias) / 2

    return plain(np.vectorize(error, otypes=[np.float64])(counts))


def _bias_of_ties(values: Float, probabilities: Float, num_patterns: int) -> float:
    """P(tie, last term against the signal) − P(tie, last term with it), for terms f >= 0 of P − 1 patterns.

    Of integers from the lattice of the other P − 2 terms. Of exponentials, among which no sum vanishes unless equal
    ones cancel, from the numbers of terms of every size.
    """
    if num_patterns < 2:
        return 0.0
    others = num_patterns - 2
    if np.all(values == np.rint(values)) and values[-1] < 2**53:
        both, halves = np.concatenate([values, -values]), np.tile(probabilities / 2, 2)
        places = np.concatenate([values - values[-1], -values - values[-1]])
        at = sums.lattice_at(both, halves, others, places)
        return 0.0 if at is None else float(np.sum(probabilities * (at[: len(values)] - at[len(values) :])) / 2)
    if others > 200:
        return 0.0
    sizes, places = np.unique(values, return_inverse=True)  # of a large degree, whose sizes no lattice holds, in pairs
    shares = np.bincount(places, probabilities)
    number = np.arange(others + 1)
    ways = np.asarray(comb(number[:, None], number))  # of choosing terms [m, j]
    cancel = np.where(number % 2 == 0, comb(number, number // 2), 0.0)
    lead = np.where(number % 2 == 0, comb(number, number // 2 + 1), 0.0)  # two more against the signal
    law = np.asarray(shares[-1] ** number * (cancel - lead) / 2.0**number)
    for size, share in zip(sizes[:-1], shares[:-1], strict=True):
        part = share**number * (cancel / 2.0**number if size else 1.0)
        law = np.array([np.sum(ways[m, : m + 1] * law[m::-1] * part[: m + 1]) for m in number])
    return float(shares[-1] * law[-1] / 2)


def bit_error_gaussian(neurons: ArrayLike, num_patterns: ArrayLike, degree: int) -> Float:
    """Bit error with Gaussian crosstalk, Φ(−1/σ), σ² = (P−1)(2d−1)!!/(N−1)^d (CZKP): far off at d = 1 and small P.

    Args:
        neurons: N >= 2.
        num_patterns: P >= 2.
        degree: d >= 1.
    """
    neurons, num_patterns = reals("neurons", neurons, least=2), reals("num_patterns", num_patterns, least=2)
    variance = (num_patterns - 1) * noise(whole_numbers("degree", degree, least=1) + 1) / (neurons - 1) ** degree
    return plain(ndtr(-1 / np.sqrt(variance)))


def transitions_right(error: ArrayLike, neurons: ArrayLike, transitions: ArrayLike = 1) -> Float:
    """Chance (1 − ε)^{TN} that every bit of T transitions is right, bits taken as independent.

    Args:
        error: ε, 0 to 1.
        neurons: N >= 1.
        transitions: T >= 1; P for a whole cyclic sequence.
    """
    bits = reals("neurons", neurons, least=1) * reals("transitions", transitions, least=1)
    with np.errstate(divide="ignore"):
        return plain(np.exp(bits * np.log1p(-reals("error", error, least=0, most=1))))


def published_capacity(neurons: ArrayLike, degree: int, *, whole_sequence: bool = False) -> Float:
    """P_T = N^d/(2(2d−1)!! ln N) for one transition, P_S = P_T/(d+1) for all: N → ∞, to leading order (CZKP).

    Args:
        neurons: N >= 2; at N = 100 and d = 2 half of the sequences of 205 patterns are right, P_T is 362 and P_S 121.
        degree: d >= 1.
        whole_sequence: P_S.
    """
    neurons = reals("neurons", neurons, least=2)
    transitions = neurons**degree / (2 * noise(whole_numbers("degree", degree, least=1) + 1) * np.log(neurons))
    return plain(transitions / (degree + 1 if flag("whole_sequence", whole_sequence) else 1))
