"""Straight lines through points, by least squares weighted by their errors."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from experiments.statistics.columns import Array


class Line(NamedTuple):
    """A line y = height + slope·x, with what its fit leaves over."""

    height: float
    slope: float
    covariance: Array
    """[2, 2] of height and slope, of errors as they are given: not rescaled by χ²/dof."""
    chi2: float
    dof: int

    def at(self, x: ArrayLike) -> Array:
        """Heights of the line."""
        return self.height + self.slope * np.asarray(x, float)


def straight_line(x: ArrayLike, y: ArrayLike, stderr: ArrayLike = 1.0) -> Line:
    """Line of least χ² = Σ ((y − line) / stderr)².

    Args:
        x, y: [S] points, two at least, whose x are not all equal.
        stderr: [S] errors of y, > 0; or one of all of them, on which the line does not depend.
    """
    x, y, stderr = np.broadcast_arrays(*(np.asarray(column, float) for column in (x, y, stderr)))
    fit, covariance = np.polyfit(x, y, 1, w=1 / stderr, cov="unscaled")
    chi2 = np.sum(((y - fit[1] - fit[0] * x) / stderr) ** 2)
    return Line(float(fit[1]), float(fit[0]), covariance[::-1, ::-1], float(chi2), x.size - 2)
