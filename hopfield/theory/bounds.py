"""Bounds that hold whatever the data or the rule, and the theorems of Ramsauer et al. for the continuous memory."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, wrightomega

from hopfield._arguments.host import Float, plain, reals


class StorageBound(NamedTuple):
    """Guaranteed storage: base c of the exponential, the number of patterns √p c^((d−1)/4), and if it is proven."""

    base: Float
    num_patterns: Float
    proven: Float  # 1 where the theorem's condition c >= (2/√p)^(4/(d−1)) holds, else 0


def gardner(stability: ArrayLike = 0.0) -> Float:
    """Largest load M/N that any couplings can store with a margin: α_c(κ) = 1/∫_{−κ}^∞ Dt (t + κ)².

    Args:
        stability: κ >= 0, least field on a spin along its pattern, in units of the norm of its couplings.

    Returns:
        2 at κ = 0, falling with κ; for unbiased random patterns and N → ∞.

    Source: Gardner, J. Phys. A 21, 257 (1988).
    """
    kappa = reals("stability", stability, least=0)
    density = np.exp(-(kappa**2) / 2) / np.sqrt(2 * np.pi)
    return plain(1 / ((1 + kappa**2) * ndtr(kappa) + kappa * density))


def storkey(neurons: ArrayLike) -> Float:
    """Number of patterns N/√(2 ln N) at which Storkey's rule begins to make errors, to leading order.

    Args:
        neurons: N >= 2.

    Source: Storkey, ICANN 1997; Storkey and Valabregue, Neural Networks 12, 869 (1999).
    """
    neurons = reals("neurons", neurons, least=2)
    return plain(neurons / np.sqrt(2 * np.log(neurons)))


def ramsauer(
    dimension: ArrayLike, beta: ArrayLike, radius_factor: ArrayLike, failure: ArrayLike = 0.001
) -> StorageBound:
    """Number of random patterns on a sphere that the continuous memory stores with probability 1 − p at least.

    √p c^((d−1)/4),  c = b/W₀(exp(a + ln b)),  a = 2/(d−1) (1 + ln(2βK²p(d−1))),  b = 2K²β/5.

    A lower bound, of 7 and 11 patterns in the paper's two examples: to be drawn, not to be quoted as a capacity.

    Args:
        dimension: d >= 2.
        beta: inverse temperature, > 0.
        radius_factor: K, the patterns have norm K√(d−1), > 0.
        failure: p, between 0 and 1.

    Returns:
        base c (3.1546 for d = 20, β = 1, K = 3; 1.3719 for d = 75, K = 1, both with p = 0.001), patterns, proven.

    Source: Ramsauer et al., ICLR 2021, arXiv:2008.02217, theorem 3.
    """
    d = reals("dimension", dimension, least=2)
    beta, k = reals("beta", beta, above=0), reals("radius_factor", radius_factor, above=0)
    p = reals("failure", failure, above=0, below=1)
    a = 2 / (d - 1) * (1 + np.log(2 * beta * k**2 * p * (d - 1)))
    b = 2 * k**2 * beta / 5
    base = b / wrightomega(a + np.log(b))  # W₀(exp x), without the exponential that overflows
    with np.errstate(over="ignore"):
        num_patterns = np.sqrt(p) * base ** ((d - 1) / 4)
    return StorageBound(plain(base), plain(num_patterns), plain(base >= (2 / np.sqrt(p)) ** (4 / (d - 1))))


def separation_needed(num_patterns: ArrayLike, beta: ArrayLike, norm: ArrayLike) -> Float:
    """Separation Δ = min_ν (ξ_μ·ξ_μ − ξ_μ·ξ_ν) from which a pattern is proven to have its own fixed point.

    Δ >= 2/(βM) + ln(2(M−1)Mβ‖ξ‖²)/β; the fixed point is within 1/(βM‖ξ‖) of the pattern.

    Args:
        num_patterns: M >= 2.
        beta: inverse temperature, > 0.
        norm: largest norm of a pattern, > 0.

    Source: Ramsauer et al. 2021, appendix, definition of well-separated patterns.
    """
    m, beta = reals("num_patterns", num_patterns, least=2), reals("beta", beta, above=0)
    norm = reals("norm", norm, above=0)
    return plain(2 / (beta * m) + np.log(2 * (m - 1) * m * beta * norm**2) / beta)


def retrieval_error(
    num_patterns: ArrayLike, separation: ArrayLike, beta: ArrayLike, norm: ArrayLike, distance: ArrayLike = 0.0
) -> Float:
    """Largest possible distance from a pattern after one update, 2(M−1) e^(−β(Δ − 2·distance·norm)) norm.

    Args:
        num_patterns: M >= 1.
        separation: Δ of the pattern, any sign.
        beta: inverse temperature, > 0.
        norm: largest norm of a pattern, > 0.
        distance: of the state from the pattern, >= 0.

    Source: Ramsauer et al. 2021, theorem 5. Every score ξ_ν·x falls short of ξ_μ·x by Δ − 2·distance·norm at least.
    """
    m, beta, norm = (
        reals("num_patterns", num_patterns, least=1),
        reals("beta", beta, above=0),
        reals("norm", norm, above=0),
    )
    margin = reals("separation", separation) - 2 * reals("distance", distance, least=0) * norm
    with np.errstate(over="ignore", invalid="ignore"):  # one pattern alone is not disturbed from however far
        return plain(np.where(m == 1, 0.0, 2 * (m - 1) * np.exp(-beta * margin) * norm))
