"""Theory of the initial overlap from which a memory retrieves, by its name."""

from typing import NamedTuple

import numpy as np

from hopfield.theory import basins

ONE_STEP = r"map of one step, iterated"
"""Label of a theory that draws the crosstalk afresh at every step: exact for one step, of N → ∞."""

NEURODYNAMICS = "Amari & Maginu: not the dynamics\nbeyond the first steps"
"""Label of the statistical neurodynamics: its crosstalk is Gaussian noise that forgets all steps but the last."""


class Theory(NamedTuple):
    """A line of critical initial overlaps: its label in a figure, its loads and its overlaps."""

    label: str
    loads: np.ndarray
    overlaps: np.ndarray


def lines(memory: str, dynamics: str, neurons: int, beta: float, loads: np.ndarray) -> list[Theory]:
    """The lines to draw beside one memory's critical overlaps, the one to compare with first.

    All are of infinite networks, but for the nearest pattern on the sphere, which is the limit of high β at this size.

    Args:
        memory: as in `hopfield.memories.find`.
        dynamics: the theory of the classical network is of synchronous dynamics.
        neurons: N.
        beta: inverse temperature, not used where there is none.
        loads: where, in the memory's own scaling; overlaps are nan where a line does not reach.
    """
    name, _, parameter = memory.partition(":")
    degree = int(parameter or 3) if name == "dense" else 2
    if name == "classical" or (name == "dense" and degree == 2):
        if dynamics != "synchronous":
            return []
        return [Theory(NEURODYNAMICS, loads, np.asarray(basins.classical(loads)))]
    if name == "dense":
        return [Theory(ONE_STEP, loads, np.asarray(basins.dense(degree, loads)))]
    if name == "projection":
        inside = loads < 1
        values = np.full(loads.shape, np.nan)
        values[inside] = basins.projection(loads[inside])
        return [Theory(ONE_STEP, loads, values)]
    if name == "modern":
        patterns = np.maximum(np.round(np.exp(loads * neurons)), 2)
        limit = np.asarray(basins.sphere(loads, beta))
        nearest = np.asarray(basins.nearest_pattern(neurons, patterns))
        return [
            Theory(rf"nearest pattern, $N={neurons}$", np.log(patterns) / neurons, nearest),
            Theory(r"random energy model, $N\to\infty$", loads, limit),
        ]
    return []


def share(memory: str, neurons: int, patterns: int, overlaps: np.ndarray) -> np.ndarray | None:
    """Share of queries of given overlaps that should end right; None where theory says nothing."""
    return np.asarray(basins.nearest_pattern_share(neurons, patterns, overlaps)) if memory == "modern" else None
