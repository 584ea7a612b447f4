"""The experiment on sequences: its lengths, its rows against theory, its summary and figure."""

import numpy as np
import pandas
import pytest

from experiments.sequences import experiment, theory
from experiments.sequences.config import Config
from tests.experiments import estimates

pytestmark = pytest.mark.usefixtures("as_run")

WRONG, WITHIN = "share of bits that are wrong", "bit errors within two standard errors"


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
    summary = experiment.summarise(table)
    wrong, whole = (estimates.rows(summary, name) for name in (WRONG, "share of sequences that are whole"))
    assert len(wrong) == len(whole) == 6
    for entry in wrong:
        assert abs(entry["value"] - entry["theory"]) < 3.5 * entry["stderr"]
    for entry in whole:
        assert entry["high"] > entry["theory"] - 0.02
    assert estimates.value(summary, WITHIN) >= 0.6


def test_the_pseudo_inverse_keeps_correlated_sequences():
    both = ["plain", "pseudo_inverse"]
    rows = measured(degrees=["1"], neurons=[32], shares=[0.5], correlation=[0.4], learning=both, samples=30)
    right = rows.groupby("learning")["right"].sum() / rows.groupby("learning")["patterns"].sum()
    assert right["pseudo_inverse"] > 0.99
    assert right["plain"] < 0.5
    summary = experiment.summarise(rows)
    assert summary.of(WRONG)["theory"].isna().all()
    assert all(np.isnan(entry["theory"]) for entry in estimates.rows(summary, "half of sequences"))
    assert summary.lines.empty
    assert "correlated" in "".join(panel.title for panel in experiment.panels(rows, summary))


def test_theory_of_the_plain_rule_stands_beside_the_plain_rule_alone():
    both = ["plain", "pseudo_inverse"]
    rows = measured(degrees=["1"], neurons=[16], shares=[0.5], correlation=[0.0, 0.3], learning=both, samples=2)
    for entry in estimates.rows(experiment.summarise(rows), "half of sequences"):
        plain = entry["learning"] == "plain" and entry["correlation"] == 0
        assert np.isfinite(entry["theory"]) == plain
