"""Coverage: estimates whose errors are known to be right, too small or missing."""

import numpy as np
import pandas
import pytest

from experiments.contract import Summary
from scripts import coverage

SEEDS = 400


def found(scale: float, **columns: object) -> pandas.DataFrame:
    """Numbers with an error of 1 that stray by `scale`, as seeds give them."""
    values = np.random.default_rng(0).normal(5.0, scale, SEEDS)
    rows = [{"quantity": "q", "value": value, "stderr": 1.0, **columns} for value in values]
    return coverage.floats(Summary(rows).estimates.assign(seed=range(SEEDS)))


def test_right_errors_hold_the_truth_in_two_thirds_of_the_seeds_and_halved_ones_in_two_fifths():
    # 400 seeds leave ±0.023; Φ(1) − Φ(−1) = 0.683 and Φ(½) − Φ(−½) = 0.383
    for scale, expected in ((1.0, 0.683), (2.0, 0.383)):
        (each,) = coverage.numbers(found(scale), SEEDS)
        share, error = coverage.share(each, 1)
        assert abs(share - expected) < 0.06
        assert 0.02 < error < 0.03


def test_the_truth_is_theory_where_it_is_exact_and_the_mean_of_the_seeds_otherwise():
    (far,) = coverage.numbers(found(1.0, theory=9.0, kind="exact"), SEEDS)
    (own,) = coverage.numbers(found(1.0, theory=9.0, kind="annealed"), SEEDS)
    assert coverage.share(far, 1)[0] < 0.01 < 0.6 < coverage.share(own, 1)[0]


def test_a_value_without_an_error_counts_as_missed_unless_its_interval_has_a_length():
    values = [0.0] * 19 + [0.2]
    frame = pandas.DataFrame({"quantity": "q", "value": values, "stderr": 0.0, "seed": range(20)})
    assert coverage.share(next(coverage.numbers(coverage.floats(frame), 20)), 1)[0] == 0.0
    whole = frame.assign(low=frame["value"], high=frame["value"] + 0.1)
    assert coverage.share(next(coverage.numbers(coverage.floats(whole), 20)), 1)[0] == pytest.approx(0.95)
