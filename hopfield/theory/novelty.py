"""Novelty by the weight that softmax₁ leaves over, stored pattern or none: the area under the ROC curve, exactly.

A memory of M random unit vectors in D dimensions is asked with a corrupted pattern of overlap m, or with a random unit
vector. What is left over is 1/(1 + Z), Z = Σ_μ e^(κ s_μ), so that the area is P(Z_known > Z_novel), with

    Z_known = e^(κ m) + Σ_(M−1) e^(κ s)        Z_novel = Σ_M e^(κ s)        s of density (1 − s²)^((D−3)/2)
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logsumexp

from hopfield.theory._arguments import Float, plain, real, whole

_NODES = 600
_WAVES, _MOST = 256, 2**15
_RARE = 0.02
"""A score expected less often than this in a memory counts as the least such: it decides alone, but for 1 in 5000."""


def auc(width: ArrayLike, num_patterns: ArrayLike, kappa: ArrayLike, overlap: ArrayLike) -> Float:
    """Area under the ROC curve of "a stored pattern matches" by Z, or by any falling function of it.

    Averaged over memories; by inversion of the characteristic function of Z_novel − Z_known, to about 1e-3, or 1e-2
    where the largest term of Z_novel is more than 10⁴ times e^(κ m).

    Args:
        width: D ≥ 3. num_patterns: M ≥ 1.
        kappa: κ = β > 0 for unit vectors.
        overlap: m of the query with its own pattern, −1 to 1.
    Raises:
        ValueError: a number out of range.
    """
    arguments = (
        whole("width", width, least=3),
        whole("num_patterns", num_patterns, least=1),
        real("kappa", kappa, above=0),
        real("overlap", overlap, least=-1, most=1),
    )
    return plain(np.vectorize(_auc, otypes=[float])(*arguments))


def leftover(width: int, num_patterns: int, kappa: float, overlap: float | None = None) -> float:
    """Annealed weight left over, 1/(1 + E Z): of a query of overlap m with its pattern, or of a novel one if None."""
    s, mass = _scores(float(whole("width", width, least=3)))
    count, rate = whole("num_patterns", num_patterns, least=1), real("kappa", kappa, above=0)
    log_mean = logsumexp(rate * s, b=mass)
    if overlap is None:
        return float(expit(-np.log(count) - log_mean))
    own = rate * real("overlap", overlap, least=-1, most=1)
    with np.errstate(divide="ignore"):
        return float(expit(-np.logaddexp(own, np.log(count - 1) + log_mean)))


def _scores(width: float) -> tuple[Float, Float]:
    """Cells of equal width over all overlaps, and their probabilities."""
    s = -1 + (2 * np.arange(_NODES) + 1) / _NODES
    mass = np.exp(0.5 * (width - 3) * np.log1p(-s * s))
    return s, mass / mass.sum()


def _auc(width: float, num_patterns: float, kappa: float, overlap: float) -> float:
    s, mass = _scores(width)
    beyond = np.cumsum(mass[::-1])[::-1]
    top = max(overlap, float(s[num_patterns * beyond < _RARE].min(initial=1.0)))
    value, bound = np.exp(kappa * (np.minimum(s, top) - top)), np.exp(kappa * (overlap - top))
    mean = value @ mass
    deviation = np.sqrt((2 * num_patterns - 1) * (value**2 @ mass - mean**2))
    spacing = 2 * np.pi / (abs(bound - mean) + 2 + 14 * deviation)
    total = 0.5
    for start in range(0, _MOST, _WAVES):
        half = np.arange(start, start + _WAVES) + 0.5
        wave = np.exp(1j * half[:, None] * spacing * value) @ mass
        size = np.exp(2 * (num_patterns - 1) * np.log(np.maximum(np.abs(wave), 1e-300)))
        taper = np.exp(-36 * (half / _MOST) ** 8)
        whole_wave = size * wave * np.exp(-1j * half * spacing * bound) * taper
        total -= np.sum(whole_wave.imag / half) / np.pi
        if np.max(np.abs(whole_wave)) < 1e-10:
            break
    return float(np.clip(total, 0.0, 1.0))
