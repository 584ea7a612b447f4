"""Averages of e^(κt) over the overlap t of a random pattern with a state: on the sphere, of spins, of Gaussians."""

from collections.abc import Callable
from typing import Literal, NamedTuple, get_args

import numpy as np
from scipy.special import betaln, chdtri

from hopfield._arguments.host import Float
from hopfield._arguments.words import one_of

Ensemble = Literal["sphere", "spins", "gaussian"]
ENSEMBLES: tuple[Ensemble, ...] = get_args(Ensemble)
_GRID = np.linspace(-1, 1, 601)


class Average(NamedTuple):
    """Averages over t = x·ξ with its density times e^(κt), written so that nothing cancels as t → 1."""

    gap: Float  # κ − ln E(κ)
    miss: Float  # 1 − ⟨t⟩ = 1 − A(κ)
    variance: Float  # of t, the slope of ⟨t⟩ in κ
    rate: Float  # slope of the gap in κ: the miss, times the squared norm of the pattern


Averages = Callable[[Float, Float], Average]


def spins(neurons: Float, kappa: Float) -> Average:
    """N independent components of ±1/N in the field κ."""
    beta = kappa / neurons
    miss = 2 / (np.exp(np.minimum(2 * beta, 700.0)) + 1)
    gap = neurons * (np.log(2) - np.log1p(np.exp(-2 * beta)))
    return Average(gap, miss, miss * (2 - miss) / neurons, miss)


def gaussian(neurons: Float, kappa: Float) -> Average:
    """Normal t of variance r/N in a state of squared norm r, the median of a Gaussian pattern's."""
    norm = chdtri(neurons, 0.5) / neurons
    miss = 1 - kappa / neurons
    return Average(norm * kappa * (1 + miss) / 2, miss, 1 / neurons, norm * miss)


def sphere(neurons: Float, kappa: Float) -> Average:
    """Density ∝ (1−t²)^((d−3)/2) e^(κt), by the trapezoidal rule in w = artanh t.

    The integrand exp(κ tanh w − (d−1) ln cosh w) has one peak.
    """
    power = neurons - 1
    top = 2 * kappa / (power + np.sqrt(power**2 + 4 * kappa**2))  # t at the peak
    centre = np.arcsinh(np.sqrt(top * kappa / power))
    cosh = np.cosh(centre)
    half_width = 9 * cosh / np.sqrt(2 * kappa * top + power) + 40 / power
    w = centre[..., None] + half_width[..., None] * _GRID
    ratio = np.cosh(w) / cosh[..., None]
    drop = kappa[..., None] * np.sinh(w - centre[..., None]) / (np.cosh(w) * cosh[..., None])
    measure = np.exp(drop - power[..., None] * np.log(ratio))
    total = np.sum(measure, axis=-1)
    below_one = 2 / (np.exp(2 * w) + 1)  # 1 − tanh w
    miss = np.sum(measure * below_one, axis=-1) / total
    variance = np.sum(measure * (below_one - miss[..., None]) ** 2, axis=-1) / total
    log_integral = np.log(total * half_width * (_GRID[1] - _GRID[0])) - power * np.log(cosh)
    gap = kappa * 2 / (np.exp(2 * centre) + 1) - log_integral + betaln(0.5, power / 2)
    return Average(gap, miss, variance, miss)


def averages_of(ensemble: Ensemble | str) -> Averages:
    """Averages of an ensemble, as a function of N and κ. ValueError for an unknown one."""
    named = {"sphere": sphere, "spins": spins, "gaussian": gaussian}
    return named[one_of("ensemble", ensemble, ENSEMBLES)]
