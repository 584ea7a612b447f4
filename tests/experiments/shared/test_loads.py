"""Loads that are rounded to one number of patterns are measured once, and noted."""

from experiments.shared import loads
from experiments.shared.notes import noted


def test_loads_that_round_to_one_number_are_noted_once() -> None:
    given = [0.3, 0.12, 0.1]  # at N = 20 they are 6, 2.4 and 2 patterns
    with noted() as notes:
        for _ in range(2):  # the points of a run are made more than once
            assert loads.counts(given, lambda load: round(20 * load), "classical at N=20") == [2, 6]
    assert list(notes) == ["note: loads 0.1, 0.12 of classical at N=20 are all M=2: measured once"]


def test_loads_in_units_of_the_last_are_odd_numbers_named_by_the_first_of_them() -> None:
    with noted() as notes:  # the last load is one of 0.14 * 50 = 7 patterns
        found = loads.around([1.0, 0.52, 0.5, 9.0, 0.01], 0.14, 50, "degree 2 at N=50", least=1, largest=20)
    columns = {"around": [0.01, 0.52, 1.0], "patterns": [1, 3, 7], "load": [1 / 50, 3 / 50, 7 / 50]}
    assert found == [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    assert list(notes) == [
        "note: around 0.5, 0.52 of degree 2 at N=50 are all M=3: measured once",
        "note: around 9 of degree 2 at N=50 need too many patterns: left out",
    ]
