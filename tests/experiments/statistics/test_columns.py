"""Columns of numbers and truth values: what passes is as it was, what does not is one sentence with its name."""

import numpy as np
import pandas
import pytest

from experiments.statistics.columns import flag, numbers

NONE = ["1", [1, "2"], [[1.0], [1.0, 2.0]], 1j, {}, [None, object()], [10**400], np.array(["1"], object), [b"1"]]


@pytest.mark.parametrize(
    "value", [*NONE, np.array(["2020-01-01"], "datetime64[D]")], ids=lambda value: type(value).__name__
)
def test_what_is_no_real_number_is_refused(value):
    with pytest.raises(ValueError, match=r"^load must be real numbers, got .{1,60}$"):
        numbers("load", value)


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


def test_text_is_no_truth_value():
    assert flag("free", np.True_) is True
    with pytest.raises(ValueError, match=r"^free must be True or False, got 'False'$"):
        flag("free", "False")
