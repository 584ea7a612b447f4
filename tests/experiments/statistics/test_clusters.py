"""Extrapolation, means, proportions and their tables: closed forms, simulated coverage and independent routes."""

import json
import math
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import curve_fit
from scipy.special import ndtr

from experiments.statistics.clusters import by_group, clustered_mean, means_by_group, wilson
from experiments.statistics.extrapolation import best_fit, extrapolate

THRESHOLD, WIDTH = 0.14, 0.006
LOADS = np.linspace(0.12, 0.16, 9)


def rows(loads, samples):
    """Load and sample of every row of a complete design."""
    return np.repeat(loads, samples), np.tile(np.arange(samples), len(loads))


def beta_binomial(rng, probability, trials, correlation):
    """Successes whose probability varies from row to row, with this correlation between the trials of a row."""
    strength = 1 / correlation - 1
    return rng.binomial(trials, rng.beta(probability * strength + 1e-12, (1 - probability) * strength + 1e-12))


SIZES = np.array([250.0, 500, 1000, 2000, 4000])


@pytest.mark.parametrize("exponent", [1 / 3, 0.5, 2 / 3, 1.0], ids=lambda exponent: f"x={exponent:.2f}")
def test_exact_power_law_is_found_by_its_own_exponent_and_by_the_free_one(exponent):
    fits = extrapolate(SIZES, 0.138 + 0.3 * SIZES**-exponent, np.full(5, 1e-3))
    own = next(fit for fit in fits if fit["exponent"] == exponent)
    free = fits[-1]
    assert [fit["free_exponent"] for fit in fits] == [False] * 4 + [True]
    assert own["load"] == pytest.approx(0.138, abs=1e-12)
    assert own["amplitude"] == pytest.approx(0.3, rel=1e-9)
    assert own["chi2"] == pytest.approx(0, abs=1e-15)
    assert free["load"] == pytest.approx(0.138, abs=1e-6)
    assert free["exponent"] == pytest.approx(exponent, abs=1e-4)
    assert [fit["dof"] for fit in fits] == [3, 3, 3, 3, 2]
    assert all(fit["chi2"] > 1e-3 for fit in fits[:-1] if fit is not own)


def test_two_sizes_give_the_line_through_them_with_its_propagated_error():
    # With x = 1 and N = 100, 200 the limit of the line is 2 a₂ − a₁, its error √(4σ₂² + σ₁²).
    (fit,) = extrapolate([100, 200], [0.2, 0.17], [0.003, 0.002], exponents=(1.0,))
    assert fit["load"] == pytest.approx(0.14, abs=1e-12)
    assert fit["amplitude"] == pytest.approx(6.0, rel=1e-9)
    assert fit["stderr"] == pytest.approx(0.005, rel=1e-9)
    assert fit["chi2"] == pytest.approx(0, abs=1e-12)
    assert fit["dof"] == 0


def test_fixed_and_free_fits_equal_a_general_least_squares_routine_where_it_is_well_conditioned():
    rng = np.random.default_rng(3)
    error = np.array([1e-5, 2e-5, 1e-5, 3e-5, 1e-5])
    load = 0.1379 + 0.5 * SIZES**-0.6 + error * rng.normal(size=5)
    fits = extrapolate(SIZES, load, error)

    def curve(size, limit, amplitude, exponent):
        return limit + amplitude * size**-exponent

    for fit in fits[:-1]:
        x = fit["exponent"]
        best, cov = curve_fit(
            lambda size, a, b, x=x: curve(size, a, b, x), SIZES, load, [0.1, 1], error, absolute_sigma=True
        )
        assert fit["load"] == pytest.approx(best[0], abs=1e-9)
        assert fit["stderr"] == pytest.approx(math.sqrt(cov[0, 0]), rel=1e-4)
        assert fit["chi2"] == pytest.approx(np.sum(((load - curve(SIZES, *best, x)) / error) ** 2), rel=1e-6)
    best, cov = curve_fit(curve, SIZES, load, [0.14, 0.5, 0.6], error, absolute_sigma=True)
    assert fits[-1]["load"] == pytest.approx(best[0], abs=1e-7)
    assert fits[-1]["exponent"] == pytest.approx(best[2], abs=1e-4)
    assert fits[-1]["stderr"] == pytest.approx(math.sqrt(cov[0, 0]), rel=0.02)
    assert fits[-1]["exponent_stderr"] == pytest.approx(math.sqrt(cov[2, 2]), rel=0.02)


def test_fixed_errors_cover_and_chi2_has_its_mean():
    rng = np.random.default_rng(8)
    error = 5e-4 * np.array([1, 1.5, 0.7, 1, 2])
    fits = [
        extrapolate(SIZES, 0.14 + 0.2 * SIZES**-0.5 + error * rng.normal(size=5), error, (0.5,), free=False)[0]
        for _ in range(1000)
    ]
    pull = np.array([(fit["load"] - 0.14) / fit["stderr"] for fit in fits])
    assert pull.std() == pytest.approx(1, abs=0.08)  # 3.5 standard errors 1/√2000
    assert np.mean([fit["chi2"] for fit in fits]) == pytest.approx(3, abs=0.3)


def test_free_error_covers_although_amplitude_and_exponent_trade_off():
    rng = np.random.default_rng(6)
    pull, ratio = [], []
    for _ in range(100):
        load = 0.14 + 0.2 * SIZES**-0.6 + 7e-4 * rng.normal(size=5)
        *fixed, free = extrapolate(SIZES, load, np.full(5, 7e-4))
        pull.append((free["load"] - 0.14) / free["stderr"])
        ratio.append(free["stderr"] / fixed[2]["stderr"])
    assert 0.55 < np.mean(np.abs(pull) < 1) <= 0.95
    assert np.median(ratio) > 1.5


def test_free_fit_of_loads_that_do_not_depend_on_size_is_finite_and_undecided():
    free = extrapolate(SIZES, np.full(5, 0.14), np.full(5, 1e-3))[-1]
    assert free["load"] == pytest.approx(0.14, abs=1e-9)
    assert free["exponent_stderr"] == pytest.approx(1.45, abs=0.01)  # the whole range (0.1, 3)
    assert 1e-3 / math.sqrt(5) < free["stderr"] < 0.05


@pytest.mark.parametrize(("sizes", "fixed", "free"), [(0, 0, 0), (1, 0, 0), (2, 4, 0), (3, 4, 0), (4, 4, 1)])
def test_fits_without_enough_sizes_are_absent(sizes, fixed, free):
    fits = extrapolate(SIZES[:sizes], 0.14 + 0.1 / SIZES[:sizes], np.full(sizes, 1e-3))
    assert sum(not fit["free_exponent"] for fit in fits) == fixed
    assert sum(fit["free_exponent"] for fit in fits) == free


def test_sizes_without_an_estimate_are_left_out():
    load = 0.14 + 0.1 / SIZES
    whole = extrapolate(SIZES[1:], load[1:], np.full(4, 1e-3))
    gap = extrapolate(SIZES, [math.nan, *load[1:]], [math.nan, *np.full(4, 1e-3)])
    assert gap == whole


def test_rows_are_json():
    fits = extrapolate(SIZES, 0.14 + 0.1 / SIZES, np.full(5, 1e-3))
    assert json.loads(json.dumps(fits, allow_nan=False)) == fits


def test_best_fit_balances_chi2_against_parameters():
    fits = extrapolate(SIZES, 0.138 + 0.3 * SIZES**-0.5, np.full(5, 1e-4))
    # the free exponent reaches the same χ² with one parameter more
    best = best_fit(fits)
    assert best is not None
    assert best["exponent"] == 0.5
    assert not best["free_exponent"]
    assert best_fit(extrapolate(SIZES[:2], [0.15, 0.145], [1e-3, 1e-3])) is None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, 2], [0.1], [0.1, 0.1]), "columns of one length"),
        (([0, 2], [0.1, 0.2], [0.1, 0.1]), "neurons must be positive"),
        (([1, 2], [0.1, 0.2], [0.1, 0.0]), "stderr must be positive"),
        (([1, 2], [0.1, 0.2], [0.1, 0.1], (0.0,)), "exponents must be positive"),
    ],
    ids=["length", "size", "stderr", "exponent"],
)
def test_bad_extrapolations_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        extrapolate(*arguments)


def test_one_row_per_cluster_gives_the_textbook_standard_error():
    # 1, 2, 3, 6: mean 3, s² = (4 + 1 + 0 + 9)/3 = 14/3, s/√4 = √(14/12)
    mean = clustered_mean([1, 2, 3, 6], [0, 1, 2, 3])
    assert mean.mean == pytest.approx(3, rel=1e-14)
    assert mean.stderr == pytest.approx(math.sqrt(14 / 12), rel=1e-14)
    assert mean.clusters == 4


def test_rows_of_a_cluster_count_as_their_mean_when_all_clusters_have_the_same_size():
    values = np.random.default_rng(0).normal(size=(6, 5)) + np.arange(6)[:, None]
    rows_of = clustered_mean(values.ravel(), np.repeat(list("abcdef"), 5))
    assert rows_of == pytest.approx(clustered_mean(values.mean(axis=1), range(6)), rel=1e-12)


def test_proportions_weighted_by_trials_equal_the_rows_of_single_trials():
    # clusters with 1/2, 3/3 and 0/5: mean 0.4; residuals 0.2, 1.8, −2; 3/2·(0.04 + 3.24 + 4)/100
    successes, trials = np.array([1, 3, 0]), np.array([2, 3, 5])
    pooled = clustered_mean(successes / trials, [0, 1, 2], trials)
    single = clustered_mean([1, 0, 1, 1, 1, 0, 0, 0, 0, 0], [0, 0, 1, 1, 1, 2, 2, 2, 2, 2])
    assert pooled.mean == pytest.approx(0.4, rel=1e-12)
    assert pooled.stderr == pytest.approx(math.sqrt(1.5 * 7.28) / 10, rel=1e-12)
    assert single == pytest.approx(pooled, rel=1e-12)


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
    # Student's t with 11 degrees of freedom: P(|t| < 1) = 0.661; 600 repetitions leave ±0.019.
    assert np.mean(clustered < 1) == pytest.approx(0.661, abs=0.06)
    assert np.mean(naive < 1) < 0.4


def test_a_single_cluster_has_a_mean_and_no_error():
    mean = clustered_mean([1.0, 2.0], [5, 5])
    assert mean.mean == 1.5
    assert math.isnan(mean.stderr)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, 2], [0]), "columns of one length"),
        (([1, 2], [0, 1], [1, -1]), "weights must not be negative"),
        (([], []), "positive in at least one row"),
    ],
    ids=["length", "weight", "empty"],
)
def test_bad_means_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        clustered_mean(*arguments)


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


def test_wilson_without_successes_has_the_closed_form_and_without_trials_is_everything():
    low, high = wilson([0, 12, 0], [12, 12, 0])
    np.testing.assert_allclose(low, [0, 12 / 13, 0], atol=1e-15)  # z²/(n + z²) = 1/13
    np.testing.assert_allclose(high, [1 / 13, 1, 1], atol=1e-15)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [((3, 2), "successes must lie"), ((-1, 2), "successes must lie"), ((1, 2, 0), "z must be positive")],
)
def test_bad_counts_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        wilson(*arguments)


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


def test_group_intervals_hold_their_mean_stay_in_range_and_have_a_length_everywhere():
    result = by_group(table(), "load", "retained", "queries", "sample")
    assert ((result["low"] >= 0) & (result["low"] <= result["mean"])).all()
    assert ((result["mean"] <= result["high"]) & (result["high"] <= 1)).all()
    assert result["mean"].iloc[[0, -1]].tolist() == [1, 0]
    # at 0 and 1: between independent trials, 1/161, and one trial per cluster, 1/11
    assert 1 / 161 < result["high"].iloc[-1] < 1 / 11
    assert result["high"].iloc[-1] == pytest.approx(1 - result["low"].iloc[0], rel=1e-12)
    middle = result[(result["mean"] > 0.25) & (result["mean"] < 0.75)]
    np.testing.assert_allclose((middle["high"] - middle["low"]) / 2, middle["stderr"], rtol=0.1)


def test_groups_without_any_variance_or_with_one_cluster_count_one_trial_per_cluster():
    data = pd.DataFrame({"load": [1, 1, 2], "sample": [0, 1, 0], "retained": [8, 8, 0], "queries": [8, 8, 8]})
    result = by_group(data, "load", "retained", "queries", "sample")
    np.testing.assert_allclose(result["low"], [2 / 3, 0], atol=1e-15)  # n/(n + 1) with n = 2
    np.testing.assert_allclose(result["high"], [1, 1 / 2], atol=1e-15)
    assert math.isnan(result["stderr"].iloc[1])


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


def test_missing_keys_form_a_group_and_empty_tables_an_empty_result():
    data = table().assign(dynamics=None)
    assert len(by_group(data, ["dynamics", "load"], "retained", "queries", "sample")) == len(LOADS)
    empty = by_group(data.iloc[:0], ["load"], "retained", "queries", "sample")
    assert list(empty.columns) == ["load", "mean", "stderr", "low", "high", "trials", "clusters"]
    assert empty.empty
    assert means_by_group(data.iloc[:0], "load", "overlap", "sample").empty


def test_columns_that_the_table_lacks_are_named():
    with pytest.raises(ValueError, match="table must have the columns lod"):
        by_group(table(), ["lod"], "retained", "queries", "sample")
    with pytest.raises(ValueError, match="retained must lie between 0 and queries"):
        by_group(table().assign(retained=17), "load", "retained", "queries", "sample")


def test_importing_the_module_loads_no_statistics_package():
    code = (
        "import sys, experiments.statistics; print([m for m in ('scipy', 'pandas', 'statsmodels') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
