"""Panels of a sweep: what the runs ended with against the option that differs between them."""

import numpy as np

from experiments.figures import swept
from experiments.statistics.columns import headline


def test_numbers_stand_with_errors_against_the_swept_option_with_theory_or_a_word_that_there_is_none() -> None:
    name = "critical_load/modern/synchronous/target_weight/N=12"
    groups = [
        ({"beta": beta}, headline(name, load, 0.01, theory=theory) | headline("critical_load/mine.py:own", 0.3, 0.02))
        for beta, load, theory in ((2.0, 0.6, 0.61), (0.5, 0.4, 0.43))
    ]
    (panel,) = swept.panels(groups)
    assert (panel.title, panel.x.label, panel.y.label) == ("critical load against beta", "beta", "critical load")
    measured, theory, own, *_ = panel.series
    assert measured.label == "modern, synchronous, weight at the start > ½, N=12"
    np.testing.assert_array_equal([measured.x, measured.y, theory.y], [[0.5, 2.0], [0.4, 0.6], [0.43, 0.61]])
    np.testing.assert_array_equal(measured.error, [[0.01, 0.01]] * 2)
    assert own.label == "own"
    assert panel.series[-1].label == "theory"


def test_words_are_places_and_a_number_without_error_is_no_curve() -> None:
    groups = [({"mode": mode, "seed": 0}, {"m": 0.5, "m/stderr": 0.1, "n": 7.0}) for mode in ("slow_one", "fast")]
    (panel,) = swept.panels(groups)
    assert panel.x.ticks == [(0, "slow one"), (1, "fast")]
    assert [part.label for part in panel.series] == ["", "no theory known"]
    assert swept.panels([({"mode": "slow"}, {}), ({"mode": "slow"}, {})]) == []
