"""Theory that phase diagrams share: ends of dynamics, broken and frozen spins, and phases of dense memories.

Dense memories of degree n at load α = M/N^(n−1), replica symmetric for N → ∞: retrieval states end at the spinodal, are
stable below the thermodynamic line, and the state without overlap is a glass from where symmetry breaks in it (de
Almeida & Thouless). All three are given as loads at a temperature.
"""

from functools import cache
from typing import Any, NamedTuple, cast

import numpy as np
from scipy.optimize import brentq

from experiments.contract import Table
from experiments.phase_diagram.diagrams.diagram import FROZEN
from experiments.shared import convergence
from hopfield.theory import classical, one_step, replicas

DEGREES = (3, 4)
"""Degrees of the dense memories whose lines are drawn."""
_SHARES = np.linspace(0.04, 0.98, 12)
_BROKEN = (0.06, 0.08, 0.1, 0.115, 0.127, 0.134, 0.1375)


class DenseLines(NamedTuple):
    """Loads of the lines at given temperatures. NaN at temperatures without a line."""

    temperature: list[float]
    spinodal: list[float]
    thermodynamic: list[float]
    glass: list[float]


def end_of(rows: Table) -> str:
    """States that rows of one effort show: after max_steps, or in the later of two averages over heat-bath sweeps."""
    first = rows.iloc[0]
    return convergence.end(int(first["max_steps"] or first["burn_in"] + first["sweeps"] // 2))


@cache
def zero_temperature() -> dict[str, float]:
    """Capacity of the classical network at T = 0, replica symmetric and with one step of symmetry breaking."""
    return {"replica_symmetric": float(classical.spinodal().load), "one_step": one_step.spinodal().load}


@cache
def broken_symmetry() -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Loads, and temperatures T_R below which the retrieval state of the classical network is not symmetric."""
    return _BROKEN, tuple(replicas.almeida_thouless_temperature(load) for load in _BROKEN)


def almeida_thouless(load: float) -> float:
    """T_R of the classical network. NaN from its capacity on, and for T_R below 1e-4."""
    return replicas.almeida_thouless_temperature(load) if load < classical.spinodal().load else np.nan


@cache
def dense_lines(degree: int) -> DenseLines:
    """The lines of a dense memory of degree n >= 3, from T = 0 to where its retrieval states end without load."""
    fields = np.linspace(0.1, 10, 5001)
    temperatures = np.max(np.tanh(fields) ** (degree - 1) / fields) * _SHARES
    ends = [replicas.dense_spinodal_load(degree, temperature) for temperature in temperatures]
    first = [_equal(degree, temperature, end) for temperature, end in zip(temperatures, ends, strict=True)]
    glass = [_glass(degree, temperature) for temperature in temperatures]
    return DenseLines(temperatures.tolist(), ends, first, glass)


def _equal(degree: int, temperature: float, end: float) -> float:
    """Load at which the retrieval state and the state without overlap have equal free energy. NaN if none is found."""

    def excess(load: float) -> float:
        held, free = (replicas.dense_replica(load, degree, temperature, retrieval=kind) for kind in (True, False))
        return held.free_energy - free.free_energy

    low, high = 1e-6 * end, 0.98 * end
    values = excess(low), excess(high)
    return float(cast(float, brentq(excess, low, high, xtol=1e-6))) if values[0] < 0 < values[1] else np.nan


def _glass(degree: int, temperature: float) -> float:
    """Load above which symmetry is broken in the state without overlap."""
    small = 1e-6
    if replicas.covariance(degree - 1, 0.0) == 0:  # it is a paramagnet, q = 0, up to there
        return float(temperature**2 * small / replicas.covariance(degree - 1, small))
    low, high = 0.0, 1.0
    for _ in range(14):
        middle = 0.5 * (low + high)
        stable = replicas.dense_replica(middle, degree, temperature, retrieval=False).stable
        low, high = (middle, high) if stable else (low, middle)
    return 0.5 * (low + high)


def frozen_temperature(loads: np.ndarray, q: float = FROZEN) -> np.ndarray:
    """Temperature at which the replica-symmetric spin glass has self-overlap q: T_g for q → 0.

    q = ⟨tanh²(s z)⟩ fixes s = β√(αr), and r = q/(1 − β(1−q))² then gives T = 1 − q + √(αq)/s.
    """
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    weights = weights / weights.sum()
    noise: Any = brentq(lambda s: weights @ np.tanh(s * nodes) ** 2 - q, np.sqrt(q), 5.0)
    return 1 - q + np.sqrt(loads * q) / noise
