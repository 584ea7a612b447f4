"""Convergence: what states are where dynamics end, and what is said of those that were cut."""

import numpy as np
import pandas
import pytest

from experiments.shared import convergence
from hopfield import Couplings, outside


@pytest.mark.parametrize(
    ("steps", "dynamics", "end"),
    [
        (1, "synchronous", convergence.STEP),
        (1, "asynchronous", convergence.SWEEP),
        (2, "synchronous", convergence.REST),
        (1000, "asynchronous", convergence.REST),
    ],
)
def test_a_single_update_comes_to_no_rest(steps, dynamics, end):
    assert convergence.end(steps, dynamics) == end
    assert convergence.end_of_curve(pandas.DataFrame({"max_steps": [steps, steps], "dynamics": [dynamics] * 2})) == end
    assert convergence.WORDS[end]


def test_queries_that_were_cut_are_told_from_one_in_a_hundred_on():
    row = {"memory": "classical", "max_steps": 2, "queries": 100, "held": 90}
    few, many, single = (row | {"step_limit": cut, "max_steps": steps} for cut, steps in ((1, 50), (60, 2), (9, 1)))
    said = convergence.notes(pandas.DataFrame([few, many, many | {"step_limit": 80}, single]), ["memory"], "held")
    assert said == [
        "classical: 70% of the queries were still moving at max_steps=2; theory beside them is of states at rest",
        "classical: 9% of the queries were still moving at max_steps=1; no theory of states at rest is theirs",
    ]
    assert convergence.notes(pandas.DataFrame([row]), ["memory"], "held") == []


def test_a_memory_that_has_no_numbers_is_told_with_its_numbers_of_patterns_and_the_reason():
    row = {"memory": "skew", "dynamics": "synchronous", "neurons": 4, "queries": 2, "max_steps": 9, "held": 0}
    lost = [row | {"patterns": count, "overlap": np.nan, "step_limit": 0} for count in (3, 5)]
    table = pandas.DataFrame([row | {"patterns": 1, "overlap": 1.0, "step_limit": 0}, *lost])

    def skew(patterns, *, mask=None):  # as a rule without an energy from three patterns on
        return Couplings(np.eye(patterns.shape[1]) + (len(patterns) > 2) * np.eye(patterns.shape[1], k=1))

    outside.offer("memories", skew)
    table["memory"] = name = skew.__qualname__
    assert convergence.notes(table, ["memory", "dynamics"], "held") == [
        f"{name}, synchronous: states of 2 of 3 rows are not numbers, and count as not held, all of M = 3 to 5:"
        " matrix must be symmetric for an energy to exist, got asymmetry 1"
    ]
