"""The experiment on sparse patterns: its loads, its rows against theory, its summary and figure."""

import pandas
import pytest

from experiments.capacity_sparse import experiment
from experiments.capacity_sparse.config import Config
from tests.experiments import estimates

pytestmark = pytest.mark.usefixtures("as_run")


def measured(**options) -> pandas.DataFrame:
    config = Config(**options)
    experiment.check(config)
    return pandas.DataFrame(experiment.measure(config, experiment.points(config)))


@pytest.fixture(scope="module")
def table(as_run):
    rules = ["binary", "clipped", "hebb", "willshaw"]
    return measured(rules=rules, neurons=[64], activities=[0.25], around=[0.4, 2.5], samples=8)


def test_patterns_are_retained_below_the_critical_load_and_not_beyond(table):
    share = table["retained"] / table["asked"]
    below = table["patterns"] < table["patterns"].groupby(table["rule"]).transform("mean")
    for rule in ("binary", "clipped"):
        chosen = table["rule"] == rule
        assert share[chosen & below].mean() > 0.9
        assert share[chosen & ~below].mean() < 0.6


def test_errors_of_one_step_are_those_of_theory(table):
    """Exact for Willshaw's synapses; the covariance rule's crosstalk is taken as Gaussian."""
    for entry in estimates.rows(experiment.summarise(table), "wrong neurons after one step"):
        if entry["rule"] in ("binary", "willshaw"):
            assert abs(entry["value"] - entry["theory"]) < 4 * entry["stderr"] + 0.01


def test_willshaw_keeps_its_own_neurons_on_and_half_of_its_synapses_at_its_unit(table):
    rows = table[table["rule"] == "willshaw"]
    assert (rows["on"] == 1).all()
    density = measured(rules=["willshaw"], neurons=[64], around=[1.0], samples=4)["density"].mean()
    assert density == pytest.approx(0.45, abs=0.05)  # half with K² in place of K(K−1) pairs


def test_plain_hebb_fails_with_biased_patterns_where_the_covariance_rule_does_not():
    rows = measured(rules=["hebb", "spins"], neurons=[128], activities=[0.25], around=[0.7, 4.0], samples=6)
    wrong = rows.groupby(["rule", "patterns"])["wrong_one"].mean()
    assert wrong["hebb"].iloc[-1] > 0.1
    assert rows[rows["rule"] == "spins"].sort_values("patterns").iloc[0]["wrong_one"] < 0.05
