"""Overlaps in time: the first step against exact theory, their course, which networks are measured, and the figure."""

import pandas
import pytest

from experiments.overlap_dynamics import experiment, theory
from experiments.overlap_dynamics.experiment import Config
from tests.experiments import estimates

SMALL = Config(neurons=[60, 400], around=[0.5], overlaps=[0.5, 1.0], steps=[1, 2, 8], samples=12)

pytestmark = pytest.mark.usefixtures("as_run")


@pytest.fixture(scope="module")
def table(as_run) -> pandas.DataFrame:
    return pandas.DataFrame(experiment.measure(SMALL, experiment.points(SMALL)))


@pytest.mark.physics
def test_the_first_step_is_that_of_exact_theory(table):
    first = estimates.rows(experiment.summarise(table), "overlap", step=1)
    assert len(first) == 8
    for entry in first:
        assert abs(entry["value"] - entry["theory"]) < 4 * entry["stderr"] + 1e-3, entry


def test_the_second_step_is_nearer_to_the_generating_functional_than_to_neurodynamics():
    """α = 0.138 and N = 1000, from 0.4: 0.741 with the own past, 0.718 without."""
    config = Config(degrees=[2], neurons=[1000], around=[1.0], overlaps=[0.4], steps=[2], samples=24, queries=8)
    rows = pandas.DataFrame(experiment.measure(config, experiment.points(config)))
    summary = experiment.summarise(rows)
    (entry,) = estimates.rows(summary, "overlap")
    functional = summary.line("overlap", kind="generating functional")["y"].iloc[0][-1]
    assert abs(entry["value"] - functional) < 4 * entry["stderr"] + 0.006
    assert entry["value"] > entry["limit"] + 0.01


def test_patterns_stay_near_and_half_overlaps_grow_below_the_last_load(table):
    rows = table[(table["degree"] == 2) & (table["neurons"] == 400)].groupby(["overlap", "step"])["final"].mean()
    assert rows[1.0, 8] > 0.95
    assert rows[0.5, 8] > rows[0.5, 1] > 0.5
    assert (table["retained"] <= table["queries"]).all()


def test_theory_and_labels_are_of_the_start_that_whole_spins_meet():
    """13 flips of 40 spins are an overlap of 0.35, 20 of them 0."""
    config = Config(degrees=[2, 3], overlaps=[0.02, 0.33], steps=[1, 2], samples=2)
    rows = pandas.DataFrame(experiment.measure(config, experiment.points(config)))
    summary = experiment.summarise(rows)
    found = estimates.rows(summary, "overlap")
    assert {entry["start_overlap"] for entry in found} == {0.0, 0.35}
    for entry in found:
        expected = theory.neurodynamics(entry["degree"], entry["load"], entry["start_overlap"], entry["step"])
        assert entry["limit"] == expected
    for panel in experiment.panels(rows, summary):
        labels = [part.label for part in panel.series]
        assert [label for label in labels if "m(0)" in label] == ["$m(0)=0$", "$m(0)=0.35$"]
