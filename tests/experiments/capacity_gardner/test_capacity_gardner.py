"""Couplings up to Gardner's bound: spins held beside Cover's count, and what is no rule of couplings."""

import pandas
import pytest

from experiments.capacity_gardner.experiment import Config, measure, points, summarise
from tests.experiments.estimates import rows


@pytest.mark.slow
def test_spins_held_are_covers_share():
    """N = 20 at M = 36 and 40: Cover's share is 0.63 and 0.37; 12 draws of 20 spins, which share their patterns."""
    config = Config(rules=["adatron"], neurons=[20], loads=[1.8, 2.0], flipped=[0.0], samples=12)
    summary = summarise(pandas.DataFrame(measure(config, points(config))))
    for row in rows(summary, "share of spins held"):
        assert 0.3 < row["theory"] < 0.7
        assert abs(row["value"] - row["theory"]) < 4 * row["stderr"], row


def test_every_spin_of_few_patterns_is_held_and_the_patterns_stay():
    """M = 3 ≤ N − 1 patterns: by Cover all spins can be held, and adatron finds couplings that do."""
    config = Config(rules=["adatron"], neurons=[12], loads=[0.25], biases=[0.0], flipped=[0.0], samples=2, queries=2)
    table = pandas.DataFrame(measure(config, points(config)))
    assert set(table["patterns"]) == {3}
    for column in ("held", "fixed", "retained"):
        assert (table[column] == 1).all()
    (row,) = rows(summarise(table), "share of spins held")
    assert row["value"] == row["theory"] == 1
