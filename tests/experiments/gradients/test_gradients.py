"""The verification experiment: its table holds every gradient once, its verdict follows from its rows."""

import json

import pandas
import pytest

from experiments.gradients import experiment
from experiments.gradients.experiment import Config
from tests.experiments.estimates import value


@pytest.fixture(scope="module")
def table():
    config = Config(shapes=["grouped"], masks=["none", "random"], metrics=["none", "biased"], separations=["softmax"])
    return pandas.DataFrame(experiment.measure(config, experiment.points(config)))


def test_every_gradient_is_measured_once_and_agrees(table):
    config = Config(shapes=["grouped"], masks=["none", "random"], metrics=["none", "biased"], separations=["softmax"])
    keys = list(experiment.points(config)[0])
    assert table[keys].to_dict("records") == experiment.points(config)
    assert len(table) == 2 * 2 * (6 + 10)
    assert table["passed"].all()
    double = table[table["dtype"] == "float64"]
    assert double["autodiff"].max() < 1e-12
    assert double["difference"].max() < 1e-9
    single = table[table["dtype"] == "float32"]
    assert 1e-9 < single["autodiff"].max() < 1e-4  # really single precision


def test_what_passed_is_told_by_the_limits_in_the_row(table):
    held = (table["autodiff"] <= table["tolerance"]) & (table["difference"] <= table["difference_tolerance"])
    assert (held == table["passed"]).all()
    double = table[table["dtype"] == "float64"]
    assert (double["difference"] > double["tolerance"]).any(), "differences need a limit of their own"
    assert set(double["difference_tolerance"]) == {1e-9}
    for limit in ("tolerance", "difference_tolerance"):
        strict = table.assign(passed=False, **{limit: 1e-30})
        assert {entry[limit] for entry in experiment.summarise(strict).more["wrong"]} == {1e-30}


def test_the_verdict_is_that_of_the_rows(table):
    good = experiment.summarise(table)
    assert (value(good, "gradients wrong"), good.more["wrong"], good.notes) == (0, [], [])
    assert set(good.of("share of gradients that agree")["value"]) == {1.0}
    broken = table.copy()
    broken.loc[3, ["passed", "autodiff"]] = [False, 0.1]
    bad = experiment.summarise(broken)
    assert bad.notes == ["NOT VERIFIED: 1 gradients in float32 disagree"]
    assert bad.of("share of gradients that agree", dtype="float32")["value"].iloc[0] == 31 / 32
    assert bad.more["wrong"][0]["input"] == table.loc[3, "input"]
    json.dumps(bad.json())
