"""Loads that are rounded to one number of patterns are measured once, and noted."""

from experiments.shared import loads


def test_loads_that_round_to_one_number_are_noted_once() -> None:
    given = [0.3, 0.1, 0.12, 0.1]  # at N = 20 they are 6, 2, 2.4 and 2 patterns
    with loads.noted() as notes:
        for _ in range(2):  # the points of a run are made more than once
            assert loads.counts(given, lambda load: round(20 * load), "classical at N=20") == [2, 6]
    assert list(notes) == ["note: loads 0.1, 0.12 of classical at N=20 are all M=2: measured once"]


def test_what_has_no_number_is_left_out_and_noted() -> None:
    with loads.noted() as notes:
        assert loads.counts([0.2, 0.9], {0.2: 7, 0.9: None}.get, "degree 2 at N=9", name="shares") == [7]
    assert list(notes) == ["note: shares 0.9 of degree 2 at N=9 need too many patterns: left out"]


def test_loads_of_numbers_of_their_own_are_not_noted_nor_what_nobody_collects() -> None:
    assert loads.counts([0.1, 0.12], lambda load: round(20 * load), "another run") == [2]
    with loads.noted() as notes:
        assert loads.counts([0.5, 0.25], lambda load: round(20 * load), "modern at N=20") == [5, 10]
    assert not notes
