"""Replica theory beyond the classical symmetric one: dense memories at any temperature, and broken symmetry.

Dense memories, E = −Σ_μ N m_μⁿ/n with M = αN^(n−1) patterns and n ≥ 3: the crosstalk is a Gaussian energy whose
covariance N α D(q) depends on the overlap q of two states alone, D'(q) = C(q) = ⟨s^(n−1) s'^(n−1)⟩ of normal s and s'
with correlation q; C(1) = (2n−3)!!. Replica symmetric:

    m = ⟨tanh β(m^(n−1) + √(αC(q)) z)⟩      q = ⟨tanh² …⟩
    f = (n−1)mⁿ/n − (αβ/2)[D(1) − D(q) − (1−q)C(q)] − T⟨ln 2cosh …⟩

Symmetry is broken where T² < α C'(q) ⟨sech⁴ …⟩ (de Almeida & Thouless 1978); for Hebb's rule, with the susceptibility
χ = (1−q)/T, where T²(1−χ)² < α ⟨sech⁴ …⟩.

Source: Gardner 1987 for dense couplings, here with repeated indices as in Krotov & Hopfield 2016; Amit, Gutfreund &
Sompolinsky 1987, "AGS", for Hebb's rule; Steffan & Kühn 1994 for one step of symmetry breaking.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple, cast

import numpy as np
from numpy.polynomial import hermite_e
from numpy.typing import ArrayLike
from scipy.optimize import brentq, minimize_scalar
from scipy.special import factorial

from hopfield._arguments.host import Float, plain, real, reals, whole_number
from hopfield.theory import classical
from hopfield.theory.saddle import COLDEST, field_averages

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(300)
_STEPS = 2000
_RATIOS = np.linspace(0.02, 0.9, 177)
_LOST = 0.4  # overlap below which no retrieval state of n >= 3 exists


class DenseReplica(NamedTuple):
    """Order parameters of a dense memory and its free energy per neuron, replica symmetric."""

    overlap: float
    q: float
    free_energy: float
    stable: bool
    """True if symmetry is unbroken (above the AT line)."""


def covariance(degree: int, q: ArrayLike) -> Float:
    """⟨sᵏ s'ᵏ⟩ = Σ_j j! c_j² qʲ of normal s and s' with correlation q; k = degree, c_j are Hermite coefficients of sᵏ.

    Args:
        degree: k >= 0; 1 + 2q² at k = 2, 9q + 6q³ at k = 3.
        q: −1 to 1.
    """
    weights = _weights_of(whole_number("degree", degree, least=0))
    return plain(np.polynomial.polynomial.polyval(reals("q", q, least=-1, most=1), weights))


def _weights_of(degree: int) -> Float:
    power = np.zeros(degree + 1)
    power[degree] = 1.0
    coefficients = hermite_e.poly2herme(power)
    return factorial(np.arange(degree + 1)) * coefficients**2


def dense_replica(load: float, degree: int, temperature: float, *, retrieval: bool = True) -> DenseReplica:
    """Replica-symmetric state of a dense memory: the retrieval state of largest overlap, or the state without overlap.

    Args:
        load: α = M/N^(n−1), >= 0.
        degree: n >= 3.
        temperature: T >= 0, in units in which the field of a pattern on itself is 1.
        retrieval: whether to start from a pattern; NaN everywhere if that ends without overlap.
    """
    degree = whole_number("degree", degree, least=3)
    load = real("load", load, least=0)
    temperature = max(real("temperature", temperature, least=0), COLDEST)
    noise = lambda q: load * float(covariance(degree - 1, q))
    m, q = (1.0, 1.0) if retrieval else (0.0, 0.5)
    average = None
    for _ in range(_STEPS):
        spread = np.sqrt(noise(q))
        if m == 0 and spread == 0:
            return DenseReplica(0.0, 0.0, _free_energy(degree, load, temperature, 0.0, 0.0), True)
        average = field_averages(*(np.array(x / temperature) for x in (m ** (degree - 1), spread)))
        new = float(average.tanh) if retrieval else 0.0, float(average.tanh2)
        moved = abs(new[0] - m) + abs(new[1] - q)
        m, q = new
        if moved < 1e-11 or (retrieval and m < _LOST):
            break
    if retrieval and m < _LOST:
        return DenseReplica(np.nan, np.nan, np.nan, False)
    slope = load * float(np.polynomial.polynomial.polyval(q, np.polynomial.polynomial.polyder(_weights_of(degree - 1))))
    broken = temperature**2 < slope * _sech4(m ** (degree - 1), np.sqrt(noise(q)), temperature)
    return DenseReplica(m, q, _free_energy(degree, load, temperature, m, q), not broken)


def _free_energy(degree: int, load: float, temperature: float, m: float, q: float) -> float:
    energy = lambda q: float(covariance(degree, q)) / degree**2
    crosstalk = energy(1.0) - energy(q) - (1 - q) * float(covariance(degree - 1, q))
    spread = np.sqrt(load * float(covariance(degree - 1, q)))
    if m == 0 and spread == 0:
        entropy = np.log(2.0)
    else:
        entropy = float(field_averages(*(np.array(x / temperature) for x in (m ** (degree - 1), spread))).log_cosh)
    return (degree - 1) * m**degree / degree - load / (2 * temperature) * crosstalk - temperature * entropy


def dense_spinodal_temperature(load: float, degree: int) -> float:
    """Temperature above which a dense memory of degree n has no retrieval state, replica symmetric.

    Args:
        load: α >= 0.
        degree: n >= 3.
    Returns:
        To 1e-4; NaN where there is none at any temperature. The largest load that has one is at a T above 0, a few per
        cent above `dense.spinodal(n).load`; below that temperature the state may be lost again.
    """

    degree = whole_number("degree", degree, least=3)

    def exists(temperature: float) -> bool:
        return bool(np.isfinite(dense_replica(load, degree, temperature).overlap))

    low, high = _turn(degree), 1.0
    if not exists(low):
        return np.nan
    while high - low > 1e-4:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if exists(middle) else (low, middle)
    return low


@cache
def _turn(degree: int) -> float:
    """Temperature at which a dense memory has retrieval states up to the largest load."""
    return float(
        minimize_scalar(lambda t: -dense_spinodal_load(degree, t), bounds=(0.01, 0.5), options={"xatol": 1e-3}).x
    )


def dense_spinodal_load(degree: int, temperature: float) -> float:
    """Largest load α at which a dense memory of degree n has a retrieval state, replica symmetric.

    Symmetry is broken along it (`dense_replica(...).stable`) below T = 0.14 at n = 3, below 0.10 at n = 4.

    Explicit in w = noise/m^(n−1), as for Hebb's rule: the top of a parabola through the largest of 177 values, then
    through the largest of 33 around it, whose iterations are carried further.

    Args:
        degree: n >= 3.
        temperature: T > 0, in units in which the field of a pattern on itself is 1.
    Returns:
        To 2e-4, relative; 0 if no retrieval state exists without load either.
    """
    degree = whole_number("degree", degree, least=3)
    temperature = real("temperature", temperature, above=0)
    ratios, loads, top = _RATIOS, np.zeros_like(_RATIOS), 0
    for steps in (120, _STEPS):
        m = np.ones_like(ratios)
        for _ in range(steps):
            field = np.maximum(m, 1e-3) ** (degree - 1) / temperature
            m = field_averages(field, ratios * field).tanh
        field = np.maximum(m, 1e-3) ** (degree - 1)
        q = field_averages(field / temperature, ratios * field / temperature).tanh2
        loads = np.where(m > _LOST, (ratios * field) ** 2 / covariance(degree - 1, q), 0.0)
        top = int(np.clip(np.argmax(loads), 1, len(loads) - 2))
        if steps != _STEPS:
            ratios = np.linspace(ratios[top - 1] if top > 1 else 1e-3, ratios[top + 1], 33)
    left, middle, right = loads[top - 1 : top + 2]
    bend = left - 2 * middle + right
    return float(middle - (right - left) ** 2 / (8 * bend)) if bend < 0 and right > 0 else float(middle)


def almeida_thouless_temperature(load: float) -> float:
    """Temperature below which the retrieval state of Hebb's rule is not replica symmetric, T²(1−χ)² = α ⟨sech⁴⟩.

    Args:
        load: α, above 0 and below the capacity 0.1379.
    Returns:
        T_R(α), near √(8α/9π) e^(−1/2α) for small α (AGS 1987); NaN if below 1e-4.
    """
    load = real("load", load, above=0, below=float(classical.spinodal().load))

    def margin(log_temperature: float) -> float:
        temperature = float(np.exp(log_temperature))
        state = classical.replica(load, temperature)
        response = (1 - float(state.q)) / temperature
        stiff = temperature**2 * (1 - response) ** 2
        return stiff - load * _sech4(float(state.overlap), np.sqrt(load * float(state.r)), temperature)

    low, high = np.log(1e-4), np.log(0.9 * float(classical.spinodal_temperature(load)))
    if margin(low) > 0:
        return float("nan")
    return float(np.exp(cast(float, brentq(margin, low, high, xtol=1e-9))))


def _sech4(mean: float, deviation: float, temperature: float) -> float:
    """⟨sech⁴(h/T)⟩ over h normal of a mean and a deviation above 0."""
    reach = np.array([max(-20 * temperature, mean - 9 * deviation), min(20 * temperature, mean + 9 * deviation)])
    if reach[1] <= reach[0]:
        return 0.0
    h = reach.mean() + 0.5 * (reach[1] - reach[0]) * _NODES
    density = np.exp(-0.5 * ((h - mean) / deviation) ** 2) / (deviation * np.sqrt(2 * np.pi))
    return float(0.5 * (reach[1] - reach[0]) * np.sum(_WEIGHTS * density / np.cosh(h / temperature) ** 4))
