"""Columns of numbers and truth values: what passes is as it was, what does not is one sentence with its name."""

import numpy as np
import pandas
import pytest

from experiments.statistics.columns import numbers


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.5, 0.5),
        ([[1, 2], [3, 4]], [[1.0, 2.0], [3.0, 4.0]]),
        ([True, False], [1.0, 0.0]),
        ([1, None], [1.0, np.nan]),
        (np.ma.array([1, 2], mask=[False, True]), [1.0, np.nan]),
        (pandas.Series([1.5, 2], dtype=object), [1.5, 2.0]),
        ([], []),
    ],
    ids=str,
)
def test_numbers_are_float64_and_masked_entries_are_none(value, expected):
    found = numbers("load", value)
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, expected)
