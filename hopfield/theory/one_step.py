"""One step of replica-symmetry breaking for Hebb's rule at zero temperature: the retrieval state and its capacity.

Neurons feel h = m + √(αr₀) z₀ + √(α(r₁−r₀)) z₁, z₁ weighted by e^(μ|h|); q₀ is the overlap of two of the states that a
pattern's state consists of, C the susceptibility. With Δ = 1 − C and E = Δ − μ(1−q₀), r₀ = q₀/E² and
r₁ = (1−q₀)/(EΔ) + r₀, the free energy

    f = m²/2 + (α/2)[r₁C + μ(r₁−r₀q₀) + ln(E/Δ)/μ − q₀/E] − ⟨ln ∫Dz₁ e^(μ|h|)⟩/μ

is stationary in m, q₀, C and μ; μ is the temperature of the states, the inner parameter over T.

Source: Crisanti, Amit & Gutfreund 1986; Steffan & Kühn 1994; Stojnic 2024 (arXiv:2403.01907) for the number.
"""

from functools import cache
from typing import NamedTuple, cast

import numpy as np
from scipy.optimize import minimize_scalar, root
from scipy.special import log_ndtr

from hopfield._arguments.host import Float

_NORMAL = np.linspace(-9, 9, 6001)  # the states differ where |h| < 1/μ, a narrow part of the range of z₀
_WEIGHTS = np.exp(-(_NORMAL**2) / 2) / np.sqrt(2 * np.pi) * (_NORMAL[1] - _NORMAL[0])
_START = np.array([np.log(3.5e-3), 0.0526, np.log(37.0), np.log(0.1382)])


class BrokenSpinodal(NamedTuple):
    """Largest load with a retrieval state, and that state."""

    load: float
    overlap: float
    q0: float
    """Overlap of two of its states."""
    mu: float
    energy: float
    """Energy per spin, −½ Σ W x x / N; replica symmetric −0.501446 at its own end."""


@cache
def spinodal() -> BrokenSpinodal:
    """Capacity of Hebb's rule at T = 0 with one step of symmetry breaking: 0.138186, replica symmetric 0.137906."""

    def state(overlap: float) -> Float:
        solution = root(_slopes, _START, args=(overlap,), method="hybr", tol=1e-12)
        return np.asarray(solution.x) if solution.success else np.full(4, -np.inf)

    best = cast(float, minimize_scalar(lambda m: -state(m)[3], bounds=(0.96, 0.975), options={"xatol": 1e-5}).x)
    log_apart, _, log_mu, log_load = found = state(best)
    numbers = np.exp(log_load), best, 1 - np.exp(log_apart), np.exp(log_mu), _energy(found, best)
    return BrokenSpinodal(*(float(x) for x in numbers))


class _Averages(NamedTuple):
    """What f and its derivatives are made of: q₀, E, r₀, r₁, √(α(r₁−r₀)), h without z₁, and logs of its two weights."""

    q0: float
    rest: float
    r0: float
    r1: float
    inner: float
    field: Float
    up: Float
    down: Float


def _averages(unknowns: Float, overlap: float) -> _Averages:
    """Unknowns are ln(1−q₀), C, ln μ, ln α at a given m."""
    apart, response, mu, load = np.exp(unknowns[0]), unknowns[1], np.exp(unknowns[2]), np.exp(unknowns[3])
    delta, q0 = 1 - response, 1 - apart
    rest = delta - mu * apart
    r0 = q0 / rest**2
    r1 = apart / (rest * delta) + r0
    inner = np.sqrt(load * (r1 - r0))
    field = overlap + np.sqrt(load * r0) * _NORMAL
    up, down = (s * mu * field + log_ndtr(s * field / inner + mu * inner) for s in (1, -1))
    return _Averages(q0, rest, r0, r1, inner, field, up, down)


def _energy(unknowns: Float, overlap: float) -> float:
    """Energy per spin f + α/2, in which a spin does not couple to itself."""
    response, mu, load = unknowns[1], np.exp(unknowns[2]), np.exp(unknowns[3])
    q0, rest, r0, r1, inner, _, up, down = _averages(unknowns, overlap)
    log_weight = np.sum(_WEIGHTS * (np.logaddexp(up, down) + (mu * inner) ** 2 / 2))
    noise = r1 * response + mu * (r1 - r0 * q0) + np.log(rest / (1 - response)) / mu - q0 / rest
    return float(overlap**2 / 2 + load / 2 * (noise + 1) - log_weight / mu)


def _slopes(unknowns: Float, overlap: float) -> Float:
    """Derivatives of f in m, q₀, C and μ up to factors."""
    apart, response, mu, load = np.exp(unknowns[0]), unknowns[1], np.exp(unknowns[2]), np.exp(unknowns[3])
    q0, rest, r0, r1, inner, field, up, down = _averages(unknowns, overlap)
    both = np.logaddexp(up, down)
    sign = np.tanh((up - down) / 2)
    edge = np.exp(-((field / inner) ** 2) / 2 - (mu * inner) ** 2 / 2 - both) / np.sqrt(2 * np.pi)
    size = mu * inner**2 + field * sign + 2 * inner * edge
    log_weight = np.sum(_WEIGHTS * (both + (mu * inner) ** 2 / 2))
    noise = r1 - r0 * q0 - np.log(rest / (1 - response)) / mu**2 - apart / (mu * rest) - q0 * apart / rest**2
    along_mu = load / 2 * noise + log_weight / mu**2 - np.sum(_WEIGHTS * size) / mu
    return np.array(
        [
            np.sum(_WEIGHTS * sign) - overlap,
            np.sum(_WEIGHTS * (1 - sign**2)) / apart - 1,
            response - 2 * np.sum(_WEIGHTS * edge) / inner,
            along_mu / apart,
        ]
    )
