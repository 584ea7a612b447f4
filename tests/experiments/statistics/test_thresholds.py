"""Critical loads: closed forms, simulated coverage, and an independent numpy route to the clustered regression."""

import math

import numpy as np
import pytest
from scipy.optimize import brentq, minimize
from scipy.special import log_ndtr, ndtr, stdtrit

from experiments.statistics.clusters import jackknife
from experiments.statistics.thresholds import critical_load, critical_loads
from tests.experiments.statistics.designs import LOADS, THRESHOLD, WIDTH, beta_binomial, rows


def exact_counts(loads, trials, curve):
    """Counts that lie on the curve, one cluster-sized row each for ten clusters."""
    load, cluster = rows(loads, 10)
    return load, trials * curve(load), np.full(load.size, trials), cluster


@pytest.mark.parametrize("shift", [-0.0011, 0.0, 0.002], ids=lambda shift: f"shift={shift}")
def test_counts_on_the_curve_give_back_threshold_and_width(shift):
    found = critical_load(*exact_counts(LOADS, 1000.0, lambda load: ndtr((THRESHOLD + shift - load) / WIDTH)))
    assert found.method == "curved probit"
    assert found.value == pytest.approx(THRESHOLD + shift, abs=1e-8)
    assert found.width == pytest.approx(WIDTH, rel=1e-5)
    assert found.chi2 == pytest.approx(0, abs=1e-6)


def test_estimate_equals_a_regression_and_a_jackknife_by_another_route():
    rng = np.random.default_rng(2)
    load, cluster = rows(LOADS[[1, 3, 5, 7]], 40)
    trials = rng.integers(5, 25, load.size)
    successes = beta_binomial(rng, ndtr((THRESHOLD - load) / WIDTH), trials, 0.3)

    def threshold(used):
        def against(parameters):
            score = (parameters[0] - (load - THRESHOLD) / WIDTH) * parameters[1]
            return -np.sum((successes * log_ndtr(score) + (trials - successes) * log_ndtr(-score))[used])

        best = minimize(against, [0.1, 1.0], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-9}).x
        return THRESHOLD + WIDTH * best[0]

    found = critical_load(load, successes, trials, cluster)
    assert (found.method, found.loads) == ("probit", 4)  # every load is inside the window: both fits use the same rows
    assert found.value == pytest.approx(threshold(load > 0), abs=1e-7)
    left_out = [threshold(cluster != each) for each in range(40)]
    assert found.stderr == pytest.approx(jackknife(left_out) * stdtrit(38, ndtr(1.0)), rel=0.03)


@pytest.mark.parametrize(
    ("share", "reason"),
    [
        pytest.param(lambda load: 0.9 + 0 * load, "more than half", id="never-falls"),
        pytest.param(lambda load: 0.45 - load, "fewer than half", id="never-rises"),
        pytest.param(lambda load: 1.0 + 0 * load, "more than half", id="all-succeed"),
        pytest.param(lambda load: 0.0 * load, "fewer than half", id="none-succeeds"),
    ],
)
def test_curve_that_never_crosses_one_half_has_no_estimate_but_a_reason(share, reason):
    load, cluster = rows(LOADS, 10)
    found = critical_load(load, np.round(100 * share(load)), np.full(load.size, 100), cluster)
    assert not found.found
    assert found.method == "none"
    assert math.isnan(found.value)
    assert math.isnan(found.stderr)
    assert reason in found.reason


def test_tails_far_from_the_transition_do_not_move_the_estimate():
    # A plateau at 0.97 below, one at 0.02 above and a bump of 0.3 far beyond: no probit over the whole range.
    loads = np.linspace(0.08, 0.20, 49)

    def share(load, shift=0.0):
        return 0.02 + 0.95 * ndtr((THRESHOLD + shift - load) / 0.003)

    true = brentq(lambda load: share(load) - 0.5, 0.13, 0.15)
    load, cluster = rows(loads, 40)
    rng = np.random.default_rng(9)
    bump = 0.3 * np.exp(-(((load - 0.19) / 0.006) ** 2))
    found = critical_load(load, beta_binomial(rng, share(load) + bump, 16, 0.3), np.full(load.size, 16), cluster)
    assert found.method == "curved probit"
    assert abs(found.value - true) < 3 * found.stderr
    assert found.stderr < 0.0004
    assert found.width == pytest.approx(0.003, rel=0.35)
    assert found.loads < 20


@pytest.mark.slow
@pytest.mark.parametrize("rising", [False, True])
@pytest.mark.parametrize("samples", [3, 12])
def test_harder_criteria_never_have_the_larger_critical_load(rising, samples):
    """One form of curve, whatever is drawn: the same runs with cuts that most trials pass all or none of."""
    load, cluster = rows(LOADS[::2], samples)
    found = set()
    for seed in range(60):
        rng = np.random.default_rng(seed)
        easy = beta_binomial(rng, ndtr((THRESHOLD - load) / WIDTH), 5, 0.5)
        nested = [easy, rng.binomial(easy, 0.97), rng.binomial(easy, 0.9)]
        nested[2] = np.minimum(nested[1], nested[2])
        axis = -load if rising else load
        several = critical_loads(axis, nested, np.full(load.size, 5), cluster)
        value = [each.value * (-1 if rising else 1) for each in several if each.found]
        assert value == sorted(value, reverse=True)
        found |= {frozenset(each.method for each in several)}
        first = critical_load(axis, easy, np.full(load.size, 5), cluster)
        assert several[0].method != first.method or several[0].value == pytest.approx(first.value, rel=0.02)
    assert any(len(methods) == 1 for methods in found)
