"""Couplings up to Gardner's bound: spins held beside Cover's count, and what is no rule of couplings."""

import pandas
import pytest

from experiments.capacity_gardner.experiment import Config, measure, points, summarise


@pytest.mark.slow
def test_spins_held_are_covers_share():
    """N = 20 at M = 36 and 40: Cover's share is 0.63 and 0.37; 12 draws of 20 spins, which share their patterns."""
    config = Config(rules=["adatron"], neurons=[20], loads=[1.8, 2.0], flipped=[0.0], samples=12)
    summary = summarise(pandas.DataFrame(measure(config, points(config))))
    for row in summary["learned"]:
        assert 0.3 < row["held_theory"] < 0.7
        assert abs(row["held"] - row["held_theory"]) < 4 * row["held_stderr"], row
