"""Critical loads: where half of the trials succeed, with an error over disorder samples."""

import math
import warnings
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtrc, expit, logit, ndtr, ndtri, xlogy
from statsmodels.genmod.families import Binomial, links
from statsmodels.genmod.generalized_linear_model import GLM

from experiments.statistics.columns import Array, magnitude, single
from experiments.statistics.monotone import falling_half
from experiments.statistics.posterior import posterior
from experiments.statistics.success_counts import Counts, falling, through_half, validated_counts

LINKS = ("probit", "logit")
FEWEST_CLUSTERS = 6  # a sandwich over fewer clusters is far too small
FEWEST_CURVED = 5  # loads that a fit with a quadratic term needs
SHORTFALL = 6.0  # of χ², which chance reaches once in 70 times
NEAREST_LOADS = 6
SURPRISE = 0.001  # a fit is rejected where χ² is exceeded with less than this probability


class CriticalLoad(NamedTuple):
    """Load at which half of the trials succeed. If the data have none, every float is NaN and a reason is given.

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
    tail = single("tail", tail, "in (0, 0.4]", 0.0, 0.4)
    counts, sign = falling(validated_counts(load, successes, trials, cluster))
    crossing, _, reason = through_half(counts, tail)
    if reason:
        return _no_estimate(reason, counts)
    estimate = _windowed_fit(counts, link, tail)
    if estimate is None:
        nearest = np.argsort(np.abs(np.unique(counts.load) - crossing), kind="stable")[:NEAREST_LOADS]
        estimate = _nearest(counts.at(np.unique(counts.load)[nearest]))
    elif _is_rejected(estimate):
        value, stderr = falling_half(*counts)
        estimate = estimate._replace(value=value, stderr=stderr, method="monotone")
    return estimate._replace(value=sign * estimate.value)


def _is_rejected(estimate: CriticalLoad) -> bool:
    return estimate.dof > 0 and bool(chdtrc(estimate.dof, estimate.chi2) < SURPRISE)


def _windowed_fit(counts: Counts, link: str, tail: float) -> CriticalLoad | None:
    """Fit to the loads with fitted shares in (tail, 1 − tail) and to the next load on either side.

    None where this window holds too little for a fit.
    """
    loads = np.unique(counts.load)
    crossing, reach, _ = through_half(counts, tail)
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
    return estimate and _with_quadratic_term(counts.at(window), link, estimate)


def _with_quadratic_term(counts: Counts, link: str, straight: CriticalLoad) -> CriticalLoad:
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
    chi2, dof = _goodness(s, n, share(line((loads - centre) / scale)), counts.dispersion(), 3)
    if not inside or chi2 > straight.chi2 - SHORTFALL:
        return straight
    slope = float(line.deriv()(inside[0])) / scale
    gradient = -(inside[0] ** np.arange(3)) / slope
    return straight._replace(
        value=float(centre + scale * inside[0]),
        stderr=_error(gradient, fit),
        width=float(score(ndtr(1.0)) / -slope),
        chi2=chi2,
        dof=dof,
        method=f"curved {link}",
    )


def _fit(counts: Counts, link: str, tail: float) -> tuple[CriticalLoad | None, float]:
    """The regression on these rows, or None, and the distance from its crossing to the share `tail`."""
    clusters = np.unique(counts.cluster).size
    if clusters < FEWEST_CLUSTERS or counts.is_separated():
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
    chi2, dof = _goodness(s, n, share(b0 + b1 * (loads - centre) / scale), counts.dispersion())
    return CriticalLoad(
        value=float(value),
        stderr=_error(gradient, fit),
        width=float(score(ndtr(1.0)) / -b1 * scale),
        chi2=chi2,
        dof=dof,
        method=link,
        loads=loads.size,
        clusters=clusters,
    ), float(inside)


def _error(gradient: Array, fit: Any) -> float:
    """The error of a function of the coefficients with this gradient, from the sandwich and from independent trials.

    The larger one: sharing patterns never helps, and with few clusters the sandwich can be far too small by accident.
    """
    unit = magnitude(gradient)
    along = gradient / unit
    variances = [along @ np.asarray(each) @ along for each in (fit.cov_params(), fit.normalized_cov_params)]
    return unit * math.sqrt(max(variances))


def _links(link: str) -> tuple[Any, Any]:
    """The link as a function of the share, and the share as a function of its linear predictor."""
    return (ndtri, ndtr) if link == "probit" else (logit, expit)


def _regression(counts: Counts, link: str, degree: int) -> tuple[Any, float, float]:
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
    """Likelihood-ratio χ² of the loads and its degrees of freedom. Pearson's explodes on one success in a tail."""
    fitted = np.clip(fitted, 1e-12, 1 - 1e-12)
    deviance = xlogy(s, s / (n * fitted)) + xlogy(n - s, (n - s) / (n * (1 - fitted)))
    dof = s.size - parameters
    return (2 * float(deviance.sum()) / dispersion if dof else 0.0), dof


def _no_estimate(reason: str, counts: Counts) -> CriticalLoad:
    loads, clusters = np.unique(counts.load).size, np.unique(counts.cluster).size
    nan = math.nan
    return CriticalLoad(nan, nan, nan, nan, 0, "none", loads, clusters, reason)


def _nearest(counts: Counts) -> CriticalLoad:
    """Estimate from the loads nearest to the crossing, used where the regression fails."""
    value, stderr, width = posterior(counts)
    return CriticalLoad(
        value, stderr, width, 0.0, 0, "posterior", np.unique(counts.load).size, np.unique(counts.cluster).size
    )
