"""Overlaps in time by theory: the exact first step at N, and Amari & Maginu's or the iterated map for N → ∞."""

from functools import cache
from math import erf, sqrt

from hopfield.memories import find
from hopfield.theory import basins, classical, dense, trajectories

CLASSICAL = 2
EXACT_STEPS = 20
"""Steps that trajectories are drawn for: their time and errors grow."""


@cache
def critical_load(degree: int) -> float:
    """Load M / N^(n−1) of the last state with retrieval for N → ∞."""
    return float(classical.spinodal().load if degree == CLASSICAL else dense.spinodal(degree).load)


def flipped_spins(neurons: int, overlap: float) -> int:
    """Spins flipped in a start, to the nearest whole number."""
    return round(neurons * (1 - overlap) / 2)


def start(neurons: int, overlap: float) -> float:
    """Overlap of a start, as it is met by whole spins."""
    return (neurons - 2 * flipped_spins(neurons, overlap)) / neurons


@cache
def first_step_overlap(degree: int, neurons: int, num_patterns: int, overlap: float) -> float:
    """Mean overlap after one step, exact at N and M."""
    share = flipped_spins(neurons, overlap) / neurons
    error = find(f"dense:{degree}").theory.one_step_error(neurons, [num_patterns], corruption=share)
    assert error is not None
    return 1 - 2 * float(error[0])


@cache
def neurodynamics(degree: int, load: float, overlap: float, steps: int) -> float:
    """Overlap after synchronous steps for N → ∞: by Amari & Maginu at degree 2, else by the iterated first step."""
    if degree == CLASSICAL:
        return float(basins.neurodynamics(load, overlap, steps))
    deviation = sqrt(2 * float(dense.noise(degree)) * load)
    for _ in range(steps):
        overlap = erf(overlap ** (degree - 1) / deviation)
    return overlap


@cache
def course(degree: int, load: float, overlap: float, steps: int) -> trajectories.Course:
    """Overlaps along synchronous steps for N → ∞, exact up to the sampling error of drawn trajectories."""
    return trajectories.course(load, degree, overlap, min(steps, EXACT_STEPS))
