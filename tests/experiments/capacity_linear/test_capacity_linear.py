"""Capacity of fast weights: shares of keys found beside theory, and what the experiment refuses."""

import numpy as np
import pandas
import pytest

from experiments.capacity_linear.experiment import ALL, FOUND, Config, measure, pairs, panels, points, summarise
from tests.experiments.estimates import rows

SMALL = Config(rules=["outer", "pseudo_inverse"], neurons=[8, 16], loads=[0.1, 0.4, 0.8], samples=12, queries=24)


@pytest.fixture(scope="module")
def table() -> pandas.DataFrame:
    rows = list(measure(SMALL, points(SMALL)))
    assert len(rows) == len(points(SMALL)) == 144
    return pandas.DataFrame(rows)


def test_pairs_have_the_load_they_are_asked_for():
    for load, neurons in ((0.5, 32), (1.0, 256)):
        n = pairs(load, neurons)
        assert n * np.log(n) / neurons**2 == pytest.approx(load, rel=0.02)


def test_shares_of_keys_found_are_those_of_theory(table):
    for row in rows(summarise(table), FOUND):
        assert abs(row["value"] - row["theory"]) < 4 * row["stderr"] + 0.03, row


def test_least_squares_finds_all_keys_of_fewer_pairs_than_components(table):
    few = table[(table["rule"] == "pseudo_inverse") & (table["patterns"] <= table["neurons"])]
    assert len(few)
    assert (few["found"] == 1).all()
    assert (few["all"] == 1).all()


def test_summary_has_the_half_way_load_of_every_rule_and_its_theory(table):
    found = summarise(table)
    (half,) = rows(found, "half", rule="outer", neurons=16)
    assert half["value"] == pytest.approx(half["theory"], abs=5 * half["stderr"] + 0.1)
    assert half["headline"]
    assert len(panels(table, found)) == 3


def test_bars_are_68_percent_intervals_in_every_panel(table):
    summary = summarise(table)
    shown = panels(table, summary)
    measured = [part for panel in shown for part in panel.series if part.error is not None]
    drawn = [ends for part in measured for ends in np.stack([part.y - part.error[0], part.y + part.error[1]], axis=1)]
    entries = [*rows(summary, FOUND), *rows(summary, ALL)]
    ends = np.array([(entry["low"], entry["high"]) for entry in entries])
    assert len(drawn) > len(summary.of(FOUND))
    for bar in drawn:
        assert np.isclose(bar, ends, atol=1e-12).all(axis=1).any()
    for entry in entries:
        assert entry["low"] < entry["high"]
        assert entry["low"] <= entry["value"] <= entry["high"]
    assert {panel.legend for panel in shown} == {"bars: 68 % intervals"}
