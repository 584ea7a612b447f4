"""Coverage of critical loads: intervals of clustered data, and of the same data with the clusters ignored."""

import numpy as np
import pytest
from scipy.special import ndtr

from experiments.statistics.thresholds import critical_load
from tests.experiments.statistics.designs import LOADS, THRESHOLD, WIDTH, beta_binomial, rows


def simulated(repetitions, samples, correlation, spread, label):
    """Pulls (estimate − truth)/stderr and estimates; `label` turns the samples of the rows into clusters."""
    rng = np.random.default_rng(7)
    found = []
    for _ in range(repetitions):
        loads = LOADS + rng.uniform(-0.5, 0.5) * (LOADS[1] - LOADS[0])
        load, sample = rows(loads, samples)
        threshold = THRESHOLD + rng.normal(0, spread, samples)[sample]
        probability = ndtr((threshold - load) / WIDTH)
        trials = rng.integers(8, 25, load.size)
        successes = beta_binomial(rng, probability, trials, correlation or 1e-9)
        found.append(critical_load(*label(load, successes, trials, sample)))
    return np.array([(estimate.value - THRESHOLD) / estimate.stderr for estimate in found]), found


def by_sample(load, successes, trials, sample):
    return load, successes, trials, sample


# With 200 repetitions the coverage of an exact interval, 0.683, has a standard error of 0.033: 0.58 to 0.78 is ±3.
DESIGNS = [
    pytest.param(40, 0.3, 0.0, id="beta-binomial-40-samples"),
    pytest.param(10, 0.3, 0.0, id="beta-binomial-10-samples"),
    pytest.param(20, 0.0, WIDTH, id="samples-shared-by-all-loads"),
]


@pytest.mark.physics
@pytest.mark.parametrize(("samples", "correlation", "spread"), DESIGNS)
def test_one_sigma_interval_covers_two_thirds_of_clustered_data(samples, correlation, spread):
    pull, found = simulated(200, samples, correlation, spread, by_sample)
    # A straight line is the truth here, of which the fixed form knows nothing; by chance a few are rejected.
    assert sum(estimate.method == "curved probit" for estimate in found) > 190
    assert 0.58 < np.mean(np.abs(pull) < 1) < 0.78
    assert 0.90 < np.mean(np.abs(pull) < 2) < 0.99
    assert abs(pull.mean()) < 0.3
    if correlation:  # rows independent between loads, as χ² takes them; its dispersion is estimated
        assert 0.8 < np.mean([estimate.chi2 / estimate.dof for estimate in found]) < 1.35
