"""Deviations of measured means from theory, in standard errors."""

import math
from collections.abc import Iterable

import numpy as np


def errors_apart(mean: float, stderr: float, theory: float, independent: float) -> float:
    """Standard errors between a mean of values from 0 to 1 and theory. NaN of a single draw, which has no error.

    Where all draws agree theirs is no error, and the largest that theory allows stands for it: √(p (1 − p) / n), of n
    `independent` values whose mean is p; of a proportion of 0 or 1, n = 1 / (high − low) − 1 by its score interval.
    """
    if stderr == 0:
        stderr = math.sqrt(max(theory * (1 - theory), 0.0) / independent)
    if mean == theory and not math.isnan(stderr):
        return 0.0
    return abs(mean - theory) / stderr if stderr != 0 else math.inf


def share_within_two(apart: Iterable[float]) -> float:
    """Share of deviations, in standard errors, of at most two. NaN entries are left out, and no entries give NaN."""
    known = [value for value in apart if not math.isnan(value)]
    return float(np.mean(np.array(known) <= 2)) if known else math.nan
