"""Every YAML of conf/ composes into points that can be measured; what is published is what the project promises."""

import json
from functools import cache

import pytest

from experiments import contract
from experiments.runner import budget, compose, registry, session
from experiments.system import files, provenance

CONFS = sorted(path.stem for path in (contract.ROOT / "conf").glob("*.yaml"))


@pytest.fixture(scope="module")
def composed():
    """The job that words on the command line ask for; composed once."""
    with session.opened():
        yield cache(lambda *words: compose.jobs(words, sweep=False)[0])


@pytest.fixture(scope="module")
def listed(composed):
    """The points of a choice of `conf=`; listed once."""

    def points(conf):
        job = composed(f"conf={conf}")
        return registry.load(job.experiment).points(job.config)

    return cache(points)


def test_samples_by_size_take_the_place_of_those_of_a_file(composed):
    words = ("samples={0: 3, 60: 2}", "seed=1")
    assert composed("conf=capacity_classical", *words).config.samples == {0: 3, 60: 2}
    assert composed("conf=capacity_classical", "samples={0: 3}").config.samples == {0: 3}


@pytest.mark.parametrize("conf", CONFS)
def test_a_config_has_points_that_the_ledger_can_tell_apart(composed, listed, conf):
    job, points = composed(f"conf={conf}"), listed(conf)
    experiment = registry.load(job.experiment)
    science = provenance.constants(job.config)
    assert set(science) < set(provenance.science(experiment, job.config, points))
    assert points
    assert json.loads(files.encode([points, science])) == [points, science]
    assert len({files.fingerprint(point) for point in points}) == len(points)
    assert {frozenset(point) for point in points} == {frozenset(points[0])}
    for value in (value for point in points for value in point.values()):
        assert isinstance(value, str | int | float | None)
    assert not set(points[0]) & set(science)


@pytest.mark.parametrize("conf", CONFS)
def test_costs_bound_the_points_of_every_published_config(composed, listed, conf):
    job, points = composed(f"conf={conf}"), len(listed(conf))
    cost = budget.check(job.config, conf, registry.load(job.experiment).cost)
    assert points <= max(cost.points, 3000 * (job.experiment == "heads")) <= 60 * points + 3000
    assert budget.seconds(cost) > 1
    assert (budget.seconds(cost) < 7200) == (conf != "mqar_published")  # that one is for a GPU
