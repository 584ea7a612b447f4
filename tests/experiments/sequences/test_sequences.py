"""The experiment on sequences: its lengths, its rows against theory, its summary and figure."""

import numpy as np
import pandas
import pytest

from experiments.sequences import experiment, theory
from experiments.sequences.config import Config

pytestmark = pytest.mark.usefixtures("as_run")


def measured(**options) -> pandas.DataFrame:
    config = Config(**options)
    experiment.check(config)
    return pandas.DataFrame(experiment.measure(config, experiment.points(config)))


@pytest.fixture(scope="module")
def table(as_run):
    return measured(degrees=["1", "2", "exponential"], neurons=[12], shares=[0.7, 0.1], samples=200)


@pytest.mark.slow
def test_lengths_are_those_at_which_theory_expects_the_shares():
    for rule in ("1", "2", "3", "exponential"):
        length = theory.length(rule, 24, 0.5)
        assert (
            theory.chance_right(rule, 24, length, length) > 0.5 >= theory.chance_right(rule, 24, length + 1, length + 1)
        )
    assert theory.length("2", 100, 0.5) == pytest.approx(197, abs=3)  # 205 with Gaussian crosstalk, by hand
    assert theory.length("exponential", 200, 0.5, 1000) is None


@pytest.mark.physics
def test_errors_of_a_bit_are_exact_and_whole_sequences_more_than_independent_bits_say(table):
    entries = experiment.summarise(table)["lengths"]
    assert len(entries) == 6
    for entry in entries:
        assert abs(entry["bit_error"] - entry["bit_error_theory"]) < 3.5 * entry["bit_error_stderr"]
        assert entry["whole_high"] > entry["whole_theory"] - 0.02
    share = experiment.summarise(table)["scalars"]["bit_errors_within_two_standard_errors"]
    assert share >= 0.6


def test_a_sequence_is_whole_where_all_transitions_are_right(table):
    assert ((table["right"] == table["patterns"]) == (table["whole"] == 1)).all()
    assert np.allclose(table.loc[table["whole"] == 1, "overlap"], 1.0)


def test_the_pseudo_inverse_keeps_correlated_sequences():
    both = ["plain", "pseudo_inverse"]
    rows = measured(degrees=["1"], neurons=[32], shares=[0.5], correlation=[0.4], learning=both, samples=30)
    right = rows.groupby("learning")["right"].sum() / rows.groupby("learning")["patterns"].sum()
    assert right["pseudo_inverse"] > 0.99
    assert right["plain"] < 0.5
    summary = experiment.summarise(rows)
    assert all(entry["bit_error_theory"] is None for entry in summary["lengths"])
    for entry in summary["half"]:
        assert [entry[name] for name in ("independent_bits", "P_T", "P_S")] == [None] * 3
    assert "correlated" in "".join(panel.title for panel in experiment.panels(rows, summary))


def test_theory_of_the_plain_rule_stands_beside_the_plain_rule_alone():
    both = ["plain", "pseudo_inverse"]
    rows = measured(degrees=["1"], neurons=[16], shares=[0.5], correlation=[0.0, 0.3], learning=both, samples=2)
    for entry in experiment.summarise(rows)["half"]:
        plain = entry["learning"] == "plain" and entry["correlation"] == 0
        assert all((entry[name] is not None) == plain for name in ("independent_bits", "P_T", "P_S"))


def test_a_length_without_a_wrong_spin_counts():
    seen = {2: 0.0, 4: 0.0, 8: 0.0125}
    rows = pandas.DataFrame(
        {"degree": "1", "learning": "plain", "correlation": 0.0, "neurons": 30, "patterns": length, "sample": sample}
        | {"right": length, "whole": 1, "bit_error": seen[length] * (sample % 2), "overlap": 1.0}
        for length in seen
        for sample in range(20)
    )
    summary = experiment.summarise(rows)
    for entry in summary["lengths"]:
        assert entry["bit_error_low"] <= entry["bit_error"] < entry["bit_error_high"]
    (panel,) = (panel for panel in experiment.panels(rows, summary) if panel.title == "one step")
    points = panel.series[0]
    order = np.argsort([entry["bit_error_theory"] for entry in summary["lengths"]])
    assert list(points.y[:2]) == [0, 0]
    ends = [(points.y[k] - points.error[0][k], points.y[k] + points.error[1][k]) for k in np.argsort(order)]
    for (low, high), entry in zip(ends, summary["lengths"], strict=True):
        assert high == pytest.approx(entry["bit_error_high"] / entry["bit_error_theory"])
        assert low == pytest.approx(entry["bit_error_low"] / entry["bit_error_theory"])


def test_no_wrong_spin_where_theory_expects_many_is_a_deviation():
    def share(length: int) -> float:
        columns = {"degree": "1", "learning": "plain", "correlation": 0.0, "neurons": 30, "patterns": length}
        right = {"right": length, "whole": 1, "bit_error": 0.0, "overlap": 1.0}
        rows = pandas.DataFrame(columns | right | {"sample": sample} for sample in range(100))
        return experiment.summarise(rows)["scalars"]["bit_errors_within_two_standard_errors"]

    assert theory.bit_error("1", 30, 2) < 1e-4
    assert share(2) == 1.0
    assert theory.bit_error("1", 30, 30) > 0.1
    assert share(30) == 0.0
