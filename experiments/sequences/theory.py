"""Lengths of sequences by theory, and the predictions of one curve."""

from functools import cache

import numpy as np

from experiments.sequences.config import degree
from hopfield.theory import sequences


@cache
def bit_error(rule: str, neurons: int, num_patterns: int) -> float:
    """Exact share of wrong spins after one step from a pattern."""
    return float(sequences.bit_error(neurons, num_patterns, degree(rule)))


def chance_right(rule: str, neurons: int, num_patterns: int, transitions: int) -> float:
    """Probability that a number of transitions are right, with bits taken as independent."""
    return float(sequences.transitions_right(bit_error(rule, neurons, num_patterns), neurons, transitions))


def length(rule: str, neurons: int, share: float, longest: int = 2**20) -> int | None:
    """Number of patterns P, 2 at least, up to which that share of sequences should be right. None beyond `longest`."""
    low, high = 2, 4
    expected = lambda count: chance_right(rule, neurons, count, count)
    if expected(longest) > share:
        return None
    while expected(high) > share:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if expected(middle) > share else (low, middle)
    return low


def gaussian(rule: str, neurons: int, num_patterns: int) -> float | None:
    """Φ(1/σ)^{PN}, the whole sequence with Gaussian crosstalk. None for the exponential rule."""
    power = degree(rule)
    if power is None:
        return None
    error = sequences.bit_error_gaussian(neurons, num_patterns, power)
    return float(sequences.transitions_right(error, neurons, num_patterns))


def published_capacities(rule: str, neurons: int) -> tuple[float, float] | None:
    """P_T and P_S, N → ∞ to leading order. None for the exponential rule."""
    power = degree(rule)
    if power is None:
        return None
    capacities = [sequences.published_capacity(neurons, power, whole_sequence=whole) for whole in (False, True)]
    return float(np.asarray(capacities[0])), float(np.asarray(capacities[1]))
