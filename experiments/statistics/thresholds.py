"""Critical loads: where half of the trials succeed, with an error over disorder samples."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import isotonic_regression
from scipy.special import chdtrc, ndtr, ndtri, xlogy

from experiments.statistics.columns import Array, single
from experiments.statistics.monotone import falling_half
from experiments.statistics.posterior import posterior
from experiments.statistics.probit import coefficients, jackknife_error
from experiments.statistics.success_counts import Counts, falling, through_half, validated_counts

FEWEST_CLUSTERS = 6  # the spread over fewer clusters says too little
FEWEST_CURVED = 5  # loads that a fit with a quadratic term needs
NEAREST_LOADS = 6
SURPRISE = 0.001  # a fit is rejected where χ² is exceeded with less than this probability


class CriticalLoad(NamedTuple):
    """Load at which half of the trials succeed. If the data have none, every float is NaN and a reason is given.

    `width` is the distance from the load of share 1/2 to the load of share Φ(−1) = 0.159 (the σ of a probit). `chi2`
    compares the shares with the fitted curve on `dof` degrees of freedom, in units of the clustered variance at one
    load (both 0 where nothing is left to test; samples that recur at every load make it smaller than dof). `loads`
    and `clusters` count what the fit used. `method` is its form: "curved probit" (with a quadratic term, from five
    loads on), "probit" (fewer), "monotone" (χ² has rejected the fit, whose `chi2`, `dof` and `width` these still are),
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
        """True if there is an estimate."""
        return self.method != "none"

    @property
    def misfit(self) -> bool:
        """True if χ² rejects the fitted curve, p < 0.001."""
        return self.dof > 0 and bool(chdtrc(self.dof, self.chi2) < SURPRISE)


def critical_load(
    load: ArrayLike, successes: ArrayLike, trials: ArrayLike, cluster: ArrayLike, *, tail: float = 0.2
) -> CriticalLoad:
    """The load at which half of the trials succeed, with its error over disorder samples.

        Φ⁻¹(P(success)) = b0 + b1·load + b2·load²,   stderr by the delta method from the jackknife over clusters

    A probit in load is right only near the transition (there are plateaus and finite-size tails beyond it), so the
    fit keeps the loads whose share, fitted with a straight line, lies in (tail, 1 − tail) and the next one on either
    side, five loads at least, and is repeated until this window stands still. It starts from the half crossing of the
    monotone (isotonic) regression, which noise in the tails cannot move far. The form is fixed beforehand: the
    quadratic term is there wherever the window holds five loads, since small systems fall less steeply beyond the
    transition than before it, and a term chosen by the data would leave that choice out of the error. Where χ² rejects
    the fit (p < 0.001), as for steps between plateaus, the crossing comes from the monotone curve through the shares
    (`monotone`), which supposes no shape and needs loads near the crossing. Success may fall or rise with load. Errors
    are the half-width of the 68 % interval of Student's t.

    Where no load lies inside the transition, where a step explains the window, or where there are fewer than six
    clusters, this error means nothing. The estimate is then the posterior mean of the threshold of a probit, flat in
    threshold and width, on the loads nearest to the crossing with one trial per cluster and load; the error is its
    standard deviation, at least width/√clusters. Between a load where all succeed and the next, where none does, this
    is the midpoint with an error of at least spacing/√12. It errs on the large side.

    Args:
        load: [R] control parameter of every row, on any axis (α, ln M, β ...).
        successes: [R] successes among the trials, 0 ≤ successes ≤ trials.
        trials: [R] trials of every row, ≥ 0; rows without trials are ignored.
        cluster: [R] label of the disorder sample of every row; one label may occur at several loads.
        tail: share in (0, 0.4] at which the transition window ends on either side.

    Returns:
        The estimate; `found` is False, and `reason` says why, where there is a single load, where the measured shares
        stay on one side of one half (nothing is extrapolated), or where they do not depend on load (|b1| < 2 stderr).

    Raises:
        ValueError: columns of different length, counts out of range, tail out of range.

    Source: Bell & McCaffrey 2002 (few clusters); Amit & Gutfreund & Sompolinsky 1987 for the criterion of one half.
    """
    return critical_loads(load, [successes], trials, cluster, tail=tail)[0]


def critical_loads(
    load: ArrayLike, nested: Sequence[ArrayLike], trials: ArrayLike, cluster: ArrayLike, *, tail: float = 0.2
) -> list[CriticalLoad]:
    """Critical loads of nested criteria, each harder than the one before it: of one form and in their order.

    The quadratic term is there if the windows of all hold five loads, and all are monotone if χ² rejects one of the
    fits. Two that come out in the wrong order by chance become their weighted mean, the estimate under the order that
    is known to hold.

    Args:
        load, trials, cluster, tail: as in `critical_load`.
        nested: successes [R] of each criterion, no more than of the one before.

    Source: Barlow et al. 1972, Statistical Inference under Order Restrictions.
    """
    tail = single("tail", tail, "in (0, 0.4]", 0.0, 0.4)
    family = [validated_counts(load, successes, trials, cluster) for successes in nested]
    sign = falling(family[0])[1]
    family = [counts._replace(load=sign * counts.load) for counts in family]
    reasons = [through_half(counts, tail)[2] for counts in family]
    windows = [None if reason else _window(counts, tail) for counts, reason in zip(family, reasons, strict=True)]
    degree = 2 if all(window.size >= FEWEST_CURVED for window in windows if window is not None) else 1
    found = [
        _no_estimate(reason, counts) if reason else _estimate(counts, window, degree, tail)
        for counts, window, reason in zip(family, windows, reasons, strict=True)
    ]
    if any(estimate.misfit for estimate in found):
        found = [
            _monotone(counts, each) if "probit" in each.method else each
            for counts, each in zip(family, found, strict=True)
        ]
    return [each._replace(value=sign * each.value) for each in _in_order(found)]


def _in_order(found: list[CriticalLoad]) -> list[CriticalLoad]:
    """Estimates whose values do not rise, those that do replaced by their weighted mean."""
    place = [i for i, each in enumerate(found) if each.found and each.stderr > 0]
    if len(place) > 1:
        value, stderr = (np.array([getattr(found[i], name) for i in place]) for name in ("value", "stderr"))
        weight = (stderr.min() / stderr) ** 2
        ordered = isotonic_regression(value, weights=weight, increasing=False).x
        for i, each in zip(place, ordered, strict=True):
            found[i] = found[i]._replace(value=float(each))
    return found


def _monotone(counts: Counts, estimate: CriticalLoad) -> CriticalLoad:
    value, stderr = falling_half(*counts)
    return estimate._replace(value=value, stderr=stderr, method="monotone")


def _estimate(counts: Counts, window: Array | None, degree: int, tail: float) -> CriticalLoad:
    """The fit to the loads in the window, or what the loads nearest to the crossing say if it holds too little."""
    line = None if window is None else _fit(counts.at(window))
    if window is None or line is None:
        crossing = through_half(counts, tail)[0]
        nearest = np.argsort(np.abs(np.unique(counts.load) - crossing), kind="stable")[:NEAREST_LOADS]
        return _nearest(counts.at(np.unique(counts.load)[nearest]))
    curve = _fit(counts.at(window), degree) if degree > 1 and line.found else None
    return line if curve is None else curve


def _window(counts: Counts, tail: float) -> Array | None:
    """The loads with shares in (tail, 1 − tail), fitted with a straight line, and the next load on either side.

    None where this window holds too little for a fit.
    """
    loads = np.unique(counts.load)
    crossing, reach, _ = through_half(counts, tail)
    window = np.empty(0)
    for step in range(20):
        first, end = np.searchsorted(loads, [crossing - reach, crossing + reach])
        if end + 1 - max(first - 1, 0) < FEWEST_CURVED:
            first = max(np.searchsorted(loads, crossing) - FEWEST_CURVED // 2, 0) + 1
            end = min(first + FEWEST_CURVED - 2, loads.size)
        previous, window = window, loads[max(first - 1, 0) : end + 1]
        if np.array_equal(previous, window):
            break
        line = _fit(counts.at(window))
        if line is None or not loads[0] <= line.value <= loads[-1]:
            # No slope in the first, widest window is a finding; later it means that the window became too small.
            return window if line is not None and not line.found and step == 0 else None
        crossing, reach = line.value, line.width * ndtri(1 - tail)
    return window


def _fit(counts: Counts, degree: int = 1) -> CriticalLoad | None:
    """The probit regression on powers of the load, or None where these rows hold too little for it.

    A parabola is read on its branch that falls through one half within the loads.
    """
    clusters, (loads, s, n) = np.unique(counts.cluster).size, counts.pooled()
    if clusters < FEWEST_CLUSTERS or counts.is_separated():
        return None
    centre, scale = loads.mean(), np.ptp(loads)  # raw loads, such as 0.137 to 0.139, are ill-conditioned
    powers = lambda load: np.vander((load - centre) / scale, degree + 1, increasing=True)
    best = coefficients(powers(loads), s, n)
    if best is None:
        return None
    error = lambda gradient: jackknife_error(np.array(gradient), powers(counts.load), counts, best)
    if degree == 1 and best[1] > -2 * error([0.0, 1.0]):
        return _no_estimate("the share of successes does not depend on load within its error", counts)
    b0, b1, b2 = [*best, 0.0][:3]
    steep = math.sqrt(max(b1**2 - 4 * b0 * b2, 0.0))  # minus the slope where the curve falls through one half
    place = 2 * b0 / (steep - b1) if steep > max(b1, 0.0) else math.inf
    if degree == 2 and not abs(place - (loads[0] + loads[-1] - 2 * centre) / 2 / scale) <= 0.5:
        return None
    stderr = error(scale / steep * place ** np.arange(degree + 1))
    if not stderr < scale:  # it says less than the loads do
        return None
    chi2, dof = _goodness(s, n, ndtr(powers(loads) @ best), counts.dispersion(), degree + 1)
    return CriticalLoad(
        value=float(centre + scale * place),
        stderr=stderr,
        width=float(scale / steep),
        chi2=chi2,
        dof=dof,
        method="probit" if degree == 1 else "curved probit",
        loads=loads.size,
        clusters=clusters,
    )


def _goodness(s: Array, n: Array, fitted: Array, dispersion: float, parameters: int) -> tuple[float, int]:
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
