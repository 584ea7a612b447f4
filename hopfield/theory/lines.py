"""Phase boundaries of the classical network: lines √α(T) along its saddle points, by load or by temperature."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import elementwise

from hopfield._arguments.host import Float, reals
from hopfield.theory.saddle import COLDEST, retrieval_saddle, spin_glass_saddle, spinodal_ratio

Line = Callable[[Float], Float]


def spinodal(temperature: Float) -> Float:
    """√α of the largest load with a retrieval state."""
    return retrieval_saddle(spinodal_ratio(temperature), temperature).root_load


def thermodynamic(temperature: Float) -> Float:
    """√α at which retrieval state and spin glass have equal free energies, found along the retrieval branch."""

    def difference(ratio: Float, temperature: Float) -> Float:
        retrieval = retrieval_saddle(ratio, temperature)
        return retrieval.free_energy - spin_glass_saddle(retrieval.root_load, temperature).free_energy

    levels, position = np.unique(temperature, return_inverse=True)
    bracket = (np.full(levels.shape, 0.1), spinodal_ratio(levels))
    ratio = elementwise.find_root(difference, bracket, args=(levels,)).x
    return retrieval_saddle(ratio, levels).root_load[position].reshape(np.shape(temperature))


def load(line: Line, temperature: ArrayLike) -> Float:
    """Load of a line √α(T), which ends at T = 1."""
    temperature = np.maximum(reals("temperature", temperature, least=0), COLDEST)
    return np.where(temperature < 1, line(np.where(temperature < 1, temperature, 0.5)) ** 2, 0.0)


def temperature(line: Line, load: ArrayLike) -> Float:
    """Highest temperature at which the line √α(T) reaches a load: T from the line's maximum to 1."""

    def excess(temperature: Float, root_load: Float) -> Float:
        # the line reaches 0 linearly at T = 1, where the saddle point itself is 0/0
        inner = np.minimum(temperature, 1 - 1e-5)
        return line(inner) * (1 - temperature) / (1 - inner) - root_load

    root_load = np.sqrt(reals("load", load, least=0))
    bracket = (np.full(root_load.shape, _turn(line)), np.ones(root_load.shape))
    return elementwise.find_root(excess, bracket, args=(root_load,)).x


@cache
def _turn(line: Line) -> float:
    """Temperature at which a line √α(T) has its largest load."""
    return float(elementwise.find_minimum(lambda temperature: -line(temperature), (0.001, 0.02, 0.2)).x)
