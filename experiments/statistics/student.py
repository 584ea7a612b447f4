"""Student's t: intervals of estimates whose spread is known from few draws.

Every error over draws, of a mean, a jackknife, a bootstrap or a regression, is `half_interval` of what its formula
gives, so that it holds the truth in 68 % of repetitions however few draws there were.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr, stdtrit

from experiments.statistics.columns import Array, magnitude

ONE = float(ndtr(1.0) - ndtr(-1.0))
"""Coverage of one standard error of a normal number, 68 %."""


def half_interval(spread: float, freedom: float, coverage: float = ONE) -> float:
    """Half the interval of Student's t around an estimate: spread · t_freedom((1 + coverage)/2). NaN without freedom.

    Args:
        spread: standard error of the estimate by a formula for many draws.
        freedom: degrees of freedom that the spread is known from, n − 1 of n draws.
        coverage: share of repetitions whose interval holds the truth.

    Source: Student 1908.
    """
    return float(spread * stdtrit(freedom, (1 + coverage) / 2)) if freedom > 0 else float("nan")


def freedom(parts: ArrayLike, fitted: int = 1) -> float:
    """Degrees of freedom of an estimate with clusters of unequal parts in it, (Σ p)²/Σ p² − fitted, at least 1.

    Args:
        parts: [G] part of every cluster in the estimate or its variance, ≥ 0: G − fitted where all are equal.
        fitted: coefficients that the same clusters gave.

    Source: Kish 1965, Survey Sampling §11.7 (effective number); Bell & McCaffrey 2002.
    """
    part: Array = np.asarray(parts, float)
    part = part / magnitude(part)  # their squares stay within range
    number = round(float(part.sum() ** 2 / np.sum(part**2)), 12)  # the scale of the parts changes nothing
    return max(number - fitted, 1.0)
