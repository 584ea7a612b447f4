"""Distribution of a sum of many independent, identically distributed discrete terms: the crosstalk of a memory."""

import math
from typing import Any

import numpy as np
from scipy.fft import irfft, next_fast_len, rfft
from scipy.special import betainc, gammaln, ndtr

from hopfield._arguments.host import Float

LATTICE = 2**19  # longest lattice that is convolved exactly
_WAVES = 512  # frequencies evaluated at once
_MOST_WAVES = 2**15
_FINEST = 2.0**14  # phase of the bound from which on nothing is resolved


def fair_signs_below(bound: Float, terms: Float) -> Float:
    """P(sum of `terms` independent fair signs < bound), for whole bounds. Beyond 2^53 terms the sum counts as normal.

    More are not counted exactly, and a binomial differs from the normal distribution by less than 1e-8 there.
    """
    most = np.ceil((terms + bound) / 2) - 1  # largest number of positive signs
    inside = np.clip(most, 0, np.maximum(terms - 1, 0))
    tail = betainc(np.maximum(terms - inside, 1), inside + 1, 0.5)
    tail = np.where(terms > 2.0**53, ndtr(bound / np.sqrt(np.maximum(terms, 1))), tail)
    return np.where(most < 0, 0.0, np.where(most >= terms, 1.0, tail))


def lattice_below(values: Float, probabilities: Float, terms: int, bound: float) -> float | None:
    """P(sum of terms < bound) for integer values whose distribution is even, exactly, ties excluded.

    The probability function is raised to its power by a discrete Fourier transform on the common divisor of the
    values, over a window that holds the bound and 40 standard deviations of the sum.

    Args:
        values: integers below 2^53, closed under change of sign together with `probabilities`.
        probabilities: of one term, summing to 1.
        terms: number of terms, >= 0.
        bound: any number.

    Returns:
        The probability, to 1e-13; None where the window needs more than `LATTICE` points.
    """
    if terms == 0:
        return float(bound > 0)
    lattice = _lattice_law(values, probabilities, terms, abs(bound))
    if lattice is None:
        return None
    law, unit = lattice
    first_kept = int(np.ceil(bound / unit)) + len(law) // 2
    return float(np.clip(law[: max(first_kept, 0)].sum(), 0.0, 1.0))


def lattice_at(values: Float, probabilities: Float, terms: int, places: Float) -> Float | None:
    """P(sum of terms = place) for every place [K], else as `lattice_below`."""
    if terms == 0:
        return (places == 0).astype(np.float64)
    lattice = _lattice_law(values, probabilities, terms, float(np.max(np.abs(places))))
    if lattice is None:
        return None
    law, unit = lattice
    index = np.rint(places / unit).astype(np.int64) + len(law) // 2
    inside = (index >= 0) & (index < len(law)) & (index - len(law) // 2 == places / unit)
    return np.where(inside, np.clip(law[np.clip(index, 0, len(law) - 1)], 0.0, 1.0), 0.0)


def _lattice_law(values: Float, probabilities: Float, terms: int, reach: float) -> tuple[Float, float] | None:
    """Probabilities of a sum at multiples of a unit, 0 in the middle, up to `reach`; and the unit."""
    largest = np.max(np.abs(values))
    unit = float(np.gcd.reduce(values.astype(np.int64))) or 1.0
    deviation = np.sqrt(terms * np.sum(probabilities * values**2))
    half = min(terms * largest, reach + largest + 40 * deviation) / unit
    points = 2 ** int(np.ceil(np.log2(2 * half + 2)))
    if points > LATTICE:
        return None
    single = np.zeros(points)
    np.add.at(single, np.rint(values / unit).astype(np.int64) % points, probabilities)
    wave = np.fft.rfft(single).real  # real, because the distribution is even
    return np.fft.fftshift(np.fft.irfft(wave**terms, n=points)), unit


def total_within(law: Float, terms: float) -> float:
    """P(sum of terms < K) of terms >= 0 that are less than K with the probabilities `law` [K], else too large.

    Args:
        law: of one term, summing to 1 at most.
        terms: number of terms, >= 0; between whole ones the logarithm is interpolated.
    """
    lower = math.floor(terms)
    low, high = _total(law, lower), _total(law, lower + 1)
    return low ** (lower + 1 - terms) * high ** (terms - lower) if terms > lower else low


def _total(law: Float, terms: int) -> float:
    sum_law, square = np.eye(1, len(law))[0], law
    while terms:
        sum_law = _convolved(sum_law, square).clip(0) if terms % 2 else sum_law
        square, terms = _convolved(square, square).clip(0), terms // 2
        if not sum_law.any():
            return 0.0
    return float(min(sum_law.sum(), 1.0))


def _convolved(law: Float, other: Float) -> Float:
    """First entries of the convolution of two laws, as many as each has. `scipy.signal` would import all statistics."""
    size = next_fast_len(2 * len(law) - 1, real=True)
    waves: Any = rfft(law, size)
    found: Any = irfft(waves * rfft(other, size), size)
    return found[: len(law)]


def below(
    values: Float, probabilities: Float, terms: float, bound: float, *, negligible: float = 1e-12, even: bool = False
) -> float:
    """P(sum of terms < bound) + ½ P(sum of terms = bound), by inversion of the characteristic function.

    P = ½ − (1/π) ∫ Im[φ(t) e^(−i t bound)] dt/t,  φ(t) = ⟨e^(itv)⟩^terms

    Tails below 2e-12 are 0. A sum on a lattice of spacing δ that many terms spread loses the lattice: the ½ is then
    right up to δ² over the variance. Of few terms, sums nearer to the bound than 1e-4 of it count by half, which costs
    up to 1e-5: that is so of an even distribution however far its values lie apart, of another where they do not.

    Args:
        values: of one term.
        probabilities: of one term, summing to 1.
        terms: number of terms, >= 0, not necessarily whole.
        bound: any number.
        negligible: values expected less often than this in the sum are left out far from its mean: of the tails, and
            of the window of a distribution that is not even.
        even: whether the distribution of one term is even, closed under change of sign.

    Source: Davies, Biometrika 60, 415 (1973).
    """
    present = (probabilities * terms > negligible) & (values != 0)
    if not np.any(present):
        return (1 + np.sign(bound)) / 2
    largest = np.max(np.abs(values[present]))
    mean = 0.0 if even else terms * np.sum((probabilities * values)[present])
    tilts = np.sign(bound - mean) * np.geomspace(1e-3, 30, 60) / largest
    if _log_tail(values[present], probabilities[present], terms, bound, tilts) < -27:
        return float(bound > mean)
    if even:
        sizes, place = np.unique(np.abs(values), return_inverse=True)
        chances = np.asarray(np.bincount(place, probabilities), np.float64)
        ever = (chances * terms > 1e-14) & (sizes > 0)
        within = _within(sizes[ever], chances[ever], terms, abs(bound))
        return float(np.clip(0.5 * (1 + np.sign(bound) * within), 0.0, 1.0))
    deviation = np.sqrt(terms * np.sum((probabilities * values**2)[present]))
    return _invert_characteristic(
        values, probabilities, terms, bound, 2 * np.pi / (abs(bound - mean) + largest + 14 * deviation)
    )


def _invert_characteristic(values: Float, probabilities: Float, terms: float, bound: float, spacing: float) -> float:
    """½ − (1/π) Σ_k Im[φ(t_k) e^(−i t_k bound)]/(k + ½) at t_k = (k + ½)·spacing.

    The window 2π/spacing has to hold the distance of the bound from the mean, the largest value and 14 standard
    deviations. Frequencies stop where |φ| < 1e-16; a sum of so few terms that |φ| does not decay is tapered off.
    """
    total = 0.5
    for start in range(0, _MOST_WAVES, _WAVES):
        half_integers = np.arange(start, start + _WAVES) + 0.5
        log_wave = terms * _log_characteristic(half_integers * spacing, values, probabilities)
        wave: np.ndarray = np.exp(log_wave - 1j * half_integers * spacing * bound)
        taper = np.exp(-36 * (half_integers / _MOST_WAVES) ** 8)
        total -= np.sum(taper * np.imag(wave) / half_integers) / np.pi
        if np.max(np.abs(wave)) < 1e-16:
            break
    return float(np.clip(total, 0.0, 1.0))


def _within(sizes: Float, chances: Float, terms: float, bound: float) -> float:
    """P(|sum| < bound) + ½ P(|sum| = bound), (2/π) ∫ φ(t) sin(t bound) dt/t, of terms ± a size with equal chances.

    The integral is cut into stretches that double in length and blend smoothly. In each the phases of the larger sizes
    turn so often that only their mean is left: the chance that the terms of each of these sizes cancel one by one.
    The sizes that are left are sampled, so that no range of sizes is too long.
    """
    squares = np.concatenate([[0.0], np.cumsum(chances * sizes**2)])

    def reach(slow: int) -> float:
        """The farthest that the bound and sums of the smallest sizes are apart, 14 standard deviations included."""
        return bound + (sizes[slow - 1] if slow else 0.0) + 14 * np.sqrt(terms * squares[slow])

    many = terms * np.log(np.sum(chances**2) / 2) < -74  # phases that meet by chance leave a wave below 1e-16
    turns = _FINEST if sizes[-1] < _FINEST * bound else _FINEST / 4  # phase from which on only its mean is left
    total, low, end = 0.0, 0.0, np.inf
    high = 2 * turns / reach(len(sizes))
    first = high / 2
    while low * bound < _FINEST and low < end:
        slow = int(np.searchsorted(sizes * low, turns))
        counts, weights = _cancelling(chances[slow:], terms)
        step = (high - low) / max(_WAVES, np.ceil((high - low) * reach(slow)))
        for start in np.arange(low, min(high, end), _WAVES * step):
            t = start + (np.arange(_WAVES) + 0.5) * step
            octave = np.log2(t / (low if low else first))
            blend = (_rise(octave) if low else 1.0) - _rise(octave - (1.0 if low else 0.0))
            wave = _mean_wave(t, sizes[:slow], chances[:slow], chances[slow:].sum(), terms, counts, weights)
            total += 2 / np.pi * step * np.sum(blend * wave * np.sin(t * bound) / t)
            if np.max(np.abs(wave)) < 1e-16 and many:
                end = min(end, t[-1])
        low, high = (2 * low, 2 * high) if low else (first, 4 * first)
    return total


def _rise(x: Float) -> Float:
    """From 0 to 1 between 0 and 1, all derivatives continuous."""
    x = np.clip(x, 1e-9, 1 - 1e-9)
    return 1 / (1 + np.exp(np.minimum(1 / x - 1 / (1 - x), 700.0)))


def _cancelling(chances: Float, terms: float) -> tuple[np.ndarray, Float]:
    """Numbers k of terms of these sizes, and e^(−terms·Σ chances) n!/(n−k)! times the chance that k of them cancel.

    Of one size ± with chance p in all, k = 2j terms cancel with (p/2)^2j (2j)!/(j!)²; sizes multiply as power series.
    """
    mean = terms * np.sum(chances)
    halves = np.arange(int(min(terms, mean + 14 * np.sqrt(mean) + 60)) // 2 + 1)
    product: Float = np.ones(1)
    for expected in terms * chances:
        series = np.exp(2 * halves * np.log(expected / 2) - 2 * gammaln(halves + 1) - expected)
        product = np.convolve(product, series)[: len(halves)].astype(np.float64)
    ordered = np.cumsum(np.log1p(-np.arange(2 * halves[-1]) / terms))  # n!/(n−k)! over n^k
    counts = 2 * halves[: len(product)]
    return counts, product * np.exp(np.concatenate([[0.0], ordered])[counts])


def _mean_wave(
    t: Float, sizes: Float, chances: Float, fast: float, terms: float, counts: np.ndarray, weights: Float
) -> Float:
    """φ(t) over the phases of the fast sizes: Σ_k weight_k c^(n−k), c the characteristic function of the others."""
    fall = -2 * np.sin(np.outer(t, sizes) / 2) ** 2 @ chances - fast
    rest = 1 + fall
    log_rest = np.where(rest > 0.5, np.log1p(np.maximum(fall, -0.75)), np.log(np.maximum(np.abs(rest), 1e-300)))
    series = np.zeros_like(t)
    for weight in weights:
        series = series * rest**2 + weight
    sign = np.where(rest < 0, np.cos(np.pi * (terms % 2)), 1.0)
    return sign * series * np.exp(np.minimum((terms - counts[-1]) * log_rest + terms * fast, 700.0))


def _log_tail(values: Float, probabilities: Float, terms: float, bound: float, tilts: Float) -> float:
    """Chernoff's bound of the logarithm of the tail beyond `bound`, the least one of these tilts."""
    cumulants = terms * np.log1p(np.expm1(tilts[:, None] * values) @ probabilities)
    return float(np.min(cumulants - tilts * bound))


def _log_characteristic(times: np.ndarray, values: Float, probabilities: Float) -> np.ndarray:
    """ln ⟨e^(itv)⟩ of one term, whose power multiplies every rounding error by the number of terms."""
    phases = times[:, None] * values
    fall = -2 * np.sin(phases / 2) ** 2 @ probabilities  # ⟨e^(itv)⟩ − 1 without cancellation
    skew = np.sin(phases) @ probabilities
    # ln(1 + fall + i skew), of which numpy's log1p of complex numbers keeps no real part below 1e-16
    return 0.5 * np.log1p(np.maximum(fall * (2 + fall) + skew**2, -1 + 1e-16)) + 1j * np.arctan2(skew, 1 + fall)
