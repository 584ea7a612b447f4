"""Deviations from theory: in standard errors, and where all draws agree in those that theory allows."""

import math

import numpy as np
import pytest

from experiments.statistics.deviations import errors_apart, share_within_two


@pytest.mark.parametrize(
    ("mean", "stderr", "theory", "independent", "expected"),
    [
        (0.5, 0.1, 0.7, 10, 2.0),
        (1.0, 0.0, 1.0, 10, 0.0),
        (1.0, 0.0, 0.9, 9, 1.0),  # √(0.09 / 9) = 0.1
        (1.0, 0.0, 0.5, 400, 20.0),
        (0.3, 0.0, 1.0, 10, math.inf),
        (0.5, math.nan, 0.5, 10, math.nan),
    ],
)
def test_draws_that_agree_are_as_far_from_theory_as_it_allows(mean, stderr, theory, independent, expected):
    np.testing.assert_allclose(errors_apart(mean, stderr, theory, independent), expected, rtol=1e-12)


def test_deviations_without_an_error_do_not_count():
    assert share_within_two([0.0, 2.0, 2.1, math.nan, math.inf]) == 0.5
    assert math.isnan(share_within_two([math.nan]))
