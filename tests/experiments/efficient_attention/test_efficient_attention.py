"""The comparison of ways to compute attention: costs are measured, errors are the method's, summaries add up."""

import numpy as np
import pandas as pd
import pytest

from experiments.efficient_attention import experiment
from experiments.efficient_attention.experiment import EXACT, Config, crossover, head


@pytest.fixture(scope="module")
def table():
    config = Config()
    return pd.DataFrame(list(experiment.measure(config, experiment.points(config))))


def test_every_method_is_timed_and_weighed_at_every_length(table):
    assert list(table["method"].unique()) == Config().methods
    assert (table["seconds"] > 0).all()
    assert (table["megabytes"] >= 0).all()
    assert table["error"].notna().all()


def test_exact_methods_have_no_error_and_the_others_have_one(table):
    exact = table["method"].isin(EXACT)
    assert (table.loc[exact, "error"] < 1e-5).all()
    assert (table.loc[~exact, "error"] > 1e-3).all()


def test_a_window_as_wide_as_the_sequence_and_as_many_stretches_as_keys_are_exact():
    config = Config(methods=["window:64", "low_rank:64", "low_rank:100"], lengths=[64], repeats=1, samples=1)
    found = list(experiment.measure(config, experiment.points(config)))
    assert all(row["error"] < 1e-5 for row in found)


@pytest.mark.parametrize("separation", ["softmax1", "entmax:1.5"])
def test_a_layers_head_in_blocks_is_the_head_with_all_scores_at_once(separation):
    inputs = np.random.default_rng(0).standard_normal((3, 20, 4))
    dense, blocks = (head(separation, 4, 2, block)(*inputs) for block in (20, 8))
    np.testing.assert_allclose(blocks, dense, atol=1e-6)
    config = Config(methods=[separation], lengths=[32], repeats=1, samples=1)
    (row,) = experiment.measure(config, experiment.points(config))
    assert row["error"] < 1e-6
    assert row["seconds"] > 0


def test_the_crossover_is_where_the_times_are_equal():
    """Times T²/100 and T cross at T = 100, on straight lines in the logarithms."""
    lengths = np.array([10, 30, 200, 400])
    assert crossover(lengths, lengths**2 / 100, lengths, lengths) == pytest.approx(100, rel=1e-12)
    assert crossover(lengths, lengths, lengths, lengths / 2) == 10
    assert np.isnan(crossover(lengths, lengths, lengths, 2 * lengths))


def test_the_summary_finds_the_exponents_of_time_and_memory():
    lengths = [128, 256, 512, 1024]
    rows = [
        {"pass": "forward", "method": method, "length": n, "seconds": 1e-6 * n**power, "megabytes": 1e-3 * n**power}
        | {"error": 0.0 if method == "dense" else 0.5, "error_stderr": 0.1}
        for method, power in (("dense", 2), ("elu", 1))
        for n in lengths
    ]
    summary = experiment.summarise(pd.DataFrame(rows))
    for quantity in ("exponent of time", "exponent of memory"):
        assert summary.of(quantity)["value"].tolist() == pytest.approx([2, 1])
    assert summary.of("error", method="elu")["value"].tolist() == [0.5]
