"""Crossings: where a curve passes one half or another level.

`thresholds.critical_load` fits counts of successes. For curves that are no counts there is `half_crossing` of a mean in
[0, 1] over clusters, which needs no model of its shape, `parabolic_crossing` of points whose errors are known, and
`straight_crossing` of points without errors.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import PchipInterpolator
from scipy.special import chdtrc, logit

from experiments.statistics.clusters import jackknife, labels
from experiments.statistics.columns import check_length, columns, flag, magnitude, numbers, single
from experiments.statistics.monotone import root

RESOLUTION = 1e-9
"""Least error of a crossing, in units of a power of two above it: a load's error in double precision, interpolated."""
SURPRISE = 0.001  # a parabola is rejected where χ² is exceeded with less than this probability
TINY = 1e-12  # a mean of exactly 0 or 1 has no logit


class Crossing(NamedTuple):
    """Crossing of the mean and its level, rising: the value, its standard error and the number of clusters it is from.

    `value` is NaN, and `reason` says why, where the mean stays on one side; `stderr` is NaN where a cluster alone
    decides whether there is a crossing at all.
    """

    value: float
    stderr: float
    clusters: int
    reason: str = ""


def half_crossing(
    x: ArrayLike, values: ArrayLike, cluster: ArrayLike, weights: ArrayLike | None = None, *, level: float = 0.5
) -> Crossing:
    """The first x at which the mean of the values rises through one half or another level, and its error.

        stderr² = t² (G−1)/G · Σ_g (x_(g) − mean of x_(·))² + (x − x_line)²,   x_(g) the crossing without cluster g

    The logits of the means are joined by the monotone cubic of Fritsch and Carlson; x_line is where a straight line
    would cross instead, and t is Student's. On a fine grid only the jackknife is left, on a coarse one the error is on
    the large side. Beside a mean of exactly 0 or 1, which has no logit, the means themselves are joined by a line, and
    x − x_line is the spread of a point anywhere in the interval, its length over √12.

    Args:
        x: [R] control parameter of every row, on the axis to interpolate on (ln β ...).
        values: [R] measured values in [0, 1].
        cluster: [R] label of the disorder sample of every row. Samples drawn anew at every x carry the same labels at
            each: the jackknife leaves a label out everywhere, and one that is at a single x would count too much.
        weights: [R] weights ≥ 0, such as queries; equal by default.
        level: the mean that is passed, between 0 and 1.

    Raises:
        ValueError: columns of different length or empty, numbers out of range, negative weights.

    Source: Efron 1982, The Jackknife (its deletion of groups); Fritsch & Carlson 1980.
    """
    places, totals, weight = _cells(x, values, cluster, weights)
    level = single("level", level, "a number between 0 and 1", 0.0, np.nextafter(1.0, 0.0))
    value, off = _crossing(places, totals.sum(axis=0), weight.sum(axis=0), level)
    clusters = len(totals)
    if math.isnan(value):
        return Crossing(
            value, math.nan, clusters, f"the mean does not rise through {_name(level)} at the measured values"
        )
    left_out = [
        _crossing(places, totals.sum(axis=0) - total, weight.sum(axis=0) - part, level)[0]
        for total, part in zip(totals, weight, strict=True)
    ]
    return Crossing(value, math.hypot(jackknife(left_out), off), clusters)


def _cells(x: ArrayLike, values: ArrayLike, cluster: ArrayLike, weights: ArrayLike | None) -> tuple[np.ndarray, ...]:
    """The distinct x [X], and the weighted sums and the weights of every cluster there [G, X]."""
    (place, value), label = columns(x=x, values=values), labels(cluster)
    weight = np.ones_like(value) if weights is None else numbers("weights", weights)
    check_length(x=place, values=value, cluster=label, weights=weight)
    weight = weight / magnitude(weight)  # sums neither vanish nor overflow
    if not place.size:
        raise ValueError("x, values and cluster must be columns of one length, not empty")
    if not (np.isfinite(place).all() and ((value >= 0) & (value <= 1)).all()):
        raise ValueError("x must be finite and values must lie in [0, 1]")
    if not ((weight >= 0).all() and 0 < weight.max() < np.inf):
        raise ValueError("weights must be finite and not negative, and must be positive in at least one row")
    places, column = np.unique(place, return_inverse=True)
    groups, row = np.unique(label, return_inverse=True)
    sums = np.zeros((2, groups.size, places.size))
    np.add.at(sums[0], (row, column), weight * value)
    np.add.at(sums[1], (row, column), weight)
    return places, *sums


def _name(level: float) -> str:
    return "one half" if level == 0.5 else f"{level:g}"


def _crossing(x: np.ndarray, totals: np.ndarray, weight: np.ndarray, level: float) -> tuple[float, float]:
    """Point where the means first rise through the level, and how far off the way of joining them may be."""
    used = weight > 0
    x, mean = x[used], totals[used] / weight[used]
    height = logit(np.clip(mean, TINY, 1 - TINY)) - logit(level)
    rising = np.flatnonzero((height[:-1] < 0) & (height[1:] >= 0))
    if not rising.size:
        return math.nan, math.nan
    near = slice(rising[0], rising[0] + 2)
    if mean[near].min() < TINY or mean[near].max() > 1 - TINY:
        return float(np.interp(level, mean[near], x[near])), float(np.diff(x[near])[0]) / math.sqrt(12)
    curve = PchipInterpolator(x, height)
    ends = curve(x[near])  # a mean at the level itself may be rounded to its other side
    cubic: Any = x[near][int(ends[1] <= 0)] if ends[0] >= 0 or ends[1] <= 0 else root(curve, *x[near])
    return float(cubic), abs(float(cubic) - float(np.interp(0.0, height[near], x[near])))


def parabolic_crossing(
    load: ArrayLike, value: ArrayLike, stderr: ArrayLike, level: float = 0.0, *, left_out: ArrayLike | None = None
) -> tuple[float | None, float | None]:
    """Load at which a rising quantity passes a level, from a parabola through the five points nearest to it.

    Where χ² rejects that parabola, it is a cubic through the two points on either side.

    Args:
        load: [X] control parameter of every point; points that are not finite, or their error, are left out.
        value, stderr: [X] the quantity and its standard error, by which the points are weighted.
        level: what it passes.
        left_out: [G, X] the quantity without each of G disorder samples that the points share; None where the points
            are independent.

    Returns:
        The load and its error, from independent points with these errors or the jackknife over disorder samples,
        and a tenth of the distance to what a straight line would give; the error is NaN where there is one sample, or
        no crossing without one of them. None where no two neighbouring points enclose the level.

    Raises:
        ValueError: columns of different length, or an error below zero.
    """
    load, value, stderr = columns(load=load, value=value, stderr=stderr)
    if (stderr < 0).any():
        raise ValueError(f"stderr must not be negative, got {np.nanmin(stderr):g}")
    level = single("level", level, "one finite number")
    best, error, straight = _parabola(load, value - level, stderr)
    if math.isnan(best):
        return None, None
    if left_out is not None:
        others = [columns(load=load, left_out=each)[1] for each in numbers("left_out", left_out)]
        error = jackknife([_parabola(load, each - level, stderr)[0] for each in others])
    rounding = RESOLUTION * 2 * magnitude(np.array(best))
    return float(best), math.hypot(error, 0.1 * (best - straight), rounding)


def _parabola(load: np.ndarray, value: np.ndarray, stderr: np.ndarray) -> tuple[float, float, float]:
    """Zero of a parabola, its error for independent points, and the zero of a line. NaN for a missing zero."""
    order = [i for i in np.argsort(load) if np.isfinite(load[i] + value[i] + stderr[i])]
    load, value, stderr = load[order], value[order], np.maximum(stderr[order], 1e-12)
    passed = np.flatnonzero((value[:-1] < 0) & (value[1:] >= 0))
    if not len(passed):
        return math.nan, math.nan, math.nan
    i = int(passed[np.argmin(np.abs(value[passed]))])
    middle = load[i] - value[i] * (load[i + 1] - load[i]) / (value[i + 1] - value[i])
    nearest = i + int(value[i + 1] <= -value[i])
    for count, first, degree in ((5, nearest - 2, 2), (4, i - 1, 3)):
        used = slice(max(min(first, len(load) - count), 0), max(first, 0) + count)
        points = load[used] - middle, value[used], stderr[used]
        zero, error, chi2 = _zero(*points, degree)
        if chdtrc(max(len(points[0]) - 3, 1), chi2) > SURPRISE:
            break
    best, straight = middle + zero, middle + _zero(*points, 1)[0]
    near = load[i] - (load[i + 1] - load[i]) <= best <= load[i + 1] + (load[i + 1] - load[i])
    return (best, error, straight) if near else (math.nan, math.nan, math.nan)


def _zero(x: np.ndarray, y: np.ndarray, stderr: np.ndarray, degree: int) -> tuple[float, float, float]:
    """Zero near the origin of a polynomial fitted to points [X], by Newton's method, its error, and χ²."""
    design = np.vander(x, min(degree, len(x) - 1) + 1, increasing=True) / stderr[:, None]
    best, *_ = np.linalg.lstsq(design, y / stderr, rcond=None)
    spread = np.sqrt(np.linalg.pinv(design.T @ design)[0, 0])
    curve, zero = np.polynomial.Polynomial(best), -best[0] / best[1]
    for _ in range(4 if degree > 2 else 0):
        zero -= curve(zero) / curve.deriv()(zero)
    return float(zero), float(spread / abs(best[1])), float(np.sum((design @ best - y / stderr) ** 2))


def straight_crossing(x: ArrayLike, y: ArrayLike, *, last: bool = False) -> float:
    """Point at which y, joined by straight lines, first or last falls through zero. NaN if it does not.

    NaN also where any x or y is NaN, since that point could have been the one, and where y falls from or to infinity.

    Args:
        x: [X] in any order.
        y: [X] values less the level that is passed.
        last: whether of several crossings the last one is meant.

    Raises:
        ValueError: columns of different length.
    """
    x, y, last = *columns(x=x, y=y), flag("last", last)
    if np.isnan(x).any() or np.isnan(y).any():
        return math.nan
    order = np.argsort(x, kind="stable")
    x, y = x[order], y[order]
    passed = np.flatnonzero((y[:-1] >= 0) & (y[1:] < 0))
    if not len(passed):
        return math.nan
    i = int(passed[-1 if last else 0])
    if not np.isfinite([x[i], y[i], x[i + 1], y[i + 1]]).all():
        return math.nan
    return float(x[i] + y[i] / (y[i] - y[i + 1]) * (x[i + 1] - x[i]))
