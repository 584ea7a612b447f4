"""Novelty detection by the left-over weight of softmax₁: the exact area under the ROC curve.

A memory of M random unit vectors in N dimensions is asked with a corrupted pattern of overlap m, or with a random unit
vector. The leftover weight is 1/(1 + Z), Z = Σ_μ e^(κ s_μ), so that the area is P(Z_known > Z_novel), with

    Z_known = e^(κ m) + Σ_(M−1) e^(κ s)        Z_novel = Σ_M e^(κ s)        s of density (1 − s²)^((N−3)/2)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, expit, wrightomega

from hopfield._arguments.host import Float, plain, real, reals, whole_number, whole_numbers
from hopfield.theory.averages import sphere

_CELLS = 600
_WAVES = 512  # times evaluated at once
_STEP = 1 / 16  # of ln t, and a quarter of a radian
_BLUR = 0.01  # of e^(κ m): the areas of thresholds so near to each other are averaged
_LEAST, _MOST = 1e-4, 300.0  # below, κ no longer changes the area by 1e-4; above, the area is not known


def auc(neurons: ArrayLike, num_patterns: ArrayLike, kappa: ArrayLike, overlap: ArrayLike) -> Float:
    """Area under the ROC curve of "a stored pattern matches" by Z, or by any falling function of it.

    Averaged over memories, to about 1e-3; by inversion of the characteristic function of Z_novel − Z_known, over the
    logarithm of its argument, because the terms of Z span e^(2κ). For a single pattern the overlap alone decides.

    Args:
        neurons: N ≥ 3. num_patterns: M ≥ 1.
        kappa: κ = β > 0 for unit vectors.
        overlap: m of the query with its own pattern, −1 to 1.

    Returns:
        The area; NaN at κ > 300, where M > 1.

    Raises:
        ValueError: a number out of range.
    """
    arguments = (
        whole_numbers("neurons", neurons, least=3),
        whole_numbers("num_patterns", num_patterns, least=1),
        reals("kappa", kappa, above=0),
        reals("overlap", overlap, least=-1, most=1),
    )
    return plain(np.vectorize(_auc, otypes=[float])(*arguments))


def leftover(neurons: int, num_patterns: int, kappa: float, overlap: float | None = None) -> float:
    """Annealed weight left over, 1/(1 + E Z): of a query of overlap m with its pattern, or of a novel one if None."""
    count, rate = whole_number("num_patterns", num_patterns, least=1), real("kappa", kappa, above=0)
    log_mean = rate - sphere(np.asarray(whole_number("neurons", neurons, least=3)), np.asarray(rate)).gap
    if overlap is None:
        return float(expit(-np.log(count) - log_mean))
    log_weight = rate * real("overlap", overlap, least=-1, most=1)
    with np.errstate(divide="ignore"):
        return float(expit(-np.logaddexp(log_weight, np.log(count - 1) + log_mean)))


def _scores(neurons: float, kappa: float) -> tuple[Float, Float]:
    """Overlaps s at the middles of equal cells, and their probabilities. In a cell κ s grows by a quarter at most."""
    cells = max(_CELLS, 2 * int(np.ceil(4 * min(kappa, 1e5))))
    reach = min(1.0, 9 / np.sqrt(neurons) + kappa / neurons)
    s = reach * (-1 + (2 * np.arange(cells) + 1) / cells)
    mass = np.exp(0.5 * (neurons - 3) * np.log1p(-s * s))
    return s, mass / mass.sum()


def _auc(neurons: float, num_patterns: float, kappa: float, overlap: float) -> float:
    """The area, in units of e^(κ m): ½ + (1/π) ∫ Im ⟨e^(it(1 + Z_known − Z_novel))⟩ dt/t over ln t."""
    if num_patterns == 1:
        return float(betainc((neurons - 1) / 2, (neurons - 1) / 2, (1 + overlap) / 2))
    if kappa > _MOST:
        return np.nan
    kappa = max(kappa, _LEAST)
    s, mass = _scores(neurons, kappa)
    half = (s[1] - s[0]) / 2
    low, high = np.expm1(kappa * (s - half - overlap)), np.expm1(kappa * (s + half - overlap))
    scale = max(abs(low[0]), min(abs(high[-1]), 1.0))
    least = np.log(1e-5 / (np.sqrt(num_patterns) * max(1.0, abs(high[-1]) / scale)))
    omega = wrightomega(np.arange(least - np.log(4), 5 / (4 * _BLUR), _STEP))
    total = 0.5
    for some in np.array_split(omega, np.ceil(len(omega) / _WAVES)):
        phase = 4 * some / scale  # 4ω grows by a factor where it is small, by a constant where the phase turns
        fall, skew = _characteristic(phase, low, high, mass)
        log_size = 0.5 * np.log(np.maximum(1 + fall * (2 + fall) + skew**2, 1e-300))
        size = np.exp((2 * num_patterns - 1) * log_size - 0.5 * (_BLUR * 4 * some) ** 2)
        total -= _STEP / np.pi * np.sum(size * np.sin(np.arctan2(skew, 1 + fall)) / (1 + some))
    return float(np.clip(total, 0.0, 1.0))


def _characteristic(times: Float, low: Float, high: Float, mass: Float) -> tuple[Float, Float]:
    """⟨e^(itv)⟩ − 1 of a term spread over cells from `low` to `high`, its real and its imaginary part."""
    middle = np.minimum(times[:, None] * ((low + high) / 2), 1e8)
    spread = times[:, None] * ((high - low) / 2)
    shrink = np.where(spread < 1e-4, 1.0, np.sinc(np.minimum(spread, 1e8) / np.pi))
    fall = (shrink - 1 - 2 * shrink * np.sin(middle / 2) ** 2) @ mass
    return fall, (shrink * np.sin(middle)) @ mass
