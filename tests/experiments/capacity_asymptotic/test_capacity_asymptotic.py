"""The asymptotic capacity experiment: thresholds against exact theory, and what it refuses."""

import numpy as np
import pandas
import pytest

from experiments import contract
from experiments.capacity_asymptotic import experiment, theory
from experiments.capacity_asymptotic.config import Config
from experiments.capacity_asymptotic.experiment import measure, plot, points, summarise
from experiments.statistics.crossings import parabolic_crossing

MISTAKES = [
    ({"neurons": []}, "neurons must not be empty, got []"),
    ({"neurons": [1]}, "neurons must lie in [2, 1000], got 1"),
    ({"enumerated": [13]}, "enumerated must be some of neurons [12, 24], got 13"),
    ({"corruption": [0.5]}, "corruption must lie in [0, 0.5), got 0.5"),
    ({"beta": 0.0}, "beta must be positive, got 0"),
    ({"sampled_queries": 0}, "sampled_queries must be at least 1, got 0"),
    ({"around": [0.7]}, "around must lie in [-0.5, 0.5], got 0.7"),
]


@pytest.fixture(scope="module")
def table() -> pandas.DataFrame:
    near = [-0.05, -0.02, -0.01, 0.0, 0.01, 0.02, 0.05]
    config = Config(neurons=[14, 60], enumerated=[14], around=near, sampled_queries=4000, samples=40, queries=8)
    rows = list(measure(config, points(config)))
    assert len(rows) == len(points(config))
    return pandas.DataFrame(rows)


@pytest.mark.physics
def test_thresholds_are_those_of_exact_theory(table):
    """Sampled and enumerated; at N = 60 there are e^34 patterns."""
    found = summarise(table)["thresholds"]
    assert len(found) == 6
    for entry in found:
        assert entry["theory"] is not None
        assert abs(entry["load"] - entry["theory"]) < 4 * entry["stderr"] + 2e-4, entry


def test_summary_names_every_threshold_with_its_error(table):
    scalars = summarise(table)["scalars"]
    for name in ("weight/sampled/N=60", "spin/sampled/N=14", "weight/enumerated/N=14"):
        assert 0.5 < scalars[name] < 0.8
        assert scalars[f"{name}/stderr"] > 0


def test_a_point_does_not_depend_on_the_others():
    """From fewer patterns than queries to thousands: each queries its own first ones, and as many as it has."""
    config = Config(
        neurons=[12, 24],
        enumerated=[12],
        corruption=[0.0, 0.1],
        around=[-0.2, -0.1, 0.0, 0.02],
        sampled_queries=50,
        samples=2,
        queries=16,
    )
    everything = points(config)
    rows = list(measure(config, everything))
    drawn = [row for row in rows if row["method"] == "enumerated"]
    sizes = [round(np.exp(row["load"] * 12)) for row in drawn]
    assert min(sizes) < 8
    assert [row["queries"] for row in drawn] == [2 * min(size, 16) for size in sizes]
    for left in (everything[1:4], everything[-1:], everything[::3], everything[::-1]):
        for row in measure(config, left):
            (whole,) = (other for other in rows if all(other[key] == row[key] for key in left[0]))
            assert row == whole


def test_the_crossing_of_a_known_curve_is_found():
    load = np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    value = (load - 0.33) + 0.5 * (load - 0.33) ** 2
    found, error = parabolic_crossing(load, value, np.full(6, 1e-3), 0.0)
    assert found == pytest.approx(0.33, abs=1e-3)
    assert error is not None
    assert 0 < error < 2e-3
    assert parabolic_crossing(load, value, np.full(6, 1e-3), 5.0) == (None, None)


def test_the_figure_draws(table):
    summary = summarise(table)
    assert len(plot(table, summary).axes) == 3
    few = table[table["load"] < 0.5]
    assert plot(few, summarise(few))


@pytest.mark.parametrize(("options", "message"), MISTAKES)
def test_wrong_options_are_one_sentence(options, message):
    with pytest.raises(ValueError) as error:  # noqa: PT011
        contract.check(experiment, Config(**options))
    assert str(error.value) == message


def test_limits_are_those_of_theory():
    assert theory.thresholds(1.0, 0.0) == pytest.approx({"weight": 0.5662192, "spin": 0.6749973})
