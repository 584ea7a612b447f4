"""Sentences of estimates: names that are told apart, values with their errors, theory with its kind."""

import json
import math

import numpy as np
import pytest

from experiments.contract import Summary
from experiments.figures.sentences import MOST, leading, sentences, told
from experiments.system.files import encode

LOAD = {"quantity": "critical load", "memory": "classical", "criterion": "retained", "neurons": 100, "headline": True}


def test_columns_become_words_in_the_order_of_the_row() -> None:
    (line,) = sentences([LOAD | {"ensemble": "random", "value": 0.141592, "stderr": 0.00123}])
    assert line == "critical load of classical, overlap > 0.8, N = 100: 0.1416 ± 0.0012"


@pytest.mark.parametrize(
    ("theory", "shown"),
    [
        ({"theory": 0.2, "limit": 0.138, "kind": "exact"}, "0.2 (exact), 0.138 (N → ∞)"),
        ({"limit": 0.138, "kind": "replica symmetric"}, "0.138 (replica symmetric, N → ∞)"),
        ({"limit": math.inf}, "inf (N → ∞)"),
        ({}, ""),
    ],
)
def test_theory_of_an_infinite_system_is_told_from_that_of_the_size(theory: dict, shown: str) -> None:
    (found,) = told(Summary([LOAD | {"value": 0.25, "stderr": 0.01} | theory]).estimates)
    assert found.theory == shown


def test_a_run_ends_in_one_line_a_memory_at_its_largest_size() -> None:
    rows = [
        LOAD | {"memory": memory, "neurons": size, "criterion": criterion, "value": 0.25 + place, "stderr": 0.01}
        for memory in ("classical", "modern")
        for size in (50, 400, 100)
        for place, criterion in enumerate(("retained", "retained_0.7"))
    ]
    name = "critical load of {}, overlap > 0.8, N = 400: 0.250 ± 0.010"
    assert sentences(rows) == [name.format(memory) for memory in ("classical", "modern")]


def test_of_many_numbers_every_memory_has_its_first() -> None:
    rows = [LOAD | {"memory": name, "load": load, "value": 1.0} for name in "abcd" for load in range(40)]
    shown = [each.row["memory"] for each in leading(rows)]
    assert len(shown) == MOST
    assert set(shown) == {*"abcd"}


def test_loads_have_as_many_digits_as_tell_them_apart() -> None:
    rows = [{"quantity": "m", "load": load, "value": 1.5, "headline": True} for load in (0.123451, 0.123452)]
    assert [each.name for each in told(rows)] == ["m of load = 0.123451", "m of load = 0.123452"]


def test_an_error_that_one_sample_cannot_have_is_unknown_and_a_count_has_none() -> None:
    rows = [
        {"quantity": "b", "value": 2.0, "samples": 1},
        {"quantity": "n", "value": 7},
        {"quantity": "w", "said": "cg"},
    ]
    summary = Summary([row | {"headline": True} for row in rows])
    assert sentences(summary.estimates) == ["b: 2 (error unknown)", "n: 7", "w: cg"]
    assert sentences(Summary.of_json(summary.json()).estimates) == sentences(summary.estimates)


def test_a_place_without_theory_is_nan_where_a_summary_is_read() -> None:
    """JSON has no NaN: a figure that adds to a line must not meet None."""
    line = {"quantity": "energy", "x": [1.0, 2.0], "y": [float("nan"), 0.5]}
    read = Summary.of_json(json.loads(encode(Summary(lines=[line]).json())))
    np.testing.assert_array_equal(read.line("energy")["y"].iloc[0], [np.nan, 0.5])
