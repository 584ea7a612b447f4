"""Patterns that are signs of superposed features: up to which load they are retained, and from which features are.

Hebb's rule stores M = αN patterns ξ = sgn(u), u = Σ_k c_k f_k/√D with Gaussian coefficients c and D = δN features f
that all patterns share; no feature is stored. Replica symmetric, N → ∞, T = 0. Others than the retrieved pattern act
by their linear part, κ² = 2/π of their variance, and an independent rest. With x the state of a neuron in the field h,
C = ⟨∂x/∂h⟩ and ν = κ²α/δ,

    of a feature f of spins:   h = t w f + √r z,              w = ⟨f x⟩
    of a stored pattern:       h = m sgn(u) + t w u + √r z,   w = ⟨u x⟩,  m = ⟨sgn(u) x⟩

    t = ν/(1 − S),  S = C (κ²/(1 − U) + 1 − κ²),  U = tC
    r/t² = δ/(1 − U)² + (δ/ν) Σ [1/κ² − 1 + 1/(1 − U)²]
    Σ = κ² [(1 + U²Σ/ν)/(1 − U)² + w²/δ] + 1 − κ²

Σ is N times the mean square overlap of the state with another pattern, and δ/(1 − U)² is the crosstalk of D stored
features: with α → ∞ features are a classical network of load δ, and with δ → ∞ patterns are one of load α. At a given
w/√r all equations are explicit, so that one function of one variable is left, as in AGS. A feature that is Gaussian
has U = 1 at every overlap: no state stays with one such feature.

Source: Negri, Lauditi, Perugini, Lucibello & Malatesta 2023 (arXiv:2303.16880), whose model this is; equations are
derived here, by replicas and Gaussian equivalence, and solved without iteration.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import elementwise
from scipy.special import erf, erfc, owens_t

from hopfield._arguments.host import Float, plain, reals

_LINEAR = 2 / np.pi
"""κ²: share of a pattern's variance that is linear in its superposition."""
_FEATURE = (0.5, 1.5, 6.0)  # the y = t w/√(2r) of the least load rises with δ from 1.253 to 1.511
_PATTERN = (1.0, 1.8, 6.0)  # the m/√r of the largest load rises with δ from 1.567 to 2.137


def learning_load(ratio: ArrayLike) -> Float:
    """Load from which single features are retained though none is stored.

    Args:
        ratio: features for each neuron, δ = D/N > 0.

    Returns:
        0.798 at δ = 0.05, 4.14 at 0.1, and 8.8 δ for δ → 0; nan where D stored features would not be retained either,
        from δ = 0.1379 on.
    """
    ratio = reals("ratio", ratio, above=0)
    inverse = _feature(_y_of_least_load(ratio), ratio)
    return plain(ratio / (_LINEAR * np.where(inverse > 0, inverse, np.nan)))


def feature_overlap(load: ArrayLike, ratio: ArrayLike) -> Float:
    """Overlap of the state at a feature with that feature; nan below the `learning_load`.

    Args:
        load: α = M/N, > 0.
        ratio: features for each neuron, δ = D/N > 0.
    """
    load, ratio = np.broadcast_arrays(reals("load", load, above=0), reals("ratio", ratio, above=0))

    def excess(y: Float, load: Float, ratio: Float) -> Float:
        return _feature(y, ratio) - ratio / (_LINEAR * load)

    bracket = (_y_of_least_load(ratio), 1 + 1 / np.sqrt(2 * ratio))
    return plain(erf(elementwise.find_root(excess, bracket, args=(load, ratio)).x))


def storage_load(ratio: ArrayLike) -> Float:
    """Load up to which stored patterns are retained.

    Args:
        ratio: features for each neuron, δ = D/N > 0.

    Returns:
        0.0853 at δ = 0.5, and 0.1379 for δ → ∞, as of independent patterns.
    """
    ratio = reals("ratio", ratio, above=0)
    return plain(_pattern(_field_of_largest_load(ratio), ratio).load)


def pattern_overlap(load: ArrayLike, ratio: ArrayLike) -> Float:
    """Overlap of the state at a stored pattern with that pattern; nan above the `storage_load`.

    Args:
        load: α = M/N, > 0.
        ratio: features for each neuron, δ = D/N > 0.
    """
    load, ratio = np.broadcast_arrays(reals("load", load, above=0), reals("ratio", ratio, above=0))

    def excess(field: Float, load: Float, ratio: Float) -> Float:
        return _pattern(field, ratio).load - load

    bracket = (_field_of_largest_load(ratio), 2 + 1 / np.sqrt(load))  # r exceeds α, and m/√r lies below 1/√α
    field = elementwise.find_root(excess, bracket, args=(load, ratio)).x
    return plain(_pattern(field, ratio).overlap)


def _feature(y: Float, ratio: Float) -> Float:
    """1/ν of the state with an overlap of erf(y) with a feature; at most 0 where no load has that state."""
    overlap = erf(y)
    response = 2 / np.sqrt(np.pi) * y * np.exp(-(y**2)) / overlap  # U
    crosstalk = 1 / (1 - response) ** 2
    others = _LINEAR * (crosstalk + overlap**2 / ratio) + 1 - _LINEAR  # Σ without itself
    borne = (overlap**2 / (2 * y**2 * ratio) - crosstalk) / (1 / _LINEAR - 1 + crosstalk)  # Σ/ν
    return borne / (others + _LINEAR * response**2 * crosstalk * borne)


def _y_of_least_load(ratio: Float) -> Float:
    return elementwise.find_minimum(lambda y, ratio: -_feature(y, ratio), _FEATURE, args=(ratio,)).x


class _Pattern(NamedTuple):
    """State at a stored pattern."""

    load: Float
    ratio: Float
    overlap: Float


def _explicit(field: Float, slope: Float) -> _Pattern:
    """The state of m/√r = field and t w/√r = slope, whose load and ratio follow."""
    scale = np.sqrt(1 + slope**2)
    density = np.sqrt(2 / np.pi) / scale * np.exp(-((field / scale) ** 2) / 2)
    density = density * erfc(slope * field / scale / np.sqrt(2))  # C√r
    overlap = erf(field / scale / np.sqrt(2)) + 4 * owens_t(field / scale, slope)
    along = np.sqrt(2 / np.pi) * erf(field / np.sqrt(2)) + slope * density  # w
    gain = slope / along  # t/√r
    response = gain * density
    crosstalk = 1 / (1 - response) ** 2
    rest = 1 - _LINEAR
    free, weight = rest + _LINEAR * crosstalk, rest / _LINEAR + crosstalk
    borne = overlap / field - density * free
    ratio = (borne / gain - _LINEAR * along**2 * weight) / (crosstalk * gain * borne + free * weight)
    strength = gain * (overlap / field - density * (rest + _LINEAR / (1 - response)))  # ν
    return _Pattern(ratio * strength / _LINEAR, ratio, overlap)


def _pattern(field: Float, ratio: Float) -> _Pattern:
    """The state of m/√r = field at a ratio: features weaken as the slope of the field along u falls."""

    def excess(log_slope: Float, field: Float, ratio: Float) -> Float:
        return _explicit(field, np.exp(log_slope)).ratio - ratio

    field, ratio = np.broadcast_arrays(field, ratio)
    bracket = (np.log(1e-3 / field / (1 + ratio)), np.full(field.shape, np.log(2.0)))
    return _explicit(field, np.exp(elementwise.find_root(excess, bracket, args=(field, ratio)).x))


def _field_of_largest_load(ratio: Float) -> Float:
    return elementwise.find_minimum(lambda field, ratio: -_pattern(field, ratio).load, _PATTERN, args=(ratio,)).x
