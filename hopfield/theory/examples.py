"""Retrieval of patterns that a classical network knows by noisy examples alone, at zero temperature.

A examples of quality r for each of M = αN patterns. Their mean is the pattern times r and noise of variance
(1 − r²)/A, so that ρ = (1 − r²)/(A r²), the entropy of the data set, says how far it is from the pattern itself.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import minimize_scalar
from scipy.special import erf

from hopfield._arguments.host import Float, flag, plain, real, reals, whole_number

GRID = np.geomspace(1e-3, 30.0, 4000)
"""Signal over noise y = n r/(√2 D) at which the load is looked at."""


class Archetype(NamedTuple):
    """Largest load α at which patterns are retrieved, and the overlap m of the state with the pattern there."""

    load: Float
    overlap: Float


def entropy(quality: ArrayLike, examples: ArrayLike) -> Float:
    """ρ = (1 − r²)/(A r²), variance of the noise in the mean of A examples relative to the pattern in it.

    Args:
        quality: r, above 0 and at most 1.
        examples: A >= 1.
    """
    r, count = reals("quality", quality, above=0, most=1), reals("examples", examples, least=1)
    return plain((1 - r**2) / (count * r**2))


def one_step_overlap(load: ArrayLike, quality: ArrayLike, examples: ArrayLike, *, supervised: bool = True) -> Float:
    """Overlap after one synchronous step from a pattern: erf(1/√(2(ρ + α(1 + ρ)²))) with a teacher.

    Without one (1 + ρ)² is 1 + (1 − r⁴)/(A r⁴): the examples of another pattern disturb one by one. For N → ∞ and many
    examples, whose sum is taken as Gaussian.

    Args:
        load: α = M/N >= 0.
        quality: r, above 0 and at most 1.
        examples: A >= 1.
        supervised: whether examples of one pattern are added up before they are stored.
    """
    alpha, rho = reals("load", load, least=0), reals("quality", entropy(quality, examples), least=0)
    r, count = reals("quality", quality, above=0, most=1), reals("examples", examples, least=1)
    others = (1 + rho) ** 2 if flag("supervised", supervised) else 1 + (1 - r**4) / (count * r**4)
    with np.errstate(divide="ignore"):
        return plain(erf(1 / np.sqrt(2 * (rho + alpha * others))))


def critical_load(quality: float, examples: int, *, supervised: bool = True) -> Archetype:
    """Largest load with a retrieval state, and its overlap with the pattern, replica symmetric at zero temperature.

    Args:
        quality: r, above 0 and at most 1; at 1 the load is the classical network's 0.137906.
        examples: A >= 1, whose summed noise is taken as Gaussian.
        supervised: whether examples of one pattern are added up before they are stored.
    """
    best = int(np.argmax(_branch(GRID, quality, examples, supervised)[0]))
    around = (GRID[max(best - 1, 0)], GRID[min(best + 1, GRID.size - 1)])
    y = minimize_scalar(
        lambda y: -float(_branch(y, quality, examples, supervised)[0]), bounds=around, method="bounded"
    ).x
    load, found = _branch(y, quality, examples, supervised)
    return Archetype(plain(np.maximum(load, 0.0)), plain(found))


def overlap(load: ArrayLike, quality: float, examples: int, *, supervised: bool = True) -> Float:
    """Overlap m of the retrieval state with the pattern, NaN beyond the critical load; replica symmetric.

    Args:
        load: α = M/N >= 0.
        quality, examples, supervised: as for `critical_load`.
    """
    alpha = reals("load", load, least=0)
    loads, overlaps = _branch(GRID, quality, examples, supervised)
    best = int(np.argmax(loads))
    return plain(np.interp(alpha, loads[best:][::-1], overlaps[best:][::-1], right=np.nan))


def examples_needed(load: float, quality: float, *, supervised: bool = True) -> float:
    """Least number of examples of each pattern from which a load has a retrieval state; ∞ where no number suffices.

    Args:
        load: α = M/N >= 0.
        quality, supervised: as for `critical_load`.
    """
    alpha, most = real("load", load, least=0), 2**40
    reached = lambda count: critical_load(quality, count, supervised=supervised).load
    enough: Callable[[int], bool] = lambda count: bool(reached(count) >= alpha)
    if not enough(most):
        return float("inf")
    low, high = 0, 1
    while not enough(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return float(high)


def _branch(y: Float | float, quality: float, examples: int, supervised: bool) -> tuple[Float, Float]:
    """Loads and overlaps of the saddle points at signals over noise y, −1 where there are none.

    The field on a spin is η̄ n + σ z with the mean example η̄ = r ξ + s z', so that with D² = n² s² + σ²

        m = erf y,  y = n r/(√2 D),  χ = √(2/π) e^{−y²}/D,  n = r m/(1 − s² χ),
        σ² = α [v²/(1 − v χ)² + (A − 1) s⁴/(1 − s² χ)²],  v = r² + s²,

    the second term without a teacher alone, from the A − 1 directions in which examples of one pattern differ. D, and
    with it α, follow from y.
    """
    r, count = real("quality", quality, above=0, most=1), whole_number("examples", examples, least=1)
    noise = (1 - r**2) / count
    size = r**2 + noise
    slope = np.sqrt(2 / np.pi) * np.exp(-(y**2))
    width = r**2 * erf(y) / (np.sqrt(2) * y) + noise * slope
    response = slope / width
    signal = r * erf(y) / (1 - noise * response)
    crosstalk = (size / (1 - size * response)) ** 2
    if not flag("supervised", supervised):
        crosstalk = crosstalk + (count - 1) * (noise / (1 - noise * response)) ** 2
    load = (width**2 - signal**2 * noise) / crosstalk
    return np.where(size * response < 1, load, -1.0), erf(y)
