"""Posterior of a threshold where too little was measured for a regression: steps, few samples, nothing in between."""

import math

import numpy as np
from scipy.special import log_ndtr

from experiments.statistics.success_counts import Counts


def posterior(counts: Counts) -> tuple[float, float, float]:
    """Posterior mean of the threshold of a probit, its error, and the mean width; flat in both, on a grid of both."""
    loads, s, n = counts.pooled()
    place = np.searchsorted(loads, counts.load)
    effective = np.bincount(place)  # one trial per cluster at every load
    middles = (np.arange(240) + 0.5) / 240 * np.ptp(loads)
    threshold, width = (loads[0] + middles)[:, None], middles[None, :]
    log_likelihood = np.zeros((240, 240))
    for x, share, weight in zip(loads, s / n, effective, strict=True):
        score = (threshold - x) / width
        log_likelihood += weight * (share * log_ndtr(score) + (1 - share) * log_ndtr(-score))
    density = np.exp(log_likelihood - log_likelihood.max())
    density /= density.sum()
    value = float(np.sum(density * threshold))
    spread = float(np.sum(density * width))
    clusters = np.unique(counts.cluster).size
    # The thresholds of single samples vary by no more than the width of the transition they add up to.
    stderr = max(math.sqrt(np.sum(density * (threshold - value) ** 2)), spread / math.sqrt(clusters))
    if counts.is_separated() and not ((s > 0) & (s < n)).any():
        bracket = loads[s > 0][-1], loads[s < n][0]
        value = float(sum(bracket) / 2)
        stderr = max(stderr, float(np.ptp(bracket)) / math.sqrt(12))
    return value, stderr, spread
