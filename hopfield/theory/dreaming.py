"""Couplings after a sleep of length t, W = (1+t) Ξᵀ(1 + tC)⁻¹Ξ/N with C = ΞΞᵀ/N: replica-symmetric theory at T = 0.

With y = Ξᵀu/√N, u = Ξb/√N and b = √(1+t) σ − t y, the fields of the spins σ are √(1+t) y. A neuron's y is Γb and a
Gaussian of mean U = ⟨ξb⟩ and variance A, Γ = α/(1 − χ) and A = αq/(1 − χ)², q = ⟨b²⟩, χ the response of b:

    σ = sgn(U + √A z),  b (1 + tΓ) = √(1+t) σ − t (U + √A z),  m = erf(y), y = U/√(2A)

Without sleep b = σ, and these are the equations of Amit, Gutfreund & Sompolinsky. y leaves a cubic for
Γ, and its largest root, which goes on from t = 0, the load. Couplings W_ii of a neuron to itself do not matter to
states that no flip of a spin lowers.

Source: Fachechi, Agliari & Barra 2019 (arXiv:1810.12217) for the model; Dotsenko, Yarunin & Dorotheyev 1991 for t → ∞.
"""

from __future__ import annotations

from functools import cache
from typing import cast

import numpy as np
from numpy.polynomial import Polynomial
from numpy.typing import ArrayLike
from scipy.optimize import brentq, minimize_scalar
from scipy.special import erf, erfc

from hopfield._arguments.host import Float, plain, real, reals
from hopfield.theory.base import Spinodal


def spinodal(time: float) -> Spinodal:
    """Largest load M/N with a retrieval state after a sleep of length t, and the overlap there.

    Args:
        time: t >= 0.

    Returns:
        load 0.1379 at t = 0, as of Hebb's rule, 0.3866 at 1, 0.8698 at 10; 1.0678 for t → ∞, beyond M = N, where the
        couplings are the projection's no more.
    """
    y = _turn(real("time", time, least=0))
    return Spinodal(plain(np.asarray(_load(y, time))), plain(erf(y)))


@cache
def _turn(time: float) -> float:
    """The y at which the load is largest."""
    found = minimize_scalar(lambda y: -_load(y, time), bounds=(0.7, 4.0), method="bounded", options={"xatol": 1e-9})
    return float(found.x)


def retrieval_overlap(load: ArrayLike, time: float) -> Float:
    """Overlap of the retrieval state with its pattern. Nan at loads without one.

    Args:
        load: α = M/N >= 0.
        time: t >= 0.
    """
    load, time = reals("load", load, least=0), real("time", time, least=0)
    return plain(np.vectorize(_overlap, otypes=[float])(load, time))


def _overlap(load: float, time: float) -> float:
    turn = _turn(time)
    if load == 0 or not load <= _load(turn, time):
        return 1.0 if load == 0 else np.nan
    return float(erf(cast(float, brentq(lambda y: _load(y, time) - load, turn, (1 + time) * max(10.0, 1 / load)))))


def _load(y: float, time: float) -> float:
    """Load at which m = erf(y). Γ is the largest root of a cubic, in units in which t may be as large as it likes."""
    slept, awake, m = time / (1 + time), 1 / (1 + time), erf(y)
    steep, spread, lost = 2 * y * np.exp(-(y**2)) / (np.sqrt(np.pi) * m), 1 / (2 * y**2), erfc(y) * (1 + m)
    whole, rest, gain = Polynomial([1, slept]), Polynomial([awake, slept]), Polynomial([0, 1])
    b_squared = rest**2 + 2 * slept * (lost - m**2 * steep * spread) * whole - slept**2 * (lost - m**2 * spread)
    roots = (gain * b_squared - m**2 * (1 - steep) * spread * rest * whole).roots()
    found = float(np.max(roots.real[np.abs(roots.imag) < 1e-9 * np.abs(roots)]))
    return float(found * (1 - steep) * (1 + slept * found) / (awake + slept * found))
