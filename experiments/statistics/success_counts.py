"""Counts of successes by load and disorder sample: pooled, cut to some loads, and where they fall through one half."""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import isotonic_regression

from experiments.statistics.clusters import labels
from experiments.statistics.columns import Array, check_length, columns

MOST_TRIALS = 2.0**53


class Counts(NamedTuple):
    """Successes of every (load, cluster) pair. The sign of the loads is chosen such that success falls along them."""

    load: Array
    successes: Array
    trials: Array
    cluster: Array

    def pooled(self) -> tuple[Array, Array, Array]:
        """The distinct loads with their successes and trials."""
        loads, place = np.unique(self.load, return_inverse=True)
        return loads, np.bincount(place, self.successes), np.bincount(place, self.trials)

    def at(self, loads: Array) -> "Counts":
        """The rows at these loads."""
        keep = np.isin(self.load, loads)
        return Counts(*(column[keep] for column in self))

    def is_separated(self) -> bool:
        """True if a step explains the data: no maximum-likelihood curve exists (Albert & Anderson 1984)."""
        last_success = self.load[self.successes > 0].max(initial=-np.inf)
        first_failure = self.load[self.successes < self.trials].min(initial=np.inf)
        return bool(last_success <= first_failure)

    def dispersion(self) -> float:
        """Variance of the rows of one load over the binomial one (the design effect), at least 1."""
        loads, s, n = self.pooled()
        place = np.searchsorted(loads, self.load)
        share = (s / n)[place]
        mixed = (share > 0) & (share < 1)
        spare = int(mixed.sum()) - np.unique(place[mixed]).size
        if spare <= 0:
            return 1.0
        residual = (self.successes - self.trials * share)[mixed] ** 2
        return max(1.0, float(np.sum(residual / (self.trials * share * (1 - share))[mixed]) / spare))


def validated_counts(load: ArrayLike, successes: ArrayLike, trials: ArrayLike, cluster: ArrayLike) -> Counts:
    """Validated columns, one row per (load, cluster) pair. The clusters become integers."""
    arrays = columns(load=load, successes=successes, trials=trials)
    label = labels(cluster)
    check_length(trials=arrays[2], cluster=label)
    used = arrays[2] > 0
    x, s, n = (column[used] for column in arrays)
    if not (np.isfinite(x).all() and np.isfinite(n).all() and (arrays[2] >= 0).all()):
        raise ValueError("load must be finite and trials finite and not negative")
    if not ((s >= 0) & (s <= n)).all():
        raise ValueError("successes must lie between 0 and trials")
    if (n > MOST_TRIALS).any():
        raise ValueError(f"trials must be at most 2^53, which can be counted, got {n.max():g}")
    if not x.size:
        raise ValueError("trials must be positive in at least one row, got none")
    loads, place = np.unique(x, return_inverse=True)
    groups, group = np.unique(label[used], return_inverse=True)
    cells, cell = np.unique(place * groups.size + group, return_inverse=True)
    return Counts(loads[cells // groups.size], np.bincount(cell, s), np.bincount(cell, n), cells % groups.size)


def falling(counts: Counts) -> tuple[Counts, int]:
    """The counts against ±load, the sign chosen so that success falls along it, and that sign."""
    share = counts.successes / counts.trials
    offset = counts.load - np.average(counts.load, weights=counts.trials)
    if np.sum(counts.trials * offset * share) <= 0:
        return counts, 1
    return counts._replace(load=-counts.load), -1


def through_half(counts: Counts, tail: float) -> tuple[float, float, str]:
    """Point where the isotonic regression passes one half, how far from there it leaves (tail, 1 − tail), why not."""
    loads, s, n = counts.pooled()
    if loads.size == 1:
        return math.nan, math.nan, "a single load was measured"
    share = isotonic_regression(s / n, weights=n, increasing=False).x
    if share[-1] > 0.5:
        return math.nan, math.nan, "more than half of the trials succeed at every measured load"
    if share[0] < 0.5:
        return math.nan, math.nan, "fewer than half of the trials succeed at every measured load"
    if share[0] == share[-1]:
        return math.nan, math.nan, "the share of successes does not depend on load"
    last, first = np.flatnonzero(share >= 0.5)[-1], np.flatnonzero(share <= 0.5)[0]
    if first < last:  # a plateau at one half
        crossing = (loads[first] + loads[last]) / 2
    else:
        crossing = np.interp(0.5, share[[first, last]], loads[[first, last]])
    low = loads[share >= 1 - tail].max(initial=loads[0])
    high = loads[share <= tail].min(initial=loads[-1])
    return float(crossing), float(max(crossing - low, high - crossing)), ""
