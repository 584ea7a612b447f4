"""Probit regressions of counts: coefficients of greatest likelihood, and errors over few clusters."""

import math

import numpy as np
from scipy.special import log_ndtr

from experiments.statistics.columns import Array, magnitude
from experiments.statistics.student import freedom, half_interval
from experiments.statistics.success_counts import Counts


def coefficients(design: Array, successes: Array, trials: Array) -> Array | None:
    """Coefficients of greatest likelihood, by Newton's method.

    The likelihood of a probit is concave. None if it has no maximum, or none that can be told from infinity.
    """
    failures = trials - successes
    best, step, value = np.zeros(design.shape[1]), np.zeros(design.shape[1]), -math.inf
    for _ in range(100):
        score = design @ (best + step)
        better = float(successes @ log_ndtr(score) + failures @ log_ndtr(-score))
        if better < value:
            step = step / 2
        else:
            best, value = best + step, better
            slope, curvature = _derivatives(score, successes, failures)
            information = design.T @ (curvature[:, None] * design)
            if not (np.isfinite(information).all() and np.linalg.cond(information) < 1e12):
                return None
            step = np.linalg.solve(information, design.T @ slope)
        if np.abs(step).max() < 1e-10 * (1 + np.abs(best).max()):
            return best
    return None


def _derivatives(score: Array, successes: Array, failures: Array) -> tuple[Array, Array]:
    """First and negative second derivative of s ln Φ(z) + f ln Φ(−z)."""
    mills, other = (np.exp(-(score**2) / 2 - log_ndtr(z)) / math.sqrt(2 * math.pi) for z in (score, -score))
    curvature = successes * mills * (mills + score) + failures * other * (other - score)
    return successes * mills - failures * other, curvature


def jackknife_error(gradient: Array, design: Array, counts: Counts, best: Array) -> float:
    """The half-width of the 68 % interval of a function of the coefficients with this gradient.

        δ_g = (I − I_g)⁻¹ s_g,   stderr² = (G−1)/G · Σ_g (gradient·δ_g)²,   I_g, s_g information and score of a cluster

    which is the jackknife over clusters to first order (CR3), right with few of them where the plain sandwich is far
    too small. Not below the error of independent trials: sharing patterns never helps. Student's t has as many degrees
    of freedom as there are clusters, weighted with their part in the variance, beyond the coefficients.
    """
    slope, curvature = _derivatives(design @ best, counts.successes, counts.trials - counts.successes)
    groups, place = np.unique(counts.cluster, return_inverse=True)
    score = np.zeros((groups.size, best.size))
    np.add.at(score, place, slope[:, None] * design)
    information = np.zeros((groups.size, best.size, best.size))
    np.add.at(information, place, curvature[:, None, None] * design[:, :, None] * design[:, None, :])
    whole = information.sum(axis=0)
    unit = magnitude(gradient)
    along = np.linalg.solve(whole, gradient / unit)
    left_out = np.einsum("gij,gj->gi", np.linalg.pinv(whole - information, hermitian=True), score) @ (gradient / unit)
    part = np.einsum("i,gij,j->g", along, information, along)
    variance = max((1 - 1 / groups.size) * np.sum(left_out**2), part.sum())
    return unit * half_interval(math.sqrt(variance), freedom(part, best.size))
