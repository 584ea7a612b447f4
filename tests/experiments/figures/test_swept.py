"""Panels of a sweep: what the runs ended with against the option that differs between them."""

import numpy as np
import pandas

from experiments.contract import Summary
from experiments.figures import swept


def test_numbers_stand_with_errors_against_the_swept_option_with_theory_or_a_word_that_there_is_none() -> None:
    about = {"quantity": "critical load", "headline": True}
    modern = {"memory": "modern", "dynamics": "synchronous", "criterion": "target_weight", "neurons": 12}
    rows = []
    for beta, load, theory in ((2.0, 0.6, 0.61), (0.5, 0.4, 0.43)):
        rows.append(about | modern | {"beta": beta, "value": load, "stderr": 0.01, "theory": theory})
        rows.append(about | {"memory": "mine.py:own", "beta": beta, "value": 0.3, "stderr": 0.02})
    (panel,) = swept.panels(Summary(rows).estimates, ["beta"])
    assert (panel.title, panel.x.label, panel.y.label) == ("critical load against beta", "beta", "critical load")
    measured, theory, own, *_ = panel.series
    assert measured.label == "modern, synchronous, weight at the start > ½, N = 12"
    np.testing.assert_array_equal([measured.x, measured.y, theory.y], [[0.5, 2.0], [0.4, 0.6], [0.43, 0.61]])
    np.testing.assert_array_equal(measured.error, [[0.01, 0.01]] * 2)
    assert own.label == "own"
    assert panel.series[-1].label == "theory"


def test_words_are_places_and_a_number_without_error_is_no_curve() -> None:
    rows = [{"quantity": "m", "value": 0.5, "stderr": 0.1}, {"quantity": "n", "value": 7.0}]
    rows = [row | {"mode": mode, "seed": 0, "headline": True} for mode in ("slow_one", "fast") for row in rows]
    estimates = Summary(rows).estimates
    (panel,) = swept.panels(estimates, ["mode", "seed"])
    assert panel.x.ticks == [(0, "slow one"), (1, "fast")]
    assert panel.series[-1].label == "no theory known"
    assert swept.panels(estimates[estimates["mode"] == "fast"], ["mode", "seed"]) == []
    assert isinstance(estimates, pandas.DataFrame)
