"""Half crossings of falling shares without a model of their shape: isotonic regression and a monotone cubic.

The counterpart of the probit of `thresholds` for curves that it does not fit, such as a plateau that ends in a cliff.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.interpolate import PchipInterpolator
from scipy.optimize import brentq, isotonic_regression
from scipy.special import logit

from experiments.statistics.columns import Array
from experiments.statistics.student import half_interval

RESAMPLINGS = 400


def falling_half(load: Array, successes: Array, trials: Array, cluster: Array) -> tuple[float, float]:
    """The load at which the share of successes falls through one half, and its error over clusters.

        stderr² = t² G/(G−1) · variance of bootstraps + (crossing of the shares − of their logits)² + width²/12

    Bootstraps draw G clusters anew, with the spread of G − 1, and t is Student's. The pooled shares are made
    monotone (isotonic regression) and joined by the monotone cubic of Fritsch and Carlson; the logits of the same
    shares, joined in the same way, say what the choice of the curve between two loads matters, which vanishes on a fine
    grid. The width belongs to a plateau at one half, anywhere on which the crossing may lie.

    Args:
        load, successes, trials, cluster: [R] counts of every row, clusters numbered from 0; success falls with load.

    Returns:
        Value and standard error; the error is NaN where fewer than half of the bootstraps have a crossing.

    Source: Efron & Tibshirani 1993 §8 (bootstrap of clusters); Fritsch & Carlson 1980.
    """
    loads, column = np.unique(load, return_inverse=True)
    sums = np.zeros((2, int(cluster.max()) + 1, loads.size))
    np.add.at(sums[0], (cluster, column), successes)
    np.add.at(sums[1], (cluster, column), trials)
    pooled = sums.sum(axis=1)
    value, other = _crossing(loads, *pooled), _crossing(loads, *pooled, logits=True)
    counts, factor = _bootstrap_counts(sums)
    drawn = np.array([_crossing(loads, *each) for each in counts])
    drawn = drawn[np.isfinite(drawn)]
    if drawn.size < RESAMPLINGS / 2:
        return value, math.nan
    used = pooled[1] > 0
    plateau = loads[used][_isotonic(*pooled[:, used]) == 0.5]
    width = float(np.ptp(plateau)) if plateau.size else 0.0
    return value, math.hypot(factor * float(drawn.std()), value - other, width / math.sqrt(12))


def _bootstrap_counts(sums: Array) -> tuple[Array, float]:
    """Successes and trials [B, 2, X] of clusters [2, G, X] drawn anew, or of trials where all clusters are the same.

    Also the factor from the spread of what they give to its error.
    """
    rng, groups = np.random.default_rng(0), sums.shape[1]
    if groups > 1 and not np.ptp(sums, axis=1).any():
        successes, trials = sums.sum(axis=1)
        drawn = rng.binomial(trials.astype(int), successes / np.maximum(trials, 1), (RESAMPLINGS, trials.size))
        return np.stack([drawn, np.broadcast_to(trials, drawn.shape)], axis=1), 1.0
    chosen = rng.multinomial(groups, np.full(groups, 1 / groups), RESAMPLINGS)
    factor = half_interval(math.sqrt(groups / max(groups - 1, 1)), groups - 1)
    return np.einsum("bg,kgx->bkx", chosen, sums), factor


def _isotonic(successes: Array, trials: Array) -> Array:
    return isotonic_regression(successes / trials, weights=trials, increasing=False).x


def _crossing(loads: Array, successes: Array, trials: Array, *, logits: bool = False) -> float:
    """Point where the monotone cubic through the isotonic shares, or their logits, passes one half. NaN without one."""
    used = trials > 0
    share = _isotonic(successes[used], trials[used])
    level = share == 0.5
    if level.any():  # a plateau at one half
        return float(np.mean(loads[used][level][[0, -1]]))
    height = share - 0.5
    if not height[0] > 0 > height[-1]:
        return math.nan
    last = np.flatnonzero(height > 0)[-1]
    if logits:  # half a trial keeps the logits of 0 and 1 finite and leaves one half in place
        height = logit((share * trials[used] + 0.5) / (trials[used] + 1))
    places = loads[used]
    return root(PchipInterpolator(places, height), float(places[last]), float(places[last + 1]))


def root(curve: Callable[[float], Any], low: float, high: float) -> float:
    """Root of a curve between two places at which it has other signs, to a trillionth of their distance."""
    place: Any = brentq(lambda share: curve(low + share * (high - low)), 0.0, 1.0, xtol=1e-12)
    return float(low + place * (high - low))
