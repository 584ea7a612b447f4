"""Loads that any couplings can hold: Gardner's bound for N → ∞, biased patterns included, and Cover's exact count."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq, minimize_scalar
from scipy.special import ndtr
from scipy.stats import binom

from hopfield._arguments.host import Float, plain, reals


def critical_load(stability: ArrayLike = 0.0, bias: ArrayLike = 0.0) -> Float:
    """Largest load M/N that any couplings can store with a margin: α_c(κ) = 1/∫_{−κ}^∞ Dt (t + κ)² without bias.

    Args:
        stability: κ >= 0, least field on a spin along its pattern, in units of the norm of its couplings.
        bias: m, mean of the patterns' spins, above −1 and below 1.

    Returns:
        2 at κ = m = 0, falling with κ and growing with |m|; for random patterns and N → ∞. With a bias the inverse is
        the least over v of Σ_± (1 ± m)/2 ∫_{−κ±}^∞ Dt (t + κ±)² with κ± = (κ ∓ v m)/√(1 − m²).

    Source: Gardner, J. Phys. A 21, 257 (1988), eqs. 20 and 31.
    """
    kappa, mean = reals("stability", stability, least=0), reals("bias", bias, above=-1, below=1)
    return plain(1 / np.vectorize(_least_deficit, otypes=[float])(kappa, mean))


def _deficit(kappa: float) -> float:
    """∫_{−κ}^∞ Dt (t + κ)²."""
    return (1 + kappa**2) * ndtr(kappa) + kappa * np.exp(-(kappa**2) / 2) / np.sqrt(2 * np.pi)


def _least_deficit(kappa: float, mean: float) -> float:
    width = np.sqrt(1 - mean**2)

    def total(v: float) -> float:
        return sum((1 + sign * mean) / 2 * _deficit((kappa - sign * v * mean) / width) for sign in (1, -1))

    return total(0.0) if mean == 0 else float(minimize_scalar(total).fun)


def largest_stability(load: ArrayLike, bias: ArrayLike = 0.0) -> Float:
    """Largest κ at which couplings can hold a load for N → ∞, the inverse of `critical_load`; 0 from α_c(0) on.

    Args:
        load: α = M/N, above 0.
        bias: m, mean of the patterns' spins, above −1 and below 1.
    """
    alpha, mean = reals("load", load, above=0), reals("bias", bias, above=-1, below=1)
    return plain(np.vectorize(_largest_stability, otypes=[float])(alpha, mean))


def _largest_stability(load: float, mean: float) -> float:
    if np.isnan(load + mean):
        return np.nan
    excess = lambda kappa: 1 / load - _least_deficit(kappa, mean)
    if excess(0.0) <= 0:
        return 0.0
    most = 1.0
    while excess(most) > 0:
        most *= 2
    found: Any = brentq(excess, 0.0, most, xtol=1e-10)
    return float(found)


def cover(neurons: ArrayLike, num_patterns: ArrayLike) -> Float:
    """Share of spins for which couplings without own field can hold all patterns: 2^{1−M} Σ_{k<N−1} C(M−1, k), exact.

    For patterns in general position, as random spins are but for a share that vanishes with N; ½ at M = 2 (N − 1).

    Args:
        neurons: N >= 2; a spin has N − 1 couplings.
        num_patterns: M >= 1.

    Source: Cover, IEEE Trans. Electronic Computers 14, 326 (1965).
    """
    n, m = reals("neurons", neurons, least=2), reals("num_patterns", num_patterns, least=1)
    return plain(binom.cdf(n - 2, m - 1, 0.5))
