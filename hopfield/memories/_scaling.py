"""Scalings of the load of a memory: how it counts patterns against neurons."""

import math
from collections.abc import Callable
from typing import NamedTuple

from hopfield._arguments import integer


class Scaling(NamedTuple):
    """Scaling of a memory's load α: how it counts patterns M against neurons N.

    Example:
        >>> from hopfield import memories
        >>> memories.find("dense:3").scaling.num_patterns(0.5, 20)
        200.0
    """

    symbol: str
    load: Callable[[float, float], float]
    """α from (num_patterns, neurons)."""
    num_patterns: Callable[[float, float], float]
    """M from (load, neurons), not rounded; +∞ beyond the largest float."""


class TooManyPatterns(ValueError):
    """Error of a load that asks for more patterns than a float counts."""


def _finite(patterns: Callable[[], float]) -> float:
    try:
        return patterns()
    except OverflowError:
        return math.inf


MOST_PATTERNS = math.exp(700.0)
EXTENSIVE = Scaling("M / N", lambda m, n: m / n, lambda a, n: a * n)
EXPONENTIAL = Scaling("ln M / N", lambda m, n: math.log(m) / n, lambda a, n: _finite(lambda: math.exp(a * n)))


def polynomial_scaling(degree: int) -> Scaling:
    """M / N^(n−1), the scaling of a dense memory of degree n."""
    if integer("degree", degree, 2) == 2:
        return EXTENSIVE
    power = degree - 1
    return Scaling(f"M / N^{power}", lambda m, n: m / n**power, lambda a, n: _finite(lambda: a * float(n) ** power))
