"""Monotone curves instead of a probit that the data reject."""

import numpy as np
from scipy.special import ndtr

from experiments.statistics.thresholds import critical_load
from hopfield.theory import exponential
from tests.experiments.statistics.designs import rows


def test_a_plateau_that_ends_in_a_cliff_is_not_forced_into_a_probit():
    # The exact shares of the exponential memory at N = 16, beside the exact load of one half: no probit, which fitted
    # in narrow windows lies two errors too low.
    loads = [0.3, 0.4, 0.5, 0.53, 0.54, 0.55, 0.56, 0.565, 0.57, 0.575, 0.58, 0.59, 0.6]
    patterns = np.round(np.exp(16 * np.array(loads)))
    share = exponential.target_weight_probability(16, patterns)
    load, cluster = rows(np.log(patterns) / 16, 40)
    rng = np.random.default_rng(0)
    pull, errors = [], []
    for _ in range(20):
        found = critical_load(load, rng.binomial(10, np.repeat(share, 40)), np.full(load.size, 10), cluster)
        assert found.method != "probit"
        pull.append((found.value - float(exponential.critical_load(16))) / found.stderr)
        errors.append(found.stderr)
    assert np.mean(errors) < 0.0012
    assert np.sqrt(np.mean(np.square(pull))) < 1.5
    assert abs(np.mean(pull)) < 0.8


def test_steps_between_plateaus_cross_where_the_monotone_curve_does():
    load, cluster = rows(np.linspace(0.10, 0.18, 33), 40)
    share = np.select([load < 0.125, load < 0.14, load < 0.155], [1.0, 0.7, 0.3], 0.0)
    found = critical_load(load, np.random.default_rng(1).binomial(400, share), np.full(load.size, 400), cluster)
    assert found.method == "monotone"
    assert found.chi2 / found.dof > 10  # of the fit that was rejected
    assert 0.1375 <= found.value <= 0.14  # neighbouring loads
    assert found.stderr < 0.0025


def test_shares_of_two_mixed_systems_are_rejected_by_their_chi2():
    # Two thresholds 0.003 apart at alternating loads, as of odd and even numbers of patterns.
    load, cluster = rows(np.linspace(0.17, 0.22, 11), 400)
    shift = np.repeat(np.where(np.arange(11) % 2, 0.0015, -0.0015), 400)
    rng = np.random.default_rng(0)
    mixed, alone = (
        critical_load(load, rng.binomial(10, ndtr((0.197 + delta - load) / 0.012)), np.full(load.size, 10), cluster)
        for delta in (shift, 0.0)
    )
    assert (mixed.method, alone.method) == ("monotone", "curved probit")
    assert mixed.chi2 / mixed.dof > 10 > 3 > alone.chi2 / alone.dof
