"""Saddle points of the replica-symmetric free energy of the classical network, as explicit functions.

At temperature T a neuron feels the Gaussian field m + s z, with overlap m and crosstalk s = √(αr). The saddle-point
equations are usually solved for (m, q, r) at given α and T, where iterations lose the retrieval branch near its end.
At fixed T and noise ratio w = s/m they are explicit instead: m = ⟨tanh(m(1 + wz)/T)⟩ has exactly one positive root
for T < 1, because the average is concave in m, and the load then follows from r = q/(1−C)², αr = s². The retrieval
branch is the part of the curve from w = 0 to the maximum of the load.

Source: Amit, Gutfreund, Sompolinsky, Phys. Rev. Lett. 55, 1530 (1985); Ann. Phys. 173, 30 (1987).
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import elementwise
from scipy.special import erf, erfc

from hopfield._arguments.host import Float

COLDEST = 1e-12  # stands for T = 0: every order parameter shifts by O(T)
_REACH = 9.0  # a Gaussian holds 2e-19 of its weight beyond nine deviations
_SATURATED = 20.0  # 1 − tanh(20) = 8e-18
_BRACKET = (0.25, 0.47, 0.8)  # the load's maximum over w moves only between 0.468 and 0.479 for 0 <= T < 1
_nodes, _weights = np.polynomial.legendre.leggauss(80)
_NODES, _WEIGHTS = (1 + _nodes) / 2, _weights / 2


class FieldAverages(NamedTuple):
    """Averages over a Gaussian field h = mean + deviation·z, in units of the temperature."""

    tanh: Float
    tanh2: Float
    sech2: Float
    field_sech2: Float
    log_cosh: Float  # of ln 2cosh h


def field_averages(mean: Float, deviation: Float) -> FieldAverages:
    """Average functions of h = mean + deviation·z over the standard normal z, to 2e-14 for fields of any size.

    The saturated values (sign h, |h|) have closed forms; the difference from them lives at |h| < 20 and |z| < 9, and
    one Gauss–Legendre rule on that interval resolves both a field far wider and far narrower than its tanh.

    Args:
        mean: mean field, >= 0, any shape.
        deviation: standard deviation of the field, >= 0 and not 0 together with `mean`, same shape.
    """
    u, v = mean[..., None], deviation[..., None]
    with np.errstate(divide="ignore", over="ignore", under="ignore", invalid="ignore"):
        y = u / v
        z_low = np.maximum(-y, -_REACH)
        z_high = np.clip((_SATURATED - u) / v, z_low, _REACH)
        h_low = np.maximum(u - _REACH * v, 0.0)
        h_high = np.clip(_SATURATED, h_low, u + _REACH * v)
        z, h = z_low + (z_high - z_low) * _NODES, h_low + (h_high - h_low) * _NODES
        # the shorter way round: one difference cancels for wide fields, the other for narrow ones
        length = np.where(v > 1e-3, (h_high - h_low) / v, z_high - z_low)
        measure = length * _WEIGHTS / np.sqrt(2 * np.pi)
        right, left = np.exp(-(z**2) / 2), np.exp(-((z + 2 * y) ** 2) / 2)  # densities at +h and −h
        beyond = erfc((_SATURATED - u) / v / np.sqrt(2)) + erfc((_SATURATED + u) / v / np.sqrt(2))
        sign = erf(y / np.sqrt(2))
        size = v * np.sqrt(2 / np.pi) * np.exp(-(y**2) / 2) + u * sign
        even, odd = measure * (right + left), measure * (right - left)
        decay = np.exp(-2 * h)
        sech2 = 4 * decay / (1 + decay) ** 2
        tanh2 = ((1 - decay) / (1 + decay)) ** 2
    return FieldAverages(
        tanh=sign[..., 0] - np.sum(odd * 2 * decay / (1 + decay), axis=-1),
        tanh2=np.minimum(beyond[..., 0] / 2 + np.sum(even * tanh2, axis=-1), 1.0),
        sech2=np.sum(even * sech2, axis=-1),
        field_sech2=np.sum(odd * h * sech2, axis=-1),
        log_cosh=size[..., 0] + np.sum(even * np.log1p(decay), axis=-1),
    )


class Saddle(NamedTuple):
    """One saddle point: order parameters, the load it belongs to and its free energy per neuron."""

    overlap: Float
    q: Float
    susceptibility: Float  # C = (1 − q)/T
    root_load: Float  # √α, linear in w at small loads
    free_energy: Float

    @property
    def r(self) -> Float:
        """Mean squared overlap with the other patterns in units of α: r = q/(1 − C)²."""
        return self.q / (1 - self.susceptibility) ** 2


def _saddle(overlap: Float, noise: Float, temperature: Float) -> Saddle:
    average = field_averages(overlap / temperature, noise / temperature)
    q, c = average.tanh2, average.sech2 / temperature
    root_load = noise * (1 - c) / np.sqrt(q)
    # α and αr are written as root_load² and noise², so that neither is ever divided by a vanishing load
    with np.errstate(invalid="ignore"):  # a bracket of the spin-glass solution begins where C > 1
        crosstalk = root_load**2 * (1 + temperature * np.log1p(-c) - q / (1 - c)) + noise**2 * c
    free_energy = (overlap**2 + crosstalk) / 2 - temperature * average.log_cosh
    return Saddle(overlap, q, c, root_load, free_energy)


def retrieval_saddle(ratio: Float, temperature: Float) -> Saddle:
    """Saddle point with overlap m > 0 whose crosstalk is s = ratio·m, for COLDEST <= temperature < 1.

    Newton's method on the concave m ↦ ⟨tanh(m(1 + wz)/T)⟩ − m, started to the right of its root at the
    zero-temperature value erf(1/(w√2)), descends to the root monotonically.
    """
    ratio, temperature = np.broadcast_arrays(ratio, temperature)
    with np.errstate(divide="ignore"):
        overlap = erf(1 / (ratio * np.sqrt(2)))
    for _ in range(100):
        average = field_averages(overlap / temperature, ratio * overlap / temperature)
        step = (average.tanh - overlap) / (average.field_sech2 / overlap - 1)
        overlap = overlap - step
        if np.all(np.abs(step) <= 1e-8 * overlap):  # convergence is quadratic: the next step is below rounding
            break
    return _saddle(overlap, ratio * overlap, temperature)


def spin_glass_saddle(root_load: Float, temperature: Float) -> Saddle:
    """Saddle point with overlap 0 and q > 0, for COLDEST <= temperature < 1 + root_load.

    s(1 − C)/√q rises with s from T − 1 to infinity, and exceeds s − √(2/π): the bracket always holds one root.
    """
    root_load, temperature = np.broadcast_arrays(root_load, temperature)
    low, high = np.full(root_load.shape, 1e-9), root_load + 1.0

    def excess(noise: Float, target: Float, temperature: Float) -> Float:
        return _saddle(np.zeros_like(noise), noise, temperature).root_load - target

    noise = elementwise.find_root(excess, (low, high), args=(root_load, temperature)).x
    return _saddle(np.zeros_like(noise), noise, temperature)


def spinodal_ratio(temperature: Float) -> Float:
    """Noise ratio w = s/m at which the load is largest, where the retrieval state ends, for temperature < 1."""
    levels, position = np.unique(temperature, return_inverse=True)
    minimum = elementwise.find_minimum(
        lambda ratio, temperature: -retrieval_saddle(ratio, temperature).root_load, _BRACKET, args=(levels,)
    )
    return minimum.x[position].reshape(np.shape(temperature))


def retrieval_ratio(root_load: Float, temperature: Float) -> Float:
    """Noise ratio w = s/m of the retrieval state at a load, nan beyond its spinodal, for temperature < 1."""

    def excess(ratio: Float, target: Float, temperature: Float) -> Float:
        return retrieval_saddle(ratio, temperature).root_load - target

    # q >= m² gives √α <= w: half of it lies strictly below the root even after rounding
    bracket = (root_load / 2, spinodal_ratio(temperature))
    return elementwise.find_root(excess, bracket, args=(root_load, temperature)).x
