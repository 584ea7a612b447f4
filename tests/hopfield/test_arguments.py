"""Checks of plain numbers: what passes is float64, what does not is one sentence that names the argument."""

import numpy as np
import pytest

from hopfield import arguments


@pytest.mark.parametrize("value", ["1", [1, "2"], [[1.0], [1.0, 2.0]], 1j, {}, [None, object()], [10**400]])
def test_what_is_no_real_number_is_refused(value):
    with pytest.raises(ValueError, match=r"^load must be real numbers, got .{1,60}$"):
        arguments.numbers("load", value)


def test_numbers_are_float64_and_masked_entries_are_none():
    found = arguments.numbers("load", np.ma.array([1, 2], mask=[False, True]))
    assert found.dtype == np.float64
    np.testing.assert_array_equal(found, [1.0, np.nan])
    assert arguments.numbers("load", np.float32(0.5)) == 0.5


@pytest.mark.parametrize(
    ("limits", "value", "contract"),
    [
        ({"above": 0}, 0, "finite and > 0"),
        ({"least": 0, "below": 1}, 1, "finite and >= 0 and < 1"),
        ({"most": 2}, [1, 3], "finite and <= 2"),
        ({}, np.nan, "finite"),
        ({}, True, "real numbers"),
    ],
)
def test_numbers_outside_their_range_are_told_all_of_it(limits, value, contract):
    with pytest.raises(ValueError, match=f"^load must be {contract}, got"):
        arguments.real("load", value, **limits)


def test_whole_numbers_flags_and_members_are_what_they_say():
    assert arguments.whole_numbers("neurons", 3.0, least=1) == 3
    assert arguments.flag("exact", np.True_) is True
    assert arguments.one_of("kind", "a", ("a", "b")) == "a"
    for call, sentence in (
        (lambda: arguments.whole_numbers("neurons", 2.5, least=1), "neurons must be an integer of at least 1, got 2.5"),
        (lambda: arguments.flag("exact", "False"), "exact must be True or False, got 'False'"),
        (lambda: arguments.one_of("kind", "c", ("a", "b")), "kind must be one of a, b, got 'c'"),
        (lambda: arguments.one_of("kind", 3, ("a", "b")), "kind must be one of a, b, got 3"),
        (
            lambda: arguments.one_of("of", "upper_half", ("lower", "upper")),
            "of must be one of lower, upper, got 'upper_half' (write upper)",
        ),
    ):
        with pytest.raises(ValueError, match="must") as error:
            call()
        assert str(error.value) == sentence


def test_arrays_get_the_order_of_bytes_of_this_machine_and_others_stay():
    foreign = np.arange(3, dtype=">f8")
    assert arguments.native(foreign).dtype.isnative
    assert arguments.native("text") == "text"


def test_an_array_that_is_refused_is_shown_on_one_line():
    for check in (lambda x: arguments.real("x", x, above=0.0), lambda x: arguments.whole_numbers("x", x, least=1)):
        with pytest.raises(ValueError, match=r"^x must be [^\n]{1,100}$"):
            check(np.linspace(-1.0, 1.0, 500))


def test_a_word_that_begins_a_name_is_taken_for_it():
    assert arguments.nearest("async", ("synchronous", "asynchronous")) == " (write asynchronous)"
    assert arguments.nearest("a", ("synchronous", "asynchronous")) == ""
