"""Overlaps in time: synchronous steps at T = 0 of classical and dense networks, exact for N → ∞.

A spin σ of a network of degree n feels its pattern, its own past through the others, and a noise φ:

    h(t) = m(t)^(n−1) + Σ_{s<t} R(t, s) σ(s) + φ(t)      σ(t+1) = sgn h(t)

    n = 2    ⟨φ φᵀ⟩ = α (1 − G)⁻¹ C (1 − G)⁻ᵀ      R = α G (1 − G)⁻¹
    n ≥ 3    ⟨φ φᵀ⟩ = α c(C)                       R = α c′(C) ∘ G      c(q) = ⟨s^(n−1) s'^(n−1)⟩ at correlation q

with overlaps m(t) = ⟨σ(t)⟩, correlations C(t, s) = ⟨σ(t) σ(s)⟩ and responses G(t, s) = ∂⟨σ(t)⟩/∂h(s). Amari & Maginu's
theory (`basins.neurodynamics`) leaves out R.

Source: Gardner, Derrida & Mottishaw, J. Physique 48, 741 (1987) for two steps at n = 2; Mimura et al. 2025
(arXiv:2506.00851) for n ≥ 3; Eissfeller & Opper, Phys. Rev. Lett. 68, 2094 (1992) for drawing trajectories of a spin.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import erf

from hopfield._arguments.host import Float, plain, real, reals, whole_number
from hopfield.theory import dense
from hopfield.theory.replicas import covariance


class Course(NamedTuple):
    """Overlaps after 0, 1, … steps [T + 1], and their statistical errors."""

    overlap: Float
    stderr: Float


def second_step(load: ArrayLike, degree: int, overlap: ArrayLike) -> Float:
    """Overlap after two synchronous steps from a random state of given overlap, in closed form.

    m₂ = Σ_{σ=±1} ½(1 + σm) erf((m₁^(n−1) + R σ)/(√2 Δ)),   R = α c′(m m₁) χ,   χ = 2 φ(u)/Δ₀,   u = m^(n−1)/Δ₀

    with Δ₀² = α (2n−3)!!, m₁ = erf(u/√2), and Δ = Δ₀ but at n = 2, where Δ² = α (1 + 2 χ m m₁ + χ²).

    Args:
        degree: n >= 2.
        load: α = M/N^(n−1), > 0.
        overlap: m of the start, −1 to 1.
    """
    degree = whole_number("degree", degree, least=2)
    load, start = np.broadcast_arrays(reals("load", load, above=0), reals("overlap", overlap, least=-1, most=1))
    deviation = np.sqrt(load * dense.noise(degree))
    signal = start ** (degree - 1) / deviation
    first = erf(signal / np.sqrt(2))
    response = 2 * np.exp(-(signal**2) / 2) / np.sqrt(2 * np.pi) / deviation
    past = load * _slope(degree, start * first) * response
    if degree == 2:
        deviation = np.sqrt(load * (1 + 2 * response * start * first + response**2))
    ends = [
        (1 + sign * start) / 2 * erf((first ** (degree - 1) + sign * past) / deviation / np.sqrt(2)) for sign in (1, -1)
    ]
    return plain(ends[0] + ends[1])


def course(load: float, degree: int, overlap: float, steps: int, *, draws: int = 2**15, seed: int = 0) -> Course:
    """Overlaps along synchronous steps from a random state of given overlap, from drawn trajectories of one spin.

    Args:
        load: α = M/N^(n−1), > 0.
        degree: n >= 2.
        overlap: m of the start, −1 to 1.
        steps: >= 1; time grows with their square, errors with their number.
        draws: trajectories of each of four independent samples, by whose spread the errors are known.
        seed: of the draws.
    """
    degree, steps = whole_number("degree", degree, least=2), whole_number("steps", steps, least=1)
    load, overlap = real("load", load, above=0), real("overlap", overlap, least=-1, most=1)
    draws, seed = whole_number("draws", draws, least=2), whole_number("seed", seed, least=0)
    courses = [_sample_course(degree, load, overlap, steps, draws, rng) for rng in np.random.default_rng(seed).spawn(4)]
    return Course(np.mean(courses, axis=0), np.std(courses, axis=0, ddof=1) / 2)


def _sample_course(degree: int, load: float, overlap: float, steps: int, draws: int, rng: np.random.Generator) -> Float:
    """Overlaps of one sample of trajectories. The share of spins that start up is exact."""
    spins, noises = np.ones((steps + 1, draws)), rng.standard_normal((steps, draws))
    spins[0, round(draws * (1 + overlap) / 2) :] = -1
    means, same, response = np.full(steps + 1, overlap), np.eye(steps + 1), np.zeros((steps + 1, steps + 1))
    for t in range(steps):
        crosstalk, past = _crosstalk(degree, load, same[: t + 1, : t + 1], response[: t + 1, : t + 1])
        root = np.linalg.cholesky(crosstalk + 1e-9 * load * np.eye(t + 1))
        field = means[t] ** (degree - 1) + past[t] @ spins[: t + 1] + root[t] @ noises[: t + 1]
        spins[t + 1] = np.where(field > 0, 1.0, -1.0)
        means[t + 1] = spins[t + 1].mean()
        same[t + 1, : t + 1] = same[: t + 1, t + 1] = spins[: t + 1] @ spins[t + 1] / draws
        # Stein: ⟨σ(t+1) ζ⟩ of the independent normal numbers φ = root ζ is rootᵀ times the responses. Noises that are
        # all but the same as earlier ones have none of their own.
        kicks = noises[: t + 1] @ spins[t + 1] / draws
        response[t + 1, : t + 1] = np.linalg.lstsq(root.T, kicks, rcond=_LEAST)[0]
    return means


_LEAST = 0.03
"""Part of the largest deviation below which one of the noise's own is lost in the errors of the draws."""


def _crosstalk(degree: int, load: float, same: Float, response: Float) -> tuple[Float, Float]:
    """Covariance of the noise and couplings to the own past, up to some time."""
    if degree > 2:
        return load * np.asarray(covariance(degree - 1, np.clip(same, -1, 1))), load * _slope(degree, same) * response
    loops = np.linalg.inv(np.eye(len(same)) - response)
    return load * loops @ same @ loops.T, load * response @ loops


def _slope(degree: int, correlation: ArrayLike) -> Float:
    """c′(q) = (n−1)² ⟨s^(n−2) s'^(n−2)⟩."""
    return (degree - 1) ** 2 * np.asarray(covariance(degree - 2, np.clip(correlation, -1, 1)))
