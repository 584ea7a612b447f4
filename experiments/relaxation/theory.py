"""Relaxation by theory, N → ∞: the load where retrieval ends, and the correlation time of a network without load."""

from functools import cache
from math import exp, tanh

from hopfield.theory import classical, replicas


@cache
def spinodal_load(degree: int, temperature: float) -> float:
    """Largest load M/N^(n−1) with a retrieval state at T, replica symmetric. It is 0 without any."""
    if degree == 2:
        return float(classical.spinodal_load(temperature))
    return replicas.dense_spinodal_load(degree, temperature)


@cache
def time_without_load(degree: int, temperature: float) -> float:
    """Integrated autocorrelation time of the overlap of one pattern alone, in sweeps of a random order.

    A small deviation d from m = tanh(m^(n−1)/T) draws each spin by g d when its turn comes, g the slope of that map.
    As a part u of the spins has been visited d(u) obeys d' = g d − d(0), so that a sweep leaves λ d of it, with
    λ = (1 − (1−g) e^g)/g, and τ = ½ + λ + λ² + … = ½ (1+λ)/(1−λ).
    """
    m = 1.0
    for _ in range(10_000):
        m = tanh(m ** (degree - 1) / temperature)
    slope = (degree - 1) * m ** (degree - 2) * (1 - m * m) / temperature
    kept = (1 - (1 - slope) * exp(slope)) / slope
    return (1 + kept) / (1 - kept) / 2
