"""The asymptotic capacity experiment: thresholds against exact theory, and what it refuses."""

from itertools import product

import numpy as np
import pandas
import pytest
from scipy.special import ndtr

from experiments.capacity_asymptotic.experiment import Config, measure, points, summarise
from experiments.statistics.clusters import standard_error
from experiments.statistics.crossings import parabolic_crossing
from tests.experiments import estimates


@pytest.fixture(scope="module")
def table() -> pandas.DataFrame:
    near = [-0.05, -0.02, -0.01, 0.0, 0.01, 0.02, 0.05]
    config = Config(neurons=[14, 60], enumerated=[14], around=near, sampled_queries=4000, samples=40, queries=8)
    rows = list(measure(config, points(config)))
    assert len(rows) == len(points(config))
    return pandas.DataFrame(rows)


@pytest.mark.physics
def test_thresholds_are_those_of_exact_theory(table):
    """Sampled and enumerated; at N = 60 there are e^34 patterns."""
    found = estimates.rows(summarise(table), "threshold")
    assert len(found) == 6
    for entry in found:
        assert np.isfinite(entry["theory"])
        assert abs(entry["value"] - entry["theory"]) < 4 * entry["stderr"] + 2e-4, entry


def shifted(shifts: np.ndarray) -> pandas.DataFrame:
    """Rows of draws whose curves are one curve, each at a load of its own, measured by very many queries."""
    rows = []
    for (sample, shift), load in product(enumerate(shifts), np.linspace(0.5, 0.8, 31)):
        point = {"method": "enumerated", "neurons": 16, "corruption": "clean", "beta": 1.0, "load": load}
        heavy = round(1e6 * ndtr((0.573 + shift - load) / 0.05))
        wrong = 0.5 * ndtr((load - 0.687 - shift) / 0.05)
        measured = {"queries": 10**6, "heavy": heavy, "log_odds": (0.573 + shift - load) / 0.05, "error": wrong}
        rows.append(point | {"sample": sample} | measured | {"log_odds_stderr": np.nan, "error_stderr": np.nan})
    return pandas.DataFrame(rows)


def test_errors_of_enumerated_thresholds_are_those_over_draws_that_all_loads_share():
    """Draws a little apart: the threshold is the mean of theirs, its error s/√n, however many queries there are."""
    shifts = np.random.default_rng(0).normal(0, 0.002, 12)
    for part in (slice(None), slice(3)):
        used = shifts[part]
        for entry, centre in zip(estimates.rows(summarise(shifted(used)), "threshold"), (0.573, 0.687), strict=True):
            assert entry["value"] == pytest.approx(centre + used.mean(), abs=2e-4)
            assert entry["stderr"] == pytest.approx(standard_error(used), rel=0.05)
    for entry in estimates.rows(summarise(shifted(shifts[:1])), "threshold"):
        assert np.isfinite(entry["value"])
        assert np.isnan(entry["stderr"])


def test_the_crossing_of_a_known_curve_is_found():
    load = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    value = (load - 0.33) + 0.5 * (load - 0.33) ** 2
    found, error = parabolic_crossing(load, value, np.full(6, 1e-3), 0.0)
    assert found == pytest.approx(0.33, abs=1e-3)
    assert error is not None
    assert 0 < error < 2e-3
    assert parabolic_crossing(load, value, np.full(6, 1e-3), 5.0) == (None, None)
