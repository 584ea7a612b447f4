"""Sparse and biased patterns: capacities of the covariance rule, of disturbed couplings, and of binary synapses.

Neurons V ∈ {0, 1}, patterns η of activity a. Covariance rule W_ij = Σ_μ (η_i−a)(η_j−a)/(a(1−a)N), V_i = 1 where

    h_i = Σ_{j≠i} W_ij (V_j − b) − θ > 0        b = 0: plain {0, 1} neurons; b = ½: spins ±1, up to a factor; b = a

Replica symmetric at T = 0: neurons that should be on have h = (1−a)m − θ' + s z, the others −a m − θ' + s z, with
z standard normal, m = P₁ − P₀ the difference of the shares that are on, s² = αr, r = ⟨(V−b)²⟩/(1−C)² and
C = [aφ(y₁) + (1−a)φ(y₀)]/s; the neuron's effect on itself through the others moves the threshold to
θ' = θ − (1−2b)(α/2) C/(1−C). In y₁ = ((1−a)m − θ')/s and y₀ = (am + θ')/s all of it is explicit, α included.

Source: Tsodyks & Feigel'man 1988; Amit, Gutfreund & Sompolinsky 1987 (Phys. Rev. A 35, 2293) for the ±1 form, which is
b = ½; Sompolinsky 1987 for disturbed couplings; Willshaw, Buneman & Longuet-Higgins 1969 for binary synapses.
"""

from __future__ import annotations

import math
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import elementwise, minimize
from scipy.special import erf, ndtr, xlogy
from scipy.stats import binom

from hopfield._arguments.host import Float, plain, real, reals, whole_number, whole_numbers

CLIPPED = np.pi / 2 - 1
"""Disturbance of couplings that keep their signs alone."""


class SparseSpinodal(NamedTuple):
    """Largest load α of the covariance rule at the best threshold θ, with the shares that are on there."""

    load: float
    threshold: float
    on: float
    """Share of neurons on among those that should be, P₁."""
    off: float
    """Share of neurons on among those that should not be, P₀."""

    @property
    def overlap(self) -> float:
        """Overlap m = P₁ − P₀ with the pattern."""
        return self.on - self.off


def _state(first: float, second: float, activity: float, offset: float) -> tuple[float, float, float, float]:
    """Load, threshold, P₁ and P₀ of the state with given y₁ and y₀; load 0 where C ≥ 1."""
    on, off = float(ndtr(first)), float(ndtr(-second))
    spread = (on - off) / (first + second)
    density = np.exp(-(np.array([first, second]) ** 2) / 2) / np.sqrt(2 * np.pi)
    response = float(activity * density[0] + (1 - activity) * density[1]) / spread if spread > 0 else 1.0
    if response >= 1:
        return 0.0, 0.0, on, off
    active = activity * on + (1 - activity) * off
    load = spread**2 * (1 - response) ** 2 / (active * (1 - 2 * offset) + offset**2)
    felt = (1 - activity) * (on - off) - spread * first
    return load, felt + (1 - 2 * offset) * load / 2 * response / (1 - response), on, off


def spinodal(activity: float, offset: float = 0.0) -> SparseSpinodal:
    """Replica-symmetric capacity of the covariance rule at T = 0, the threshold being the best one.

    Args:
        activity: a, between 0 and 1/2.
        offset: b, what is taken off every state, 0 to 1.

    Returns:
        0.1379 at a = b = ½ (the classical network); slowly towards 1/(2a |ln a|) as a → 0: 4.37 of 10.9 at a = 0.01.
    """
    activity = real("activity", activity, above=0, most=0.5)
    return _spinodal(activity, real("offset", offset, least=0, most=1))


@cache
def _spinodal(activity: float, offset: float) -> SparseSpinodal:
    start = 1.4 if activity == 0.5 else max(1.4, float(np.sqrt(2 * abs(np.log(activity)))) - 0.5)
    height = lambda y: -np.log(max(_state(y[0], y[1], activity, offset)[0], 1e-300))
    options = {"xatol": 1e-8, "fatol": 1e-14, "maxiter": 4000}
    best = minimize(height, np.array([1.2, start]), method="Nelder-Mead", options=options)
    return SparseSpinodal(*(float(x) for x in _state(best.x[0], best.x[1], activity, offset)))


def sparse_limit(activity: ArrayLike) -> Float:
    """α_c → 1/(2a |ln a|) as the activity a → 0, above 0 and below 1 (Tsodyks & Feigel'man 1988)."""
    activity = reals("activity", activity, above=0, below=1)
    return plain(1 / (2 * activity * np.abs(np.log(activity))))


def one_step_shares(
    neurons: int, num_patterns: ArrayLike, activity: float, threshold: float, offset: float = 0.0
) -> tuple[Float, Float]:
    """Shares P₁ and P₀ that are on after one step from a pattern in which k of N − 1 other neurons are on.

    The signal is [k(1−a)(1−b) + (N−1−k) a b]/(a(1−a)N) times η − a, the crosstalk of M − 1 patterns has the variance
    (M−1)[k(1−b)² + (N−1−k) b²]/N² and is taken as Gaussian; k is binomial.

    Args:
        neurons: N >= 2.
        num_patterns: M >= 2.
        activity: a, between 0 and 1.
        threshold: θ.
        offset: b.
    """
    a = real("activity", activity, above=0, below=1)
    neurons = whole_number("neurons", neurons, least=2)
    others = whole_numbers("num_patterns", num_patterns, least=2)[..., None] - 1
    b, threshold = real("offset", offset), real("threshold", threshold)
    on = np.arange(neurons)
    chance = binom.pmf(on, neurons - 1, a)
    signal = (on * (1 - a) * (1 - b) + (neurons - 1 - on) * a * b) / (a * (1 - a) * neurons)
    spread = np.sqrt(others * (on * (1 - b) ** 2 + (neurons - 1 - on) * b**2)) / neurons
    with np.errstate(divide="ignore", invalid="ignore"):  # none on: no field, and no crosstalk where b = 0
        margins = [(eta * signal - threshold) / spread for eta in (1 - a, -a)]
    shares = [np.sum(chance * ndtr(np.where(np.isnan(margin), -np.inf, margin)), axis=-1) for margin in margins]
    return plain(shares[0]), plain(shares[1])


def information(activity: ArrayLike, on: ArrayLike, off: ArrayLike) -> Float:
    """Bits of information about a stored neuron in the recalled one. Times the load α these are bits per synapse.

    Args:
        activity: a, 0 to 1.
        on, off: shares P₁ and P₀ of neurons on among those that should be and should not be, 0 to 1.

    Returns:
        The mutual information of η and V: the entropy of a at P₁ = 1 and P₀ = 0.
    """
    activity = reals("activity", activity, least=0, most=1)
    on, off = reals("on", on, least=0, most=1), reals("off", off, least=0, most=1)
    active = activity * on + (1 - activity) * off
    nats = _entropy(active) - activity * _entropy(on) - (1 - activity) * _entropy(off)
    return plain(nats / np.log(2))


def _entropy(share: Float) -> Float:
    return -xlogy(share, share) - xlogy(1 - share, 1 - share)


def dilution(keep: ArrayLike) -> Float:
    """Disturbance κ = (1−c)/c of couplings diluted at random. The share c that is kept is above 0 and at most 1."""
    keep = reals("keep", keep, above=0, most=1)
    return plain((1 - keep) / keep)


def disturbed_critical_load(disturbance: ArrayLike) -> Float:
    """Capacity α_c of the classical network with disturbed couplings, replica symmetric at T = 0.

    What a disturbance adds to the couplings is noise of variance κ times theirs, fixed and symmetric: the field has
    variance D = α(r + κ). With m = erf(y) and D = m²/(2y²) the load is explicit in y, and largest at one y.

    Args:
        disturbance: κ >= 0: δ² of noise of δ standard deviations of the couplings, `dilution(keep)`, `CLIPPED`.

    Returns:
        0.1379 at κ = 0, 0.1018 for clipped couplings, 2/(πκ) as κ grows.
    """
    disturbance = reals("disturbance", disturbance, least=0)

    def load(y: Float, disturbance: Float) -> Float:
        variance = erf(y) ** 2 / (2 * y**2)
        response = np.sqrt(2 / (np.pi * variance)) * np.exp(-(y**2))
        return variance / ((1 - response) ** -2 + disturbance)

    bracket = elementwise.bracket_minimum(lambda y, k: -load(y, k), 1.2, xmin=1e-5, args=(disturbance,)).bracket
    return plain(-elementwise.find_minimum(lambda y, k: -load(y, k), bracket, args=(disturbance,)).f_x)


def biased_hebb_error(num_patterns: ArrayLike, bias: ArrayLike) -> Float:
    """Share of wrong spins after one step of plain Hebb couplings from one of M patterns of mean m₀, N → ∞.

    The other patterns all have overlap m₀² with it: a spin −1 is wrong where Σ_μ ξ_i^μ over the others exceeds 1/m₀²,
    which M − 1 < 1/m₀² of them cannot, and a spin +1 where the sum is below −1/m₀². A sum of exactly ±1/m₀² is decided
    by the spreads of order 1/√N of the overlaps, for either side alike.

    Args:
        num_patterns: M >= 1.
        bias: m₀ above 0 and below 1, so that spins are +1 with probability (1 + m₀)/2.
    Source: the first-order effect in Amit, Gutfreund & Sompolinsky 1987.
    """
    bias, others = reals("bias", bias, above=0, below=1), whole_numbers("num_patterns", num_patterns, least=1) - 1
    up, edge = (1 + bias) / 2, (bias**-2.0 + others) / 2  # Σ = 2k − (M−1) with k spins up: beyond 1/m₀² where k is
    return plain((1 - up) * _beyond(edge, others, up) + up * _beyond(edge, others, 1 - up))


def _beyond(edge: Float, trials: Float, chance: Float) -> Float:
    """Chance of more successes than an edge, a tie counted by half."""
    return 0.5 * (binom.sf(np.floor(edge + 1e-9), trials, chance) + binom.sf(np.ceil(edge - 1e-9) - 1, trials, chance))


def _sizes(neurons: ArrayLike, active: ArrayLike) -> tuple[Float, Float]:
    """N and K. ValueError unless 1 <= K <= N."""
    neurons, active = whole_numbers("neurons", neurons, least=2), whole_numbers("active", active, least=1)
    if np.any(active > neurons):
        raise ValueError(f"active must be at most neurons, got {active} of {neurons}")
    return neurons, active


def willshaw_density(neurons: ArrayLike, num_patterns: ArrayLike, active: ArrayLike) -> Float:
    """Share of binary synapses that are on, 1 − (1 − K(K−1)/(N(N−1)))^M, of M patterns with K of N neurons on."""
    neurons, active = _sizes(neurons, active)
    pair = active * (active - 1) / (neurons * (neurons - 1))
    with np.errstate(divide="ignore"):  # of all neurons on, which sets every synapse
        return plain(-np.expm1(whole_numbers("num_patterns", num_patterns, least=1) * np.log1p(-pair)))


def willshaw_error(neurons: int, num_patterns: ArrayLike, active: int) -> Float:
    """Chance P₀ that a neuron is wrongly on where a stored pattern is shown and all K of its synapses must be.

    Another pattern holds the neuron with chance K/N, and then K − 1 of the N − 1 others; P₀ is the chance that these
    cover all K that the shown pattern holds, whose number not covered yet is followed pattern by pattern. With one
    density for all neurons, or K independent synapses, it would be wrong.

    Args:
        neurons: N >= 2.
        num_patterns: M >= 1.
        active: K >= 1 neurons on in every pattern, exactly.
    Source: Buckingham & Willshaw 1992 for the spread of the synapses of a neuron; the cover is counted exactly.
    """
    neurons, active = whole_number("neurons", neurons, least=2), whole_number("active", active, least=1)
    _sizes(neurons, active)
    if active == neurons:
        return plain(np.ones(np.shape(num_patterns)))  # the shown pattern itself sets all synapses
    cover = np.zeros((active + 1, active + 1))  # by a pattern, from so many that are left to so many; rows add to 0
    for left in range(1, active + 1):
        for hit in range(1, min(left, active - 1) + 1):
            ways = math.comb(left, hit) * math.comb(neurons - 1 - left, active - 1 - hit)
            cover[left, left - hit] = active / neurons * (ways / math.comb(neurons - 1, active - 1))
        cover[left, left] = -np.sum(cover[left])

    def error(others: float) -> float:
        total, step, count = np.zeros_like(cover), cover, int(others)
        while count:  # (1 + cover)^count − 1 by squaring, exact however small the chances are
            if count % 2:
                total = total + step + total @ step
            step, count = 2 * step + step @ step, count // 2
        return total[active, 0]

    return plain(np.vectorize(error, otypes=[np.float64])(whole_numbers("num_patterns", num_patterns, least=1) - 1))


def willshaw_information(neurons: int, num_patterns: ArrayLike, active: int) -> Float:
    """Bits per binary synapse (M/N) I(η; V) of Willshaw's memory; arguments as in `willshaw_error`."""
    num_patterns = whole_numbers("num_patterns", num_patterns, least=1)
    off = willshaw_error(neurons, num_patterns, active)
    return plain(num_patterns / neurons * information(active / neurons, 1.0, off))
