"""Classical network (Hebb couplings W = ΞᵀΞ/N): replica-symmetric theory, its lines and the exact one-step error.

The load is α = M/N, the temperature T = 1/β belongs to E = −½ Σ_{i≠j} W_ij x_i x_j, and all thermodynamic functions
are for N → ∞ and replica symmetric. Symmetry is broken at low temperatures, where the lines α_M(T) and α_1(T) of
this theory bend back (Naef and Canning, J. Phys. I France 2, 247, 1992); the effect is in the third digit: one step
of symmetry breaking moves α_c at T = 0 from 0.137906 to 0.138186 (Steffan and Kühn, Z. Phys. B 95, 249, 1994).

Source: Amit, Gutfreund, Sompolinsky, Phys. Rev. Lett. 55, 1530 (1985) and Ann. Phys. 173, 30 (1987), "AGS" below.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import elementwise
from scipy.special import erf, erfc

from hopfield._arguments.host import Float, flag, plain, reals, whole_numbers
from hopfield.theory import lines
from hopfield.theory.base import Spinodal, flips
from hopfield.theory.saddle import (
    COLDEST,
    Saddle,
    retrieval_ratio,
    retrieval_saddle,
    spin_glass_saddle,
)
from hopfield.theory.sums import fair_signs_below


class Replica(NamedTuple):
    """Order parameters of a replica-symmetric phase and its free energy per neuron."""

    overlap: Float
    q: Float
    r: Float
    free_energy: Float


@cache
def spinodal() -> Spinodal:
    """Replica-symmetric capacity at zero temperature: α_c = max_y ½ [erf(y)/y − (2/√π) e^(−y²)]², with m_c = erf(y).

    Returns:
        load 0.1379056 and overlap 0.967417.

    Source: AGS 1985; eliminating r and C from m = erf(y), y = m/√(2αr), leaves one function of y.
    """

    def slope(y: Float) -> Float:  # of the bracket, times y²
        return 2 / np.sqrt(np.pi) * np.exp(-(y**2)) * (y + 2 * y**3) - erf(y)

    y = elementwise.find_root(slope, (1.0, 2.0)).x
    load = (erf(y) / y - 2 / np.sqrt(np.pi) * np.exp(-(y**2))) ** 2 / 2
    return Spinodal(plain(load), plain(erf(y)))


def replica(load: ArrayLike, temperature: ArrayLike = 0.0) -> Replica:
    """Replica-symmetric retrieval state: overlap m, q, r and free energy per neuron.

    m = ⟨tanh β(m + √(αr) z)⟩,  q = ⟨tanh² …⟩,  r = q/(1 − β(1−q))²,
    f = α/2 + m²/2 + αβr(1−q)/2 + (α/2β)[ln(1 − β(1−q)) − βq/(1 − β(1−q))] − T⟨ln 2cosh β(m + √(αr) z)⟩

    Args:
        load: α = M/N, >= 0.
        temperature: T >= 0.

    Returns:
        The solution with the largest overlap, to about 1e-12; nan in every field where there is none, that is
        above `spinodal_load(temperature)` and for T >= 1.

    Source: AGS 1985, 1987.
    """
    root_load, temperature = _conditions(load, temperature)
    retrievable = temperature < 1
    cold = np.where(retrievable, temperature, 0.5)
    ratio = np.where(retrievable, retrieval_ratio(root_load, cold), np.nan)
    return _public(retrieval_saddle(ratio, cold))


def retrieval_overlap(load: ArrayLike, temperature: ArrayLike = 0.0) -> Float:
    """Replica-symmetric overlap m of the retrieval state with its pattern, at load α >= 0 and temperature T >= 0.

    Nan where there is no such state.
    """
    return replica(load, temperature).overlap


def spin_glass(load: ArrayLike, temperature: ArrayLike = 0.0) -> Replica:
    """Replica-symmetric state without macroscopic overlap: spin glass below T_g = 1 + √α, paramagnet (q = r = 0) above.

    Args:
        load: α = M/N, > 0.
        temperature: T >= 0.
    """
    root_load, temperature = _conditions(load, temperature, positive=True)
    frozen = temperature < 1 + root_load
    glass = _public(spin_glass_saddle(root_load, np.where(frozen, temperature, 0.5)))
    warm = np.where(frozen, 2 + root_load, temperature)
    paramagnet = root_load**2 / 2 * (1 + warm * np.log1p(-1 / warm)) - warm * np.log(2)
    q, r = (plain(np.where(frozen, value, 0.0)) for value in (glass.q, glass.r))
    return Replica(glass.overlap, q, r, plain(np.where(frozen, glass.free_energy, paramagnet)))


def spinodal_load(temperature: ArrayLike = 0.0) -> Float:
    """Largest load α_M(T) with a replica-symmetric retrieval state. It is 0.1379056 at T = 0 and 0 from T = 1 on.

    Args:
        temperature: T >= 0.

    Source: AGS 1987. α_M first rises with T, to 0.138188 near T = 0.022 (Naef and Canning 1992).
    """
    return plain(lines.load(lines.spinodal, temperature))


def spinodal_temperature(load: ArrayLike) -> Float:
    """Temperature T_M(α) above which no retrieval state exists: 1 at α = 0, falling as 1 − 1.954√α.

    Args:
        load: α >= 0.

    Returns:
        The highest such temperature; nan for loads above the largest α_M(T), 0.138188.

    Source: AGS 1987, T_M = 1 − 1.95√α.
    """
    return plain(lines.temperature(lines.spinodal, load))


def thermodynamic_load(temperature: ArrayLike = 0.0) -> Float:
    """Load α_1(T) up to which the retrieval state, not the spin glass, has the lowest free energy.

    Args:
        temperature: T >= 0.

    Returns:
        0.0518543 at T = 0, 0 from T = 1 on.

    Source: AGS 1985 (0.051).
    """
    return plain(lines.load(lines.thermodynamic, temperature))


def thermodynamic_temperature(load: ArrayLike) -> Float:
    """Temperature T_c(α) below which the retrieval state has the lowest free energy: falls as 1 − 2.597√α.

    Args:
        load: α >= 0.

    Returns:
        The highest such temperature; nan for loads above the largest α_1(T), 0.05313 at T = 0.085.

    Source: AGS 1987, T_c = 1 − 2.6√α.
    """
    return plain(lines.temperature(lines.thermodynamic, load))


def spin_glass_temperature(load: ArrayLike) -> Float:
    """Temperature of the spin-glass transition, T_g = 1 + √α, for load α >= 0 (AGS 1985)."""
    return plain(1 + np.sqrt(reals("load", load, least=0)))


def one_step_error(
    neurons: ArrayLike, num_patterns: ArrayLike, corruption: ArrayLike = 0.0, *, self_coupling: bool = False
) -> Float:
    """Exact fraction of wrong spins after one synchronous step from a pattern with round(corruption·N) flipped spins.

    N times the field on spin i is Σ_{j≠i} ξ_j x_j, known exactly, plus a crosstalk that is a sum of (N−1)(M−1)
    independent fair signs: the error is a binomial tail at every N and M. A tie keeps the spin.

    Args:
        neurons: N >= 1.
        num_patterns: M >= 1, independent and unbiased.
        corruption: fraction of flipped spins, 0 to 1.
        self_coupling: keep W_ii = M/N, which adds M x_i to the field and holds the spins where they are.

    Returns:
        Probability that a spin, chosen at random among all, differs from the pattern after the step.
    """
    neurons, num_patterns = (
        whole_numbers("neurons", neurons, least=1),
        whole_numbers("num_patterns", num_patterns, least=1),
    )
    flipped = flips(reals("corruption", corruption, least=0, most=1), neurons)
    terms = (neurons - 1) * (num_patterns - 1)
    self_field = num_patterns if flag("self_coupling", self_coupling) else 0.0
    aligned = neurons - 2 * flipped
    # right spin: signal + crosstalk < 0; flipped spin, which a tie leaves wrong: signal + crosstalk <= 0
    from_right = fair_signs_below(-(aligned - 1 + self_field), terms)
    from_flipped = fair_signs_below(-(aligned + 1 - self_field) + 1, terms)
    return plain(((neurons - flipped) * from_right + flipped * from_flipped) / neurons)


def one_step_error_asymptotic(load: ArrayLike, corruption: ArrayLike = 0.0) -> Float:
    """Large-N limit of `one_step_error`: ½ erfc((1 − 2·corruption)/√(2α)).

    Args:
        load: α = M/N, > 0.
        corruption: fraction of flipped spins, 0 to 1.
    """
    overlap = 1 - 2 * reals("corruption", corruption, least=0, most=1)
    return plain(erfc(overlap / np.sqrt(2 * reals("load", load, above=0))) / 2)


def fixed_point_probability(neurons: ArrayLike, num_patterns: ArrayLike) -> Float:
    """Probability that a stored pattern is a fixed point, (1 − one_step_error)^N: its N spins taken as independent.

    Args:
        neurons: N >= 1.
        num_patterns: M >= 1, independent and unbiased.

    Returns:
        The probability for large N; too low by some 5 % at N = 100 and by less than 1 % from N = 500.

    Source: the Poisson limit of McEliece et al. 1987, here with the exact error of a spin.
    """
    survive = np.log1p(-one_step_error(neurons, num_patterns))
    return plain(np.exp(reals("neurons", neurons) * survive))


def mceliece(neurons: ArrayLike, *, all_patterns: bool = False) -> Float:
    """Number of patterns that are fixed points, to leading order in N: N/(2 ln N), or N/(4 ln N) for all at once.

    Args:
        neurons: N >= 2. Corrections are of relative order ln ln N / ln N: not sharp at N of a few thousand.
        all_patterns: ask that every pattern is a fixed point, not a given one.

    Source: McEliece, Posner, Rodemich, Venkatesh, IEEE Trans. Inf. Theory 33, 461 (1987).
    """
    neurons = reals("neurons", neurons, least=2)
    return plain(neurons / ((4 if flag("all_patterns", all_patterns) else 2) * np.log(neurons)))


def _conditions(load: ArrayLike, temperature: ArrayLike, *, positive: bool = False) -> tuple[Float, Float]:
    """√α and T, broadcast to one shape. T = 0 is replaced by a temperature too low to matter."""
    load = reals("load", load, above=0) if positive else reals("load", load, least=0)
    root_load, temperature = np.broadcast_arrays(np.sqrt(load), reals("temperature", temperature, least=0))
    return root_load, np.maximum(temperature, COLDEST)


def _public(saddle: Saddle) -> Replica:
    return Replica(plain(saddle.overlap), plain(saddle.q), plain(saddle.r), plain(saddle.free_energy))
