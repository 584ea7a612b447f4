"""Patterns from examples: overlaps of many examples beside theory, and that few are not enough."""

import pandas
import pytest

from experiments.examples.experiment import Config, measure, panels, points, summarise
from tests.experiments.estimates import rows


def test_overlaps_are_those_of_theory_and_few_examples_are_not_enough():
    """N = 400, α = 0.0375, r = 0.5: 24 examples leave ρ = ⅛; 1 leaves ρ = 3, where theory has no state."""
    config = Config(neurons=[400], loads=[0.0375], examples=[1, 24], samples=3, queries=8)
    table = pandas.DataFrame(measure(config, points(config)))
    summary = summarise(table)
    for row in rows(summary, "overlap", examples=24):
        assert row["value"] == pytest.approx(row["theory"], abs=max(4 * row["stderr"], 0.01)), row
    for row in rows(summary, "share retained", examples=1):
        assert row["value"] < 0.2
    for row in rows(summary, "examples needed"):
        assert 1 < row["limit"] < 24
        assert 1 < row["value"] < 24
    assert len(panels(table, summary)) == 4
