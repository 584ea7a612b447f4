"""Sums over random spin patterns, known from the separation alone: E(x) = −Σ_μ f(ξ_μ·x), or a function of that sum.

With x near ξ_1, half of what spin i gains by pointing along its pattern is

    h = ½[f(s+1) − f(s−1)] + Σ_{μ>1} ½ η_μ [f(t_μ+1) − f(t_μ−1)],

s the overlap of pattern and state without spin i, η_μ a fair sign, t_μ a sum of N − 1 fair signs, all independent: a
sum of M − 1 identically distributed terms, whose characteristic function gives P(h < 0) at every N and M. The weight
on the pattern follows from a sum of M − 1 positive terms |f′(t_μ)| in the same way, and for N → ∞ from a random energy
model. Only ratios of f's differences and of its slopes enter.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import cast

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq, minimize_scalar, root_scalar
from scipy.special import gammaln, logsumexp

from hopfield._arguments.host import Float, real, reals, whole_number
from hopfield.theory import sums
from hopfield.theory.base import Spinodal, numbers

Function = Callable[[Float], Float]
"""Function of overlaps ξ·x; the arrays that enter one result are evaluated together, so that a factor is free."""

RARE = 1e-3
"""Overlaps expected less often than this in all patterns decide a sign whatever their size."""


def binomial(neurons: int) -> tuple[Float, Float]:
    """Sums of N fair signs and the logarithms of their probabilities [N + 1]."""
    positive = np.arange(neurons + 1)
    log_count = gammaln(neurons + 1) - gammaln(positive + 1) - gammaln(neurons - positive + 1)
    return numbers(2.0 * positive - neurons), numbers(log_count - logsumexp(log_count))


def one_step_error(neurons: int, num_patterns: int, summand: Function, flipped: int = 0) -> float:
    """Exact fraction of wrong spins after one synchronous step from a pattern with `flipped` of its spins flipped.

    By convolution where the differences of f are whole numbers on a small lattice, ties exact (they keep the spin);
    by inversion of the characteristic function elsewhere, where a tie counts half.

    Args:
        neurons: N >= 1.
        num_patterns: M >= 1, independent and unbiased.
        summand: f.
        flipped: 0 to N.
    """
    num_patterns, flipped = _counts(neurons, num_patterns, flipped)
    rises = np.diff(summand(binomial(neurons)[0]))  # f(t+1) − f(t−1), t = −(N−1) … N−1
    probabilities = np.exp(binomial(neurons - 1)[1])
    right, wrong = neurons - 1 - flipped, neurons - flipped  # places of the own overlap: t of N−1 spins in steps of 2
    errors = [
        share * below_zero(rises, probabilities, float(rises[place]), num_patterns - 1, tie)
        for share, place, tie in ((neurons - flipped, right, 0.0), (flipped, wrong, 0.5))
        if share
    ]
    return sum(errors) / neurons


def start_overlap(corruption: float) -> float:
    """Overlap 1 − 2c of a start with a fraction c of its spins flipped. ValueError unless 0 ≤ c ≤ 1."""
    return 1.0 - 2.0 * real("corruption", corruption, least=0, most=1)


def _counts(neurons: int, num_patterns: float, flipped: int) -> tuple[int, int]:
    """Numbers of patterns and of flipped spins as integers. ValueError for fractions and for numbers out of range."""
    reals("flipped", flipped, least=0, most=whole_number("neurons", neurons, least=1))
    return whole_number("num_patterns", num_patterns, least=1), whole_number("flipped", flipped, least=0)


def below_zero(rises: Float, probabilities: Float, signal: float, terms: float, tie: float) -> float:
    """P(signal + crosstalk < tie), for a crosstalk of `terms` of the rises with random signs."""
    values, halves = np.concatenate([rises, -rises]), np.tile(probabilities / 2, 2)
    if np.all(values == np.rint(values)) and np.max(np.abs(values)) < 2**53:
        exact = sums.lattice_below(values, halves, int(terms), tie - signal)
        if exact is not None:
            return exact
    size = np.abs(rises)
    order = np.argsort(-size, kind="stable")
    rare = np.cumsum(probabilities[order]) * terms < RARE
    usual = np.sqrt(terms * np.sum((probabilities * size**2)[order][~rare]))
    cap = max(2.0 * abs(signal) + 14.0 * usual, size[order][rare].min()) if rare.any() else np.inf
    unit = abs(signal) or float(size.max()) or 1.0
    values = np.clip(values, -cap, cap) / unit
    return sums.below(values, halves, terms, -signal / unit, negligible=1e-8, even=True)


def weight_probability(neurons: int, num_patterns: float, log_weight: Function, flipped: int = 0) -> float:
    """Probability that a pattern has more than half of the weight in a state with `flipped` of its spins flipped.

    P(X < 1) of X = Σ_{ν≠μ} |f′(ξ_ν·x)| / |f′(ξ_μ·x)|; one pattern of as much weight as the target rules the target out.
    Where the weights are whole multiples of the least, as for powers, X = 1 is a tie; elsewhere X = 1 counts half.

    Args:
        neurons, flipped: as for `one_step_error`.
        num_patterns: M >= 1, not necessarily whole.
        log_weight: ln |f′|.
    """
    num_patterns = real("num_patterns", num_patterns, least=1)
    flipped = _counts(neurons, 1, flipped)[1]
    overlaps, log_probabilities = binomial(neurons)
    terms, probabilities = _terms(log_weight(overlaps), neurons - flipped), np.exp(log_probabilities)
    with np.errstate(divide="ignore"):
        own_weight = 1.0 / terms[terms > 0].min(initial=np.inf)
    sizes = np.minimum(terms, 1.0) * own_weight
    if own_weight < sums.LATTICE / 64 and np.all(np.abs(sizes - np.rint(sizes)) < 1e-9 * own_weight):
        law = np.asarray(np.bincount(np.rint(sizes).astype(np.int64), probabilities)[: round(own_weight)], np.float64)
        return sums.total_within(law, num_patterns - 1)
    lighter = terms < 1 - 1e-12
    share = probabilities[lighter].sum()
    if share == 0:
        return float(num_patterns == 1)
    heavier = (num_patterns - 1) * np.log1p(-probabilities[~lighter].sum())
    lighter_sum = sums.below(terms[lighter], probabilities[lighter] / share, num_patterns - 1, 1.0, negligible=1e-8)
    return float(np.exp(heavier)) * lighter_sum


def _terms(log_weights: Float, target: int) -> Float:
    if not np.isfinite(log_weights[target]):
        return np.full(log_weights.shape, np.inf)
    return np.exp(np.minimum(log_weights - log_weights[target], 700.0))


def weight_patterns(neurons: int, log_weight: Function, flipped: int = 0) -> float:
    """ln(M − 1) at which half of the patterns have more than half of the weight, M continuous. NaN where two do not."""

    def excess(log_others: float) -> float:
        return weight_probability(neurons, 1 + np.exp(log_others), log_weight, flipped) - 0.5

    most = neurons * np.log(2) + 3  # twenty copies of every state
    if excess(0.0) < 0 or excess(most) > 0:
        return float("nan")
    return float(root_scalar(excess, bracket=(0.0, most), xtol=1e-10).root)


def log_noise(neurons: int, summand: Function, overlap: float = 1.0) -> float:
    """ln of a = variance of one term of the crosstalk over the squared signal, at an overlap of state and pattern."""
    rises = np.abs(np.diff(summand(binomial(neurons)[0])))
    place = min(round((1 + overlap) / 2 * (neurons - 1)), neurons - 1)
    with np.errstate(divide="ignore"):
        log_rises = np.log(rises)
    return float(logsumexp(binomial(neurons - 1)[1] + 2 * log_rises) - 2 * log_rises[place])


def load_power(noise: Callable[[int], float], neurons: int = 1024) -> int | None:
    """k of a noise a(N) that falls as N^(−k), so that M/N^k is the load; 0 for a(N) ~ e^(−cN), whose load is ln M / N.

    None for any other a(N), within a tenth of k.

    Args:
        noise: ln a at N, as `log_noise` has it.
        neurons: the smallest of three sizes, each twice the last.
    """
    first, second, third = (noise(neurons * factor) for factor in (1, 2, 4))
    early, late = first - second, second - third
    if not np.isfinite(early + late):
        return None
    if late > 0 and abs(late / early - 2) < 0.1:
        return 0
    power = late / np.log(2)
    return round(power) if abs(power - round(power)) < 0.1 and round(power) > 0 else None


def limit(value: Callable[[int], float], neurons: int = 32, levels: int = 6) -> float:
    """Limit for N → ∞ of a series in powers of 1/N, by Richardson's extrapolation of sizes that double."""
    row = [value(neurons * 2**level) for level in range(levels)]
    for order in range(1, levels):
        row = [(2**order * b - a) / (2**order - 1) for a, b in pairwise(row)]
    return row[-1]


def random_energy_load(log_weight: Callable[[float], float], rate: Callable[[float], float], own: float) -> float:
    """Load ln M / N up to which a pattern outweighs all others together, for N → ∞.

    Of e^(αN) patterns e^(N(α − I(t))) have the overlap t, where α >= I(t). Their weight is e^(NΨ), Ψ(α) the maximum
    of α − I(t) + φ(t) over these t: annealed while the maximum over all t lies among them, the nearest pattern's
    beyond (condensation). The pattern itself weighs e^(Nφ(own)).

    Args:
        log_weight: φ, ln of a weight over N, of the overlap per neuron.
        rate: I(t), rising for t from 0 to 1.
        own: overlap of the state with its pattern, above 0 to 1.

    Source: Lucibello and Mézard 2024 (arXiv:2304.14964); Derrida 1981 for the condensation.
    """
    edge = 1 - 1e-12
    grid = np.unique(np.append(np.linspace(-edge, edge, 4001), own))
    weights = np.array([log_weight(t) for t in grid])
    best = grid[int(np.argmax(weights - [rate(t) for t in grid]))]
    around = (max(best - 1e-3, -edge), min(best + 1e-3, edge))
    minimum = minimize_scalar(
        lambda t: min(rate(t) - log_weight(t), 1e6), bounds=around, method="bounded", options={"xatol": 1e-13}
    )
    annealed = log_weight(own) + float(minimum.fun)
    if annealed >= rate(abs(float(minimum.x))):
        return float(annealed)
    heavy = np.abs(grid[weights >= log_weight(own)])  # a pattern that near weighs as much
    return float(rate(heavy.min()))


def load_at_overlap(overlap: Callable[[float], ArrayLike], last: Spinodal, cut: float) -> float:
    """Largest load at which the retrieval state's overlap is above a cut: the last load, or where m(α) reaches the cut.

    Args:
        overlap: m(α), falling.
        last: where retrieval states end.
        cut: 0 to 1, which no overlap at a load above 0 reaches.
    """
    if cut >= 1:
        return 0.0
    load = float(last.load)
    if last.overlap >= cut:
        return load
    excess = lambda load: float(np.asarray(overlap(load))) - cut
    return float(cast(float, brentq(excess, 0.01 * load, 0.999999 * load)))
