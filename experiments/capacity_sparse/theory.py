"""Loads of the capacity of sparse patterns by theory, thresholds of the neurons, and errors after one step."""

from functools import cache
from math import log, log2

from experiments.bounds import named
from experiments.capacity_sparse.config import COVARIANCE, DISTURBED
from hopfield.theory import sparse

WIDELY_BIASED = 0.15
"""Activity below which plain Hebb couplings hold next to no patterns."""


def activities(rule: str, neurons: int, asked: list[float]) -> list[float]:
    """Activities at which a rule is measured: those asked for, one half, or log₂N of N."""
    name = named(rule)[0]
    if name == "willshaw":
        return [active(neurons) / neurons]
    if name == "hebb":
        return [a for a in asked if WIDELY_BIASED <= a < 0.5]
    return asked if name in COVARIANCE else [0.5]


def active(neurons: int) -> int:
    """Neurons on in a pattern of Willshaw's memory, the best number log₂N."""
    return round(log2(neurons))


def offset(rule: str, activity: float) -> float:
    """Number that a rule takes off a state {0, 1}."""
    return {"binary": 0.0, "balanced": activity}.get(rule, 0.5)


@cache
def critical_load(rule: str, activity: float) -> float | None:
    """Load M/N at which retrieval ends for N → ∞; None for rules that are judged by errors and information."""
    name, number = named(rule)
    if name in COVARIANCE:
        return sparse.spinodal(activity, offset(name, activity)).load
    if name not in DISTURBED:
        return None
    disturbance = sparse.CLIPPED if number is None else sparse.dilution(number) if name == "diluted" else number**2
    return float(sparse.disturbed_critical_load(disturbance))


@cache
def threshold(rule: str, activity: float) -> float:
    """Threshold of the neurons, the best one at capacity."""
    if rule not in COVARIANCE:
        return 0.0
    return sparse.spinodal(activity, offset(rule, activity)).threshold


@cache
def unit(rule: str, neurons: int, activity: float) -> float:
    """Number of patterns that a load of 1 in the option `around` stands for."""
    if rule == "hebb":
        return (1 - 2 * activity) ** -2.0
    if rule == "willshaw":
        return log(2) / activity**2
    load = critical_load(rule, activity)
    return neurons * (load or 0.0)


@cache
def shares(rule: str, neurons: int, activity: float, num_patterns: int) -> tuple[float, float] | None:
    """Shares of neurons on after one step, of those that should be and of those that should not; None if not known."""
    if rule == "willshaw":
        return 1.0, float(sparse.willshaw_error(neurons, round(activity * neurons), num_patterns))
    if rule in COVARIANCE and num_patterns > 1:
        numbers = threshold(rule, activity), offset(rule, activity)
        after = sparse.one_step_shares(activity, neurons, num_patterns, *numbers)
        return float(after[0]), float(after[1])
    return None


def wrong(rule: str, neurons: int, activity: float, num_patterns: int) -> float | None:
    """Share of wrong neurons after one step."""
    if rule == "hebb":
        return float(sparse.biased_hebb_error(1 - 2 * activity, num_patterns))
    after = shares(rule, neurons, activity, num_patterns)
    return None if after is None else activity * (1 - after[0]) + (1 - activity) * after[1]
