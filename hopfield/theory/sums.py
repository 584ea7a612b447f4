"""Distribution of a sum of many independent, identically distributed discrete terms: the crosstalk of a memory."""

import numpy as np
from scipy.special import betainc, ndtr

from hopfield.arguments import Float

LATTICE = 2**19  # longest lattice that is convolved exactly
_WAVES = 512  # frequencies evaluated at once
_MOST_WAVES = 2**15


def fair_signs_below(bound: Float, terms: Float) -> Float:
    """P(sum of `terms` independent fair signs < bound), for whole bounds; that of a normal sum beyond 2^53 terms.

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
    largest = np.max(np.abs(values))
    unit = float(np.gcd.reduce(values.astype(np.int64))) or 1.0
    deviation = np.sqrt(terms * np.sum(probabilities * values**2))
    half = min(terms * largest, abs(bound) + largest + 40 * deviation) / unit
    points = 2 ** int(np.ceil(np.log2(2 * half + 2)))
    if points > LATTICE:
        return None
    single = np.zeros(points)
    np.add.at(single, np.rint(values / unit).astype(np.int64) % points, probabilities)
    wave = np.fft.rfft(single).real  # real, because the distribution is even
    law = np.fft.fftshift(np.fft.irfft(wave**terms, n=points))
    first_kept = int(np.ceil(bound / unit)) + points // 2
    return float(np.clip(law[: max(first_kept, 0)].sum(), 0.0, 1.0))


def below(
    values: Float, probabilities: Float, terms: float, bound: float, *, negligible: float = 1e-12, even: bool = False
) -> float:
    """P(sum of terms < bound) + ½ P(sum of terms = bound), by inversion of the characteristic function.

    P = ½ − (1/π) Σ_k Im[φ(t_k) e^(−i t_k bound)]/(k + ½),  t_k = (k + ½)Δ,  φ(t) = ⟨e^(itv)⟩^terms.

    The window 2π/Δ holds the distance of the bound from the mean, the largest single value and 14 standard
    deviations; what the sum has beyond it is the error. Tails below 2e-12 are 0. Frequencies stop where |φ| < 1e-16;
    a sum of so few terms that |φ| does not decay is tapered off after 2^15 of them, which costs up to 1e-5.
    A sum on a lattice of spacing δ loses the lattice: the ½ is then right up to δ² over the variance.

    Args:
        values: of one term.
        probabilities: of one term, summing to 1.
        terms: number of terms, >= 0, not necessarily whole.
        bound: any number.
        negligible: values expected less often than this in the sum are left out of the window. The time grows with
            the largest value kept over the standard deviation.
        even: whether the distribution of one term is even. Its characteristic function is then real, and what
            rounding leaves of the imaginary part is not multiplied by 10^15 terms and more.

    Source: Davies, Biometrika 60, 415 (1973).
    """
    present = (probabilities * terms > negligible) & (values != 0)
    if not np.any(present):
        return (1 + np.sign(bound)) / 2
    largest = np.max(np.abs(values[present]))
    mean = 0.0 if even else terms * np.sum((probabilities * values)[present])
    variance = terms * np.sum((probabilities * values**2)[present])
    distance = abs(bound - mean)
    tilts = np.sign(bound - mean) * np.geomspace(1e-3, 30, 60) / largest
    if _log_tail(values[present], probabilities[present], terms, bound, tilts) < -27:
        return float(bound > mean)
    spacing = 2 * np.pi / (distance + largest + 14 * np.sqrt(variance))
    return _inverted(values, probabilities, terms, bound, spacing, even)


def _inverted(values: Float, probabilities: Float, terms: float, bound: float, spacing: float, even: bool) -> float:
    """The sum over the frequencies t_k of `below`, of this spacing."""
    total = 0.5
    for start in range(0, _MOST_WAVES, _WAVES):
        half_integers = np.arange(start, start + _WAVES) + 0.5
        log_wave = terms * _log_characteristic(half_integers * spacing, values, probabilities, even)
        wave: np.ndarray = np.exp(log_wave - 1j * half_integers * spacing * bound)
        taper = np.exp(-36 * (half_integers / _MOST_WAVES) ** 8)
        total -= np.sum(taper * np.imag(wave) / half_integers) / np.pi
        if np.max(np.abs(wave)) < 1e-16:
            break
    return float(np.clip(total, 0.0, 1.0))


def _log_tail(values: Float, probabilities: Float, terms: float, bound: float, tilts: Float) -> float:
    """Chernoff's bound of the logarithm of the tail beyond `bound`, the least one of these tilts."""
    cumulants = terms * np.log1p(np.expm1(tilts[:, None] * values) @ probabilities)
    return float(np.min(cumulants - tilts * bound))


def _log_characteristic(times: np.ndarray, values: Float, probabilities: Float, even: bool) -> np.ndarray:
    """ln ⟨e^(itv)⟩ of one term, whose power multiplies every rounding error by the number of terms."""
    phases = times[:, None] * values
    fall = -2 * np.sin(phases / 2) ** 2 @ probabilities  # ⟨e^(itv)⟩ − 1 without cancellation
    skew = np.zeros_like(fall) if even else np.sin(phases) @ probabilities
    # ln(1 + fall + i skew), of which numpy's log1p of complex numbers keeps no real part below 1e-16
    return 0.5 * np.log1p(np.maximum(fall * (2 + fall) + skew**2, -1 + 1e-16)) + 1j * np.arctan2(skew, 1 + fall)
