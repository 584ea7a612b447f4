"""Diluted asymmetric couplings (Derrida, Gardner & Zippelius 1987): one overlap tells all, at every time.

Each neuron has K inputs that are drawn for it alone, J_ij = Σ_μ ξ_i^μ ξ_j^μ / K, and all neurons step in parallel at
temperature T, up with probability ½(1 + tanh(h/T)). While ln K ≪ ln N the inputs of a neuron share no history, so that
the overlap of one step is a function of the overlap before.
"""

from __future__ import annotations

from typing import cast

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq
from scipy.special import erf
from scipy.stats import binom, poisson

from hopfield._arguments.host import Float, plain, real, reals, whole_number

_NODES = np.linspace(-20.0, 20.0, 4001)
_WEIGHTS = 0.5 * (_NODES[1] - _NODES[0]) / np.cosh(_NODES) ** 2
"""Noise u of density ½ sech² u: the mean sign of h + T u is tanh(h/T)."""


def next_overlap(load: ArrayLike, overlap: ArrayLike, temperature: ArrayLike = 0.0) -> Float:
    """Overlap after a step for K → ∞, ⟨tanh((m + √α z)/T)⟩ over Gaussian z; erf(m/√(2α)) at T = 0.

    Args:
        load: α = M/K > 0, patterns for each input.
        overlap: m before the step, −1 to 1.
        temperature: T >= 0.
    Source: Derrida, Gardner & Zippelius 1987, Europhys. Lett. 4, 167.
    """
    m, load = reals("overlap", overlap, least=-1, most=1), reals("load", load, above=0)
    heat = reals("temperature", temperature, least=0)
    field = np.expand_dims(m, -1) + np.expand_dims(heat, -1) * _NODES
    return plain(erf(field / np.sqrt(2 * np.expand_dims(load, -1))) @ _WEIGHTS)


def last_overlap(load: ArrayLike, temperature: ArrayLike = 0.0) -> Float:
    """Overlap at which a network that starts in a pattern ends, for K → ∞; 0 from `critical_load` on.

    Args:
        load: α = M/K > 0.
        temperature: T >= 0.
    """
    load, heat = reals("load", load, above=0), reals("temperature", temperature, least=0)
    return plain(np.vectorize(_last, otypes=[float])(load, heat))


def _last(load: float, heat: float) -> float:
    """The one root above 0 of f(m) = m, f being concave there; 0 if none lies above 1e-9."""
    rise = lambda m: float(next_overlap(load, m, heat)) - m
    return float(cast(float, brentq(rise, 1e-9, 1.0, xtol=1e-14))) if rise(1e-9) > 0 else 0.0


def critical_load(temperature: float = 0.0) -> float:
    """Load α = M/K at which the overlap vanishes, continuously: 2/π at T = 0, nan from T = 1 on.

    There the slope of `next_overlap` at m = 0 is one.

    Args:
        temperature: T >= 0.
    """
    heat = real("temperature", temperature, least=0)
    slope = lambda load: np.exp(-((heat * _NODES) ** 2) / (2 * load)) @ _WEIGHTS * np.sqrt(2 / (np.pi * load)) - 1
    return float(cast(float, brentq(slope, 1e-6, 1.0, xtol=1e-15))) if heat < 1 else float("nan")


def next_overlap_of_inputs(inputs: int, num_patterns: int, overlap: ArrayLike) -> Float:
    """Overlap after a step at T = 0 for K inputs and M patterns, exact where inputs share no history.

    The field along the pattern is a sum of K signs of mean m and K (M − 1) fair ones. A field of zero keeps the spin.

    Args:
        inputs: K >= 1.
        num_patterns: M >= 1.
        overlap: m before the step, −1 to 1.
    """
    m = reals("overlap", overlap, least=-1, most=1)
    count = whole_number("inputs", inputs, least=1)
    others = count * (whole_number("num_patterns", num_patterns, least=1) - 1)
    signal = 2 * np.arange(count + 1) - count
    above = binom.sf((others - signal) // 2, others, 0.5)  # Σ of fair signs > −signal
    ties = np.where((others - signal) % 2 == 0, binom.pmf((others - signal) // 2, others, 0.5), 0.0)
    share = binom.pmf(np.arange(count + 1), count, (1 + m[..., None]) / 2)
    return plain(np.sum(share * (2 * above + ties * (1 + m[..., None]) - 1), axis=-1))


def last_overlap_of_inputs(inputs: float, num_patterns: int) -> float:
    """Overlap at which a network that starts in a pattern ends at T = 0, each input drawn by itself, for N → ∞.

    The number of inputs of a neuron is a Poisson number of mean K; `next_overlap_of_inputs` is averaged over it.

    Args:
        inputs: K > 0, at most 1000.
        num_patterns: M >= 1.
    """
    mean, count = real("inputs", inputs, above=0, most=1000), whole_number("num_patterns", num_patterns, least=1)
    numbers = np.arange(int(poisson.ppf(1e-9, mean)), int(poisson.isf(1e-9, mean)) + 1)
    chance = poisson.pmf(numbers, mean) / np.sum(poisson.pmf(numbers, mean))

    def rise(m: float) -> float:
        after = [next_overlap_of_inputs(int(k), count, m) if k else m for k in numbers]
        return float(chance @ np.array(after)) - m

    return float(cast(float, brentq(rise, 1e-4, 1.0, xtol=1e-9))) if rise(1e-4) > 0 else 0.0
