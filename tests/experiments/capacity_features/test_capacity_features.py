"""The experiment on random features: its exponent, its foretold error, and what fails."""

import numpy as np
import pandas
import pytest

from experiments.capacity_features import experiment
from experiments.capacity_features.experiment import Config
from tests.experiments.estimates import rows

pytestmark = pytest.mark.usefixtures("as_run")


def measured(**options) -> pandas.DataFrame:
    config = Config(**options)
    return pandas.DataFrame(experiment.measure(config, experiment.points(config)))


@pytest.fixture(scope="module")
def table(as_run):
    return measured(features=[128, 512, 2048], samples=20)


@pytest.mark.physics
def test_errors_fall_as_the_root_of_the_size(table):
    found = {row["of"]: row for row in rows(experiment.summarise(table), "exponent of a curve")}
    assert found["sum"]["value"] == pytest.approx(-0.5, abs=max(0.06, 3 * found["sum"]["stderr"]))
    assert found["log_energy"]["value"] == pytest.approx(-0.5, abs=max(0.06, 3 * found["log_energy"]["stderr"]))
    assert found["retrieval"]["value"] == pytest.approx(-0.5, abs=max(0.1, 3 * found["retrieval"]["stderr"]))


def test_the_foretold_error_is_the_measured_one(table):
    found = experiment.summarise(table)
    predicted, measured = found.of("predicted")["value"], found.of("sum")["value"]
    assert measured.tolist() == pytest.approx(predicted.tolist(), rel=0.5)
    assert (found.of("failed")["value"] == 0).all()


def test_a_large_beta_fails_and_says_so():
    table = measured(betas=[60.0], features=[64, 128], samples=4)
    summary = experiment.summarise(table)
    assert (summary.of("failed")["value"] > 0.5).all()
    assert summary.of("log_energy")["value"].isna().all()
    assert not summary.estimates["headline"].any()


@pytest.mark.slow
def test_the_error_of_a_mean_exponent_counts_draws_that_curves_share():
    """Curves with the same patterns scatter together: their mean is hardly better known than one of them."""
    rng, found = np.random.default_rng(3), []
    for _ in range(40):
        noise = {size: rng.normal(size=10) for size in (128, 512, 2048)}
        made = [
            {"map": "trigonometric", "neurons": 16, "patterns": 30, "beta": beta, "features": size, "sample": sample}
            | dict.fromkeys(("squared_error", "squared_log_error", "squared_distance"), np.exp(shared) / size)
            | {"predicted": 0.01, "failed": 0.0, "lost": 0.0}
            for beta in (0.5, 1.0, 1.5, 2.0)
            for size in noise
            for sample, shared in enumerate(noise[size] + 0.2 * rng.normal(size=10))
        ]
        found += rows(experiment.summarise(pandas.DataFrame(made)), "exponent", of="sum")
    scatter = np.std([row["value"] for row in found], ddof=1)
    foretold = np.sqrt(np.mean([row["stderr"] ** 2 for row in found]))
    assert foretold == pytest.approx(scatter, rel=0.3)
