"""Theory of the initial overlap from which a memory retrieves, by its name."""

import numpy as np

from hopfield.memories import find
from hopfield.theory.base import Line


def lines(memory: str, dynamics: str, neurons: int, beta: float, loads: np.ndarray) -> list[Line]:
    """The lines to draw beside one memory's critical overlaps, the one to compare with first."""
    return find(memory).theory.basins(dynamics, neurons, beta, loads)


def share(memory: str, neurons: int, num_patterns: int, overlaps: np.ndarray) -> np.ndarray | None:
    """Share of queries of given overlaps that should end right; None where theory says nothing."""
    return find(memory).theory.nearest_share(neurons, num_patterns, overlaps)
