"""Retrieval at a temperature on the sphere ‖x‖² = N, of M = e^{αN} Gaussian patterns and of one of norm √N.

Energies per neuron by the overlap m with that pattern, of sharpness b; both have slope −1 at m = 1:

    lse   E = −ln Σ_μ e^{b N m_μ} / b        −m where the pattern outweighs the others
    lsr   E = −N ln Σ_μ [1 − b + b m_μ]₊ / b − N   −1 − ln(1 − b + b m)/b, +∞ where m <= 1 − 1/b

Source: Petrova, arXiv:2603.13350; Petrova, Polyachenko & State, arXiv:2604.07401.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.integrate import quad

from hopfield._arguments.host import Float, plain, real, reals, whole_number
from hopfield._arguments.words import one_of

Kernel = Literal["lse", "lsr"]
KERNELS: tuple[Kernel, ...] = get_args(Kernel)


def overlap(temperature: ArrayLike, kernel: Kernel | str = "lse", sharpness: ArrayLike = 1.0) -> Float:
    """Overlap m of the retrieval state for N → ∞, the least e(m) − T ln(1 − m²)/2: −e'(m) = T m/(1 − m²).

    lse  m = (√(T² + 4) − T)/2
    lsr  m = (T (b − 1) + √(T² (b − 1)² + 4 (1 + T b)))/(2 (1 + T b)), which stays above 1 − 1/b

    Args:
        temperature: T >= 0.
        kernel: one of `KERNELS`.
        sharpness: b, above 0; lse has its state at any.
    """
    heat, b = reals("temperature", temperature, least=0), reals("sharpness", sharpness, above=0)
    if one_of("kernel", kernel, KERNELS) == "lse":
        return plain(2 / (np.sqrt(heat**2 + 4) + heat))
    linear = heat * (b - 1)
    return plain((linear + np.sqrt(linear**2 + 4 * (1 + heat * b))) / (2 * (1 + heat * b)))


def mean_overlap(neurons: int, temperature: float, kernel: Kernel | str = "lse", sharpness: float = 1.0) -> float:
    """Mean overlap with one pattern that is stored alone, exact: ∫ m p(m), p ∝ (1 − m²)^{(N−3)/2} e^{−N e(m)/T}.

    Args:
        neurons: N >= 3.
        temperature: T > 0.
        kernel, sharpness: as for `overlap`.
    """
    heat, size = real("temperature", temperature, above=0), whole_number("neurons", neurons, least=3)
    top, b = float(overlap(heat, kernel, sharpness)), real("sharpness", sharpness, above=0)
    low = -1.0 if kernel == "lse" else max(-1.0, 1 - 1 / b)
    depth = (lambda m: m) if kernel == "lse" else (lambda m: np.log1p(b * (m - 1)) / b)
    log_weight = lambda m: 0.5 * (size - 3) * np.log1p(-m * m) + size * (depth(m) - depth(top)) / heat
    shift = log_weight(top)
    weight = lambda m: np.exp(log_weight(m) - shift)
    total, first = (quad(f, low, 1.0, points=[top], limit=200)[0] for f in (weight, lambda m: m * weight(m)))
    return first / total


def stable_load(temperature: ArrayLike, sharpness: ArrayLike = 1.0) -> Float:
    """Load up to which lse has a retrieval state: the pattern outweighs the others there, b m > ln Σ_others / N.

    b m − b²/2 where b <= m, m²/2 beyond, where single patterns near the state decide: ½ at T = 0 for b >= 1.

    Args:
        temperature: T >= 0.
        sharpness: b, above 0.
    """
    m, b = overlap(temperature), reals("sharpness", sharpness, above=0)
    return plain(np.minimum(b, m) * (m - np.minimum(b, m) / 2))


def critical_load(temperature: ArrayLike) -> Float:
    """Load at which the retrieval state of lse and states near no pattern have equal free energies, b >= √(2α).

    m + T ln(1 − m²)/2 = √(2α): ½ at T = 0, and α ≈ 1/(8 T²) at high temperatures. The state belongs to a pattern of
    norm √N, and the lowest of all at no load > 0: the longest of the other Gaussian patterns, of norm r√N with
    (r² − 1)/2 − ln r = α, lie lower, at T = 0 with E = −r beside its −1: −1.33, −1.59 and −1.77 at α = .1, .3 and .5.

    Args:
        temperature: T >= 0.
    """
    heat, m = reals("temperature", temperature, least=0), overlap(temperature)
    # 1 − m² = T m; the product keeps its digits where it is small, the square where it is near 1.
    cold = np.log(np.where(heat > 0, heat * m, 1.0))
    room = np.where(heat < 1, cold, np.log1p(-(np.where(heat < 1, 0.0, m) ** 2)))
    return plain((m + 0.5 * heat * room) ** 2 / 2)


def support_load(sharpness: ArrayLike) -> Float:
    """Load below which no other pattern is within the support of lsr, so that it retrieves at any T: (1 − 1/b)²/2.

    Args:
        sharpness: b, above 1.
    """
    return plain((1 - 1 / reals("sharpness", sharpness, above=1)) ** 2 / 2)
