"""Basins of attraction: critical initial overlaps, how far from a pattern retrieval may start.

For the classical, projection and dense networks one synchronous step takes the overlap m of a random state to
erf(u/√2), u the signal over the deviation of the crosstalk, exactly for N → ∞. The patterns are the same at every step,
which gives the crosstalk a memory. Statistical neurodynamics keeps the memory of one step for the classical network;
for other networks the map of the first step is iterated, as if the crosstalk were drawn afresh each time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, betaincinv, erf

from hopfield._arguments.host import Float, plain, reals, whole_number, whole_numbers
from hopfield.theory import dense as dense_theory
from hopfield.theory import spherical

ONE_STEP = r"map of one step, iterated"
"""Label of a theory that draws the crosstalk afresh at every step: exact for one step, of N → ∞."""
_STEPS = 1000
_STILL = 1e-14
_HALVINGS = 34


def neurodynamics(load: ArrayLike, overlap: ArrayLike, steps: int = 1) -> Float:
    """Overlap of the classical network after synchronous steps from a random state of given overlap, for N → ∞.

    m ↦ erf(u/√2),  σ² ↦ α + 4 φ(u)² + 4 α m m' φ(u)/σ,  u = m/σ,  σ² = α at the start, φ the normal density

    Args:
        load: α = M/N, > 0.
        overlap: of the start, −1 to 1.
        steps: >= 0.

    Source: Amari and Maginu, Neural Networks 1, 63 (1988). The noise is taken as Gaussian, with correlations of
    neighbouring steps alone: exact for one step, with a capacity of 0.1596 for many.
    """
    load, overlap = np.broadcast_arrays(reals("load", load, above=0), reals("overlap", overlap, least=-1, most=1))
    for state in _neurodynamics(load, overlap, whole_number("steps", steps, least=0)):
        overlap = state
    return plain(overlap)


def classical(load: ArrayLike) -> Float:
    """Critical initial overlap of the classical network with synchronous dynamics, by `neurodynamics`.

    Args:
        load: α = M/N, > 0.

    Returns:
        The overlap from which on the state ends near the pattern (m > 0.8); nan where not even the pattern does.
    """
    load = reals("load", load, above=0)
    return _boundary(lambda overlap: plain(neurodynamics(load, overlap, 300)), load.shape)


def basin_of_projection(load: ArrayLike) -> Float:
    """Critical initial overlap of the projection rule by its map of one step: m ↦ erf(m √((1−α)/(2α(1−m²)))).

    Without its diagonal (Kanter and Sompolinsky 1987) the rule answers m ξ + η, η random of variance 1 − m², by
    (1−α) m ξ and a noise of variance α(1−α)(1−m²).

    Args:
        load: α = M/N, between 0 and 1.

    Returns:
        0 up to α = 1/(1 + π/2) = 0.389; from there it grows to 1 at α = 1.
    """
    load = reals("load", load, above=0, below=1)
    ratio = (1 - load) / (2 * load)

    def step(overlap: Float) -> Float:
        return erf(overlap * np.sqrt(ratio / np.maximum(1 - overlap**2, 1e-300)))

    return _unstable(step, load.shape)


def dense(load: ArrayLike, degree: int, *, rectified: bool = False) -> Float:
    """Critical initial overlap of a dense memory by its map of one step: m ↦ erf(m^(n−1)/√(2a)), a = noise(n)·load.

    Args:
        load: M/N^(n−1), > 0.
        degree: n >= 3.
        rectified: F(s) = max(s, 0)ⁿ instead of sⁿ.

    Returns:
        The unstable fixed point; nan above the spinodal, where nothing is retrieved.

    Source: the one-step error of Krotov and Hopfield 2016 (arXiv:1606.01164), here from a state of overlap m.
    """
    power = whole_number("degree", degree, least=3) - 1
    load = reals("load", load, above=0)
    deviation = np.sqrt(2 * dense_theory.noise(degree, rectified=rectified) * load)
    unstable = _unstable(lambda overlap: erf(overlap**power / deviation), load.shape)
    return plain(np.where(load < dense_theory.spinodal(degree, rectified=rectified).load, unstable, np.nan))


def basin_on_sphere(load: ArrayLike, beta: ArrayLike) -> Float:
    """Critical initial overlap of the modern network with patterns of norm √N on the sphere, for N → ∞.

    The target's score λm has to exceed the free energy of the other patterns. That is α + λt + ½ ln(1−t²),
    t = (√(1+4λ²) − 1)/(2λ), while e^(αN) patterns reach overlaps as large as t, and λ√(1 − e^(−2α)), the score of
    the nearest of them, beyond (a random energy model). The nearest pattern then wins, whatever β.

    Args:
        load: α = ln M / N, >= 0.
        beta: λ > 0.

    Returns:
        The overlap, 1 at α = α_1 of `spherical.typical_load`; nan above.

    Source: the random energy model of Lucibello and Mézard 2024 (arXiv:2304.14964) at a query of overlap m.
    """
    load, beta = np.broadcast_arrays(reals("load", load, least=0), reals("beta", beta, above=0))
    highest = spherical.typical_load(beta)
    top = 2 * beta / (1 + np.sqrt(1 + 4 * beta**2))
    condensed = load <= -np.log(top / beta) / 2  # 1 − t² = t/λ
    nearest = np.sqrt(-np.expm1(-2 * load))
    many = 1 - (highest - load) / beta
    return plain(np.where(load > highest, np.nan, np.where(condensed, nearest, many)))


def nearest_pattern(neurons: ArrayLike, num_patterns: ArrayLike, share: ArrayLike = 0.5) -> Float:
    """Overlap at which that share of queries is closer to the target than to every other pattern on the sphere.

    P = (1 − ½ I_{1−m²}((d−1)/2, ½))^(M−1) for m >= 0: the limit β → ∞ of any memory that compares scores.

    Args:
        neurons: dimension d >= 2.
        num_patterns: M >= 2, independent and uniform on the sphere.
        share: between 0 and 1; overlaps below 0, at small M and share, are returned as 0.
    """
    neurons, num_patterns = (
        whole_numbers("neurons", neurons, least=2),
        whole_numbers("num_patterns", num_patterns, least=2),
    )
    share = reals("share", share, above=0, below=1)
    tail = -np.expm1(np.log(share) / (num_patterns - 1))  # chance that one pattern is nearer
    inside = betaincinv((neurons - 1) / 2, 0.5, np.minimum(2 * tail, 1.0))
    return plain(np.sqrt(1 - inside))


def nearest_pattern_share(neurons: ArrayLike, num_patterns: ArrayLike, overlap: ArrayLike) -> Float:
    """Share of queries of that overlap, >= 0, that are closer to the target than to every other pattern."""
    neurons, num_patterns = (
        whole_numbers("neurons", neurons, least=2),
        whole_numbers("num_patterns", num_patterns, least=1),
    )
    overlap = reals("overlap", overlap, least=0, most=1)
    tail = betainc((neurons - 1) / 2, 0.5, 1 - overlap**2) / 2
    return plain(np.exp((num_patterns - 1) * np.log1p(-tail)))


def _neurodynamics(load: Float, overlap: Float, steps: int) -> Iterator[Float]:
    """Overlaps after each step."""
    variance = load
    for _ in range(steps):
        deviation = np.sqrt(variance)
        signal = overlap / deviation
        density = np.exp(-(signal**2) / 2) / np.sqrt(2 * np.pi)
        new = erf(signal / np.sqrt(2))
        variance = load + 4 * density**2 + 4 * load * overlap * new * density / deviation
        overlap = new
        yield overlap


def _unstable(step: Callable[[Float], Float], shape: tuple[int, ...]) -> Float:
    """Lowest overlap from which the iterated step ends above 0.8, or goes on rising to its one stable fixed point."""

    def end(overlap: Float) -> Float:
        for _ in range(_STEPS):
            previous, overlap = overlap, step(overlap)
            if np.all(np.abs(overlap - previous) <= _STILL * overlap):
                break
        return np.where(overlap > (1 + _STILL) * previous, 1.0, overlap)

    return _boundary(end, shape)


def _boundary(end: Callable[[Float], Float], shape: tuple[int, ...]) -> Float:
    """The initial overlap above which `end` exceeds 0.8, by bisection. NaN if `end` stays below 0.8 at 1."""
    low, high = np.zeros(shape), np.ones(shape)
    possible = end(high) > 0.8
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        retrieved = end(middle) > 0.8
        low, high = np.where(retrieved, low, middle), np.where(retrieved, middle, high)
    return plain(np.where(possible, high, np.nan))
