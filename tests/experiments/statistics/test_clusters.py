"""Means, proportions and their tables: closed forms, simulated coverage and independent routes."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from scipy.special import ndtr

from experiments.statistics.clusters import (
    by_group,
    clustered_mean,
    jackknife,
    means_by_group,
    shares_by_group,
    standard_error,
    wilson,
)
from tests.experiments.statistics.designs import LOADS, THRESHOLD, WIDTH, beta_binomial, rows


def test_one_row_per_cluster_gives_the_textbook_interval():
    # 1, 2, 3, 6: mean 3, s² = (4 + 1 + 0 + 9)/3 = 14/3, s/√4 = √(14/12), times the t of 3 degrees of freedom
    mean = clustered_mean([1, 2, 3, 6], [0, 1, 2, 3])
    assert mean.mean == pytest.approx(3, rel=1e-14)
    assert mean.stderr == pytest.approx(math.sqrt(14 / 12) * stats.t.ppf(ndtr(1), 3), rel=1e-12)
    assert mean.clusters == 4
    assert standard_error([1, 2, 3, 6]) == pytest.approx(mean.stderr, rel=1e-12)
    assert standard_error([1, 2, 3, 6], 0.95) == pytest.approx(math.sqrt(14 / 12) * stats.t.ppf(0.975, 3), rel=1e-12)


def test_errors_of_three_draws_hold_the_truth_in_two_thirds_of_repetitions():
    draws = np.random.default_rng(3).normal(size=(1500, 3))
    means, errors = draws.mean(axis=1), [standard_error(each) for each in draws]
    left_out = [jackknife([np.delete(each, i).mean() for i in range(3)]) for each in draws]
    np.testing.assert_allclose(left_out, errors, rtol=1e-12)
    # 1500 repetitions leave ±0.012; s/√3 alone holds the truth in 57.7 %.
    assert np.mean(np.abs(means) < errors) == pytest.approx(ndtr(1) - ndtr(-1), abs=0.04)


def test_clusters_of_unequal_weight_have_the_freedom_of_their_effective_number():
    # weights 3, 1, 1, 1: 36/12 − 1 = 2 degrees of freedom; residuals 3·(v₁ − mean), … of values 1, 1, 1, 7, mean 2
    mean = clustered_mean([1, 1, 1, 7], [0, 1, 2, 3], [3, 1, 1, 1])
    assert mean.mean == pytest.approx(2, rel=1e-14)
    assert mean.stderr == pytest.approx(math.sqrt(4 / 3 * (9 + 1 + 1 + 25)) / 6 * stats.t.ppf(ndtr(1), 2), rel=1e-12)


def test_the_jackknife_of_a_mean_is_its_standard_error():
    values = np.random.default_rng(0).normal(size=7)
    left_out = [np.delete(values, i).mean() for i in range(7)]
    assert jackknife(left_out) == pytest.approx(standard_error(values), rel=1e-12)
    assert math.isnan(jackknife([1.0]))
    assert math.isnan(jackknife([1.0, math.nan, 2.0]))


def test_clustered_error_covers_and_the_naive_one_does_not():
    rng = np.random.default_rng(12)
    sample = np.repeat(np.arange(12), 10)
    pull = []
    for _ in range(600):
        values = rng.normal(size=12)[sample] + rng.normal(size=120)
        for label in (sample, np.arange(120)):
            mean = clustered_mean(values, label)
            pull.append(mean.mean / mean.stderr)
    clustered, naive = np.abs(pull).reshape(600, 2).T
    # 600 repetitions leave ±0.019.
    assert np.mean(clustered < 1) == pytest.approx(ndtr(1) - ndtr(-1), abs=0.06)
    assert np.mean(naive < 1) < 0.4


def test_a_single_cluster_has_a_mean_and_no_error():
    mean = clustered_mean([1.0, 2.0], [5, 5])
    assert mean.mean == 1.5
    assert math.isnan(mean.stderr)


@pytest.mark.parametrize(("successes", "trials"), [(0, 10), (3, 10), (10, 10), (1, 1), (70, 1000)])
@pytest.mark.parametrize("z", [1.0, 1.96])
def test_wilson_ends_are_where_the_score_test_stands_at_z(successes, trials, z):
    low, high = (float(end) for end in wilson(successes, trials, z))
    share = successes / trials
    for end in (low, high):
        if 0 < end < 1:
            assert abs(share - end) / math.sqrt(end * (1 - end) / trials) == pytest.approx(z, rel=1e-9)
    assert low <= share <= high
    assert high - low > 0


def table():
    rng = np.random.default_rng(2)
    load, sample = rows(LOADS, 10)
    retained = beta_binomial(rng, ndtr((THRESHOLD - load) / WIDTH), 16, 0.3)
    retained[load == LOADS[0]], retained[load == LOADS[-1]] = 16, 0
    overlap = retained / 16 + 0.01 * rng.normal(size=load.size)
    columns = {"memory": "classical", "load": load, "sample": sample, "retained": retained, "queries": 16}
    return pd.DataFrame(columns | {"overlap": overlap})


def test_groups_have_the_mean_and_error_of_their_own_rows():
    data = table()
    result = by_group(data, ["memory", "load"], "retained", "queries", "sample")
    assert list(result.columns) == ["memory", "load", "mean", "stderr", "low", "high", "trials", "clusters"]
    assert result["load"].tolist() == LOADS.tolist()
    for line in result.itertuples():
        own = data[data["load"] == line.load]
        expected = clustered_mean(own["retained"] / 16, own["sample"], own["queries"])
        assert (line.mean, line.stderr, line.clusters) == expected
        assert line.trials == 160


def test_measured_columns_are_averaged_by_group_and_missing_values_left_out():
    data = table()
    data.loc[0, "overlap"] = math.nan
    result = means_by_group(data, ["memory", "load"], "overlap", "sample", weights="queries")
    own = data[(data["load"] == LOADS[0]) & data["overlap"].notna()]
    expected = clustered_mean(own["overlap"], own["sample"])
    assert result.loc[0, "mean"] == pytest.approx(expected.mean, rel=1e-12)
    assert result.loc[0, "stderr"] == pytest.approx(expected.stderr, rel=1e-9)
    assert result.loc[0, "clusters"] == 9
    np.testing.assert_allclose(result["high"] - result["low"], 2 * result["stderr"], rtol=1e-9)


def test_a_share_that_all_draws_agree_on_keeps_an_interval():
    table = pd.DataFrame({"load": [1, 1, 2, 2], "sample": [0, 1, 0, 1], "share": [1.0, 1.0, 0.25, 0.75], "asked": 4})
    shares, means = (
        shares_by_group(table, "load", "share", table["asked"], "sample"),
        means_by_group(table, "load", "share", "sample"),
    )
    np.testing.assert_allclose(shares[["mean", "stderr"]], means[["mean", "stderr"]], rtol=1e-12)
    # The design effect of the other load, 6.7, is cut at the 4 asked: 8/4 effective trials n, whose end is n/(n + 1).
    assert shares["low"][0] == pytest.approx(2 / 3, rel=1e-12)
    assert shares["high"][0] == 1.0
    assert means["low"][0] == means["high"][0] == 1.0
