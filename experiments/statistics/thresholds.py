"""Critical loads: where half of the trials succeed, with an error over disorder samples.

scipy and statsmodels are imported where they are used: importing this module costs no more than numpy.
"""

import math
import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import isotonic_regression
from scipy.special import chdtrc, expit, log_ndtr, logit, ndtr, ndtri, xlogy
from statsmodels.genmod.families import Binomial, links
from statsmodels.genmod.generalized_linear_model import GLM

from experiments.statistics.monotone import falling_half

Array = NDArray[Any]

LINKS = ("probit", "logit")
FEWEST_CLUSTERS = 6  # a sandwich over fewer clusters is far too small
FEWEST_CURVED = 5  # loads that a fit with a quadratic term needs
SHORTFALL = 6.0  # of χ², which chance reaches once in 70 times
NEAREST_LOADS = 6
SURPRISE = 0.001  # a fit is rejected where χ² is exceeded with less than this probability


class CriticalLoad(NamedTuple):
    """The load at which half of the trials succeed; where the data have none, NaN in every float and a reason.

    `width` is the distance from the load of share 1/2 to that of share Φ(−1) = 0.159 (the σ of a probit). `chi2`
    compares the shares with the fitted curve on `dof` degrees of freedom, in units of the clustered variance at one
    load (both 0 where nothing is left to test; samples that recur at every load make it smaller than dof). `loads`
    and `clusters` count what the fit used. `method` is "probit" or "logit" (a fit), "curved probit" or "curved logit"
    (one with a quadratic term), "monotone" (χ² has rejected the fit, whose `chi2`, `dof` and `width` these still are),
    "posterior" or "none".
    """

    value: float
    stderr: float
    width: float
    chi2: float
    dof: int
    method: str
    loads: int
    clusters: int
    reason: str = ""

    @property
    def found(self) -> bool:
        """Whether there is an estimate."""
        return self.method != "none"


class _Counts(NamedTuple):
    """Successes of every (load, cluster) pair; the loads are signed so that success falls along them."""

    load: Array
    successes: Array
    trials: Array
    cluster: Array

    def pooled(self) -> tuple[Array, Array, Array]:
        """The distinct loads with their successes and trials."""
        loads, place = np.unique(self.load, return_inverse=True)
        return loads, np.bincount(place, self.successes), np.bincount(place, self.trials)

    def at(self, loads: Array) -> "_Counts":
        """The rows at these loads."""
        keep = np.isin(self.load, loads)
        return _Counts(*(column[keep] for column in self))

    def separated(self) -> bool:
        """Whether a step explains the data: no maximum-likelihood curve exists (Albert & Anderson 1984)."""
        last_success = self.load[self.successes > 0].max(initial=-np.inf)
        first_failure = self.load[self.successes < self.trials].min(initial=np.inf)
        return bool(last_success <= first_failure)


def critical_load(
    load: ArrayLike,
    successes: ArrayLike,
    trials: ArrayLike,
    cluster: ArrayLike,
    *,
    link: str = "probit",
    tail: float = 0.05,
) -> CriticalLoad:
    """The load at which half of the trials succeed, with its error over disorder samples.

        link(P(success)) = b0 + b1·load,   value = −b0/b1,   stderr by the delta method from the clustered sandwich

    A probit in load is right only near the transition (there are plateaus and finite-size tails beyond it), so the
    fit keeps the loads whose fitted share lies in (tail, 1 − tail) and the next one on either side, and is repeated
    until this window stands still. It starts from the half crossing of the monotone (isotonic) regression, which
    noise in the tails cannot move far. A term b2·load² is added where the window holds five loads or more and that
    lowers χ² by more than 6: small systems fall less steeply beyond the transition than before it, and a straight
    line puts their threshold too high. Where χ² rejects the fit (p < 0.001), as for steps between plateaus, the
    crossing is that of the monotone curve through the shares (`monotone`), which supposes no shape and
    needs loads near the crossing. Success may fall or rise with load.

    Where no load lies inside the transition, where a step explains the window, or where there are fewer than six
    clusters, a sandwich means nothing. The estimate is then the posterior mean of the threshold of a probit, flat in
    threshold and width, on the loads nearest to the crossing with one trial per cluster and load; the error is its
    standard deviation, at least width/√clusters. Between a load where all succeed and the next, where none does, this
    is the midpoint with an error of at least spacing/√12. It errs on the large side.

    Args:
        load: [R] control parameter of every row, on any axis (α, ln M, β ...).
        successes: [R] successes among the trials, 0 ≤ successes ≤ trials.
        trials: [R] trials of every row, ≥ 0; rows without trials are ignored.
        cluster: [R] label of the disorder sample of every row; one label may occur at several loads.
        link: "probit" or "logit".
        tail: share in (0, 0.4] at which the transition window ends on either side.

    Returns:
        The estimate; `found` is False, and `reason` says why, where there is a single load, where the measured shares
        stay on one side of one half (nothing is extrapolated), or where they do not depend on load (|b1| < 2 stderr).

    Raises:
        ValueError: columns of different length, counts out of range, unknown link, tail out of range.

    Source: Liang & Zeger 1986 (sandwich); Amit & Gutfreund & Sompolinsky 1987 for the criterion of one half.
    """
    if link not in LINKS:
        raise ValueError(f"link must be one of {', '.join(LINKS)}, got {link!r}")
    if not 0 < tail <= 0.4:
        raise ValueError(f"tail must be in (0, 0.4], got {tail}")
    counts, sign = _falling(_counts(load, successes, trials, cluster))
    crossing, _, reason = _half_crossing(counts, tail)
    if reason:
        return _no_estimate(reason, counts)
    estimate = _windowed_fit(counts, link, tail)
    if estimate is None:
        nearest = np.argsort(np.abs(np.unique(counts.load) - crossing), kind="stable")[:NEAREST_LOADS]
        estimate = _posterior(counts.at(np.unique(counts.load)[nearest]))
    elif _rejected(estimate):
        value, stderr = falling_half(*counts)
        estimate = estimate._replace(value=value, stderr=stderr, method="monotone")
    return estimate._replace(value=sign * estimate.value)


def _rejected(estimate: CriticalLoad) -> bool:
    return estimate.dof > 0 and bool(chdtrc(estimate.dof, estimate.chi2) < SURPRISE)


def _windowed_fit(counts: _Counts, link: str, tail: float) -> CriticalLoad | None:
    """The fit to the loads whose fitted share lies in (tail, 1 − tail) and the next one on either side.

    None where this window holds too little for a fit.
    """
    loads = np.unique(counts.load)
    crossing, reach, _ = _half_crossing(counts, tail)
    window, estimate = np.empty(0), None
    for step in range(20):
        first, end = np.searchsorted(loads, [crossing - reach, crossing + reach])
        previous, window = window, loads[max(first - 1, 0) : end + 1]
        if np.array_equal(previous, window):
            break
        estimate, reach = _fit(counts.at(window), link, tail)
        if estimate is None or not loads[0] <= estimate.value <= loads[-1]:
            # No slope in the first, widest window is a finding; later it means that the window became too small.
            return estimate if estimate is not None and not estimate.found and step == 0 else None
        crossing = estimate.value
    return estimate and _curved(counts.at(window), link, estimate)


def _curved(counts: _Counts, link: str, straight: CriticalLoad) -> CriticalLoad:
    """The fit with a quadratic term where that lowers χ² by more than 6, else the straight one."""
    loads, s, n = counts.pooled()
    if not straight.found or loads.size < FEWEST_CURVED:
        return straight
    fit, centre, scale = _regression(counts, link, 2)
    coefficients, cov = np.asarray(fit.params), np.asarray(fit.cov_params())
    if not (fit.converged and np.isfinite(cov).all()):
        return straight
    line = np.polynomial.Polynomial(coefficients)
    # The branch that falls through one half within the window, not where the parabola turns back.
    real = [x.real for x in line.roots() if x.imag == 0]
    inside = [x for x in real if line.deriv()(x) < 0 and loads[0] <= centre + scale * x <= loads[-1]]
    score, share = _links(link)
    chi2, dof = _goodness(s, n, share(line((loads - centre) / scale)), _dispersion(counts), 3)
    if not inside or chi2 > straight.chi2 - SHORTFALL:
        return straight
    slope = float(line.deriv()(inside[0])) / scale
    gradient = -(inside[0] ** np.arange(3)) / slope
    return straight._replace(
        value=float(centre + scale * inside[0]),
        stderr=math.sqrt(max(gradient @ cov @ gradient, gradient @ fit.normalized_cov_params @ gradient)),
        width=float(score(ndtr(1.0)) / -slope),
        chi2=chi2,
        dof=dof,
        method=f"curved {link}",
    )


def _counts(load: ArrayLike, successes: ArrayLike, trials: ArrayLike, cluster: ArrayLike) -> _Counts:
    """Validated columns, one row per (load, cluster) pair; the clusters become integers."""
    columns = [np.asarray(column, dtype=float) for column in (load, successes, trials)]
    labels = np.asarray(cluster)
    if any(column.ndim != 1 or column.shape != labels.shape for column in columns):
        shapes = ", ".join(str(column.shape) for column in [*columns, labels])
        raise ValueError(f"load, successes, trials and cluster must be columns of one length, got shapes {shapes}")
    used = columns[2] > 0
    x, s, n = (column[used] for column in columns)
    if not (np.isfinite(x).all() and np.isfinite(n).all() and (columns[2] >= 0).all()):
        raise ValueError("load must be finite and trials finite and not negative")
    if not ((s >= 0) & (s <= n)).all():
        raise ValueError("successes must lie between 0 and trials")
    if not x.size:
        raise ValueError("trials must be positive in at least one row, got none")
    loads, place = np.unique(x, return_inverse=True)
    groups, group = np.unique(labels[used], return_inverse=True)
    cells, cell = np.unique(place * groups.size + group, return_inverse=True)
    return _Counts(loads[cells // groups.size], np.bincount(cell, s), np.bincount(cell, n), cells % groups.size)


def _falling(counts: _Counts) -> tuple[_Counts, int]:
    """The counts against ±load, the sign chosen so that success falls along it, and that sign."""
    share = counts.successes / counts.trials
    offset = counts.load - np.average(counts.load, weights=counts.trials)
    if np.sum(counts.trials * offset * share) <= 0:
        return counts, 1
    return counts._replace(load=-counts.load), -1


def _half_crossing(counts: _Counts, tail: float) -> tuple[float, float, str]:
    """Where the isotonic regression passes one half, how far from there it leaves (tail, 1 − tail), why not."""
    loads, s, n = counts.pooled()
    if loads.size == 1:
        return math.nan, math.nan, "a single load was measured"
    share = isotonic_regression(s / n, weights=n, increasing=False).x
    if share[-1] > 0.5:
        return math.nan, math.nan, "more than half of the trials succeed at every measured load"
    if share[0] < 0.5:
        return math.nan, math.nan, "fewer than half of the trials succeed at every measured load"
    last, first = np.flatnonzero(share >= 0.5)[-1], np.flatnonzero(share <= 0.5)[0]
    if first < last:  # a plateau at one half
        crossing = (loads[first] + loads[last]) / 2
    else:
        crossing = np.interp(0.5, share[[first, last]], loads[[first, last]])
    low = loads[share >= 1 - tail].max(initial=loads[0])
    high = loads[share <= tail].min(initial=loads[-1])
    return float(crossing), float(max(crossing - low, high - crossing)), ""


def _fit(counts: _Counts, link: str, tail: float) -> tuple[CriticalLoad | None, float]:
    """The regression on these rows, or None, and the distance from its crossing to the share `tail`."""
    clusters = np.unique(counts.cluster).size
    if clusters < FEWEST_CLUSTERS or counts.separated():
        return None, math.nan
    score, share = _links(link)
    loads, s, n = counts.pooled()
    fit, centre, scale = _regression(counts, link, 1)
    (b0, b1), cov = np.asarray(fit.params), np.asarray(fit.cov_params())
    inside = score(1 - tail) / -b1 * scale
    value = centre - b0 / b1 * scale
    if not (fit.converged and np.isfinite(cov).all() and (b1 > 0 or np.any(np.abs(loads - value) < inside))):
        return None, math.nan
    if b1 > -2 * math.sqrt(cov[1, 1]):
        return _no_estimate("the share of successes does not depend on load within its error", counts), math.nan
    gradient = np.array([-1 / b1, b0 / b1**2]) * scale
    chi2, dof = _goodness(s, n, share(b0 + b1 * (loads - centre) / scale), _dispersion(counts))
    return CriticalLoad(
        value=float(value),
        # Sharing patterns never helps: with few clusters the sandwich can be far too small by accident.
        stderr=math.sqrt(max(gradient @ cov @ gradient, gradient @ fit.normalized_cov_params @ gradient)),
        width=float(score(ndtr(1.0)) / -b1 * scale),
        chi2=chi2,
        dof=dof,
        method=link,
        loads=loads.size,
        clusters=clusters,
    ), float(inside)


def _links(link: str) -> tuple[Any, Any]:
    """The link as a function of the share, and the share as a function of its linear predictor."""
    return (ndtri, ndtr) if link == "probit" else (logit, expit)


def _regression(counts: _Counts, link: str, degree: int) -> tuple[Any, float, float]:
    """Binomial regression on powers of (load − centre)/scale with the clustered sandwich; centre and scale."""
    loads = np.unique(counts.load)
    centre, scale = loads.mean(), np.ptp(loads)  # raw loads, such as 0.137 to 0.139, are ill-conditioned
    design = np.vander((counts.load - centre) / scale, degree + 1, increasing=True)
    outcome = np.column_stack([counts.successes, counts.trials - counts.successes])
    family = Binomial(link=links.Probit() if link == "probit" else links.Logit())
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # separation and overflow on the way; convergence is checked
        fit = GLM(outcome, design, family=family).fit(
            maxiter=200, cov_type="cluster", cov_kwds={"groups": counts.cluster}
        )
    return fit, float(centre), float(scale)


def _goodness(s: Array, n: Array, fitted: Array, dispersion: float, parameters: int = 2) -> tuple[float, int]:
    """Likelihood-ratio χ² of the loads and its degrees of freedom; Pearson's explodes on one success in a tail."""
    fitted = np.clip(fitted, 1e-12, 1 - 1e-12)
    deviance = xlogy(s, s / (n * fitted)) + xlogy(n - s, (n - s) / (n * (1 - fitted)))
    dof = s.size - parameters
    return (2 * float(deviance.sum()) / dispersion if dof else 0.0), dof


def _dispersion(counts: _Counts) -> float:
    """Variance of the rows of one load over the binomial one (the design effect), at least 1."""
    loads, s, n = counts.pooled()
    place = np.searchsorted(loads, counts.load)
    share = (s / n)[place]
    mixed = (share > 0) & (share < 1)
    spare = int(mixed.sum()) - np.unique(place[mixed]).size
    if spare <= 0:
        return 1.0
    residual = (counts.successes - counts.trials * share)[mixed] ** 2
    return max(1.0, float(np.sum(residual / (counts.trials * share * (1 - share))[mixed]) / spare))


def _posterior(counts: _Counts) -> CriticalLoad:
    """Posterior mean of the threshold of a probit, flat in threshold and width, on a grid of both."""
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
    if counts.separated() and not ((s > 0) & (s < n)).any():
        bracket = loads[s > 0][-1], loads[s < n][0]
        value = float(sum(bracket) / 2)
        stderr = max(stderr, float(np.ptp(bracket)) / math.sqrt(12))
    return CriticalLoad(value, stderr, spread, 0.0, 0, "posterior", loads.size, clusters)


def _no_estimate(reason: str, counts: _Counts) -> CriticalLoad:
    loads, clusters = np.unique(counts.load).size, np.unique(counts.cluster).size
    nan = math.nan
    return CriticalLoad(nan, nan, nan, nan, 0, "none", loads, clusters, reason)
