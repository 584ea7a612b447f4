"""Posteriors of thresholds where too little was measured for a regression."""

import math

import numpy as np
import pytest
from scipy.special import ndtr

from experiments.statistics.thresholds import critical_load
from tests.experiments.statistics.designs import LOADS, THRESHOLD, beta_binomial, rows


@pytest.mark.parametrize("spacing", [0.002, 0.02], ids=lambda spacing: f"spacing={spacing}")
def test_a_step_gives_the_midpoint_with_at_least_the_error_of_a_uniform_bracket(spacing):
    loads = THRESHOLD + spacing * np.arange(-4, 4)
    load, cluster = rows(loads, 200)
    found = critical_load(load, np.where(load < THRESHOLD, 16, 0), np.full(load.size, 16), cluster)
    # all succeed at THRESHOLD − spacing, none at THRESHOLD
    assert found.method == "posterior"
    assert found.value == pytest.approx(THRESHOLD - spacing / 2, rel=1e-12)
    assert spacing / math.sqrt(12) <= found.stderr < 0.35 * spacing


def test_posterior_error_covers_thresholds_between_coarse_loads():
    rng = np.random.default_rng(11)
    pull, methods = [], set()
    for _ in range(100):
        load, cluster = rows(LOADS + rng.uniform(-0.5, 0.5) * 0.005, 20)
        successes = beta_binomial(rng, ndtr((THRESHOLD - load) / 0.0006), 16, 0.3)
        found = critical_load(load, successes, np.full(load.size, 16), cluster)
        methods.add(found.method)
        pull.append((found.value - THRESHOLD) / found.stderr)
    assert "posterior" in methods
    assert np.mean(np.abs(pull) < 1) > 0.6
    assert np.max(np.abs(pull)) < 4
