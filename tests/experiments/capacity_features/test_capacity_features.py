"""The experiment on random features: its exponent, its foretold error, and what fails."""

import pandas
import pytest

from experiments.capacity_features import experiment
from experiments.capacity_features.config import Config

pytestmark = pytest.mark.usefixtures("as_run")


def measured(**options) -> pandas.DataFrame:
    config = Config(**options)
    return pandas.DataFrame(experiment.measure(config, experiment.points(config)))


@pytest.fixture(scope="module")
def table(as_run):
    return measured(features=[128, 512, 2048], samples=20)


@pytest.mark.physics
def test_errors_fall_as_the_root_of_the_size(table):
    found = {entry["quantity"]: entry for entry in experiment.summarise(table)["exponents"]}
    assert found["sum"]["exponent"] == pytest.approx(-0.5, abs=max(0.06, 3 * found["sum"]["stderr"]))
    assert found["log_energy"]["exponent"] == pytest.approx(-0.5, abs=max(0.06, 3 * found["log_energy"]["stderr"]))
    assert found["retrieval"]["exponent"] == pytest.approx(-0.5, abs=max(0.1, 3 * found["retrieval"]["stderr"]))


def test_the_foretold_error_is_the_measured_one(table):
    for entry in experiment.summarise(table)["sizes"]:
        assert entry["sum"] == pytest.approx(entry["predicted"], rel=0.5)
        assert entry["failed"] == 0


def test_a_large_beta_fails_and_says_so():
    table = measured(betas=[60.0], features=[64, 128], samples=4)
    summary = experiment.summarise(table)
    assert all(entry["failed"] > 0.5 and entry["log_energy"] is None for entry in summary["sizes"])
    assert summary["scalars"] == {}


def test_the_figure_has_its_four_panels(table):
    figure = experiment.plot(table, experiment.summarise(table))
    assert len([ax for ax in figure.axes if ax.get_title(loc="left")]) == 4


def test_odd_sizes_are_refused():
    with pytest.raises(ValueError, match="features must be even numbers, got 65"):
        Config(features=[65])
