"""Loads that are rounded to one number of patterns are measured once, and said."""

import pytest

from experiments.shared import loads


@pytest.fixture(autouse=True)
def nothing_is_waiting(capsys: pytest.CaptureFixture) -> None:
    """What other tests have asked for and never measured is said before."""
    loads.announce()
    capsys.readouterr()


def test_loads_that_round_to_one_number_are_said(capsys: pytest.CaptureFixture) -> None:
    given = [0.3, 0.1, 0.12, 0.1]  # at N = 20 they are 6, 2, 2.4 and 2 patterns
    for _ in range(2):  # the points of a run are made more than once
        assert loads.counts(given, lambda load: round(20 * load), "classical at N=20") == [2, 6]
    assert capsys.readouterr().err == ""  # a run may still be refused
    loads.announce()
    loads.announce()
    said = "note: loads 0.1, 0.12 of classical at N=20 are all M=2: measured once\n"
    assert capsys.readouterr().err == said


def test_what_has_no_number_is_left_out_and_said(capsys: pytest.CaptureFixture) -> None:
    assert loads.counts([0.2, 0.9], {0.2: 7, 0.9: None}.get, "degree 2 at N=9", name="shares") == [7]
    loads.announce()
    assert capsys.readouterr().err == "note: shares 0.9 of degree 2 at N=9 need too many patterns: left out\n"


def test_loads_of_numbers_of_their_own_are_not_said(capsys: pytest.CaptureFixture) -> None:
    assert loads.counts([0.5, 0.25], lambda load: round(20 * load), "modern at N=20") == [5, 10]
    loads.announce()
    assert capsys.readouterr().err == ""
