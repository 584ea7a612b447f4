"""Multiple-instance learning: folds that are never seen, files that are refused, methods that find the instance."""

import jax
import numpy as np
import pandas
import pytest

from experiments.bags import data, experiment, networks
from experiments.bags.config import METHODS, Config
from experiments.bags.experiment import measure, points, summarise
from experiments.bags.results import AREA
from tests.experiments import estimates

SMALL = Config(methods=["hopfield", "svm"], steps=[30], weight_decay=0.01, learning_rate=0.03)


@pytest.fixture(scope="module")
def table() -> pandas.DataFrame:
    rows = list(measure(SMALL, points(SMALL)))
    assert len(rows) == len(points(SMALL)) == 8
    return pandas.DataFrame(rows)


@pytest.fixture
def bags(tmp_path) -> dict:
    """Arrays of a sound file: four bags, two of them with two instances."""
    train = np.ones((1, 2, 4), bool)
    train[0, 0, :2] = train[0, 1, 2:] = False
    return {
        "features": np.arange(12.0).reshape(6, 2),
        "bag": np.array([0, 1, 1, 2, 3, 3]),
        "labels": np.array([0, 1, 0, 1]),
        "train": train,
    }


@pytest.mark.physics
def test_one_large_instance_is_found_by_all_methods_that_can_weigh_instances(table):
    found = {entry["method"]: entry["value"] for entry in estimates.rows(summarise(table), AREA)}
    assert min(found.values()) > 0.9, found


@pytest.mark.slow
def test_a_network_does_not_depend_on_bags_that_it_is_not_trained_on():
    """Labels and features of the folds left out are exchanged: scores of all others stay what they were."""
    made = data.synthetic_bags()
    used = np.array([made.tested[0] > 1])
    changed = made.instances.copy()
    changed[made.place[~used[0]][made.there[~used[0]]]] += 1.0
    other = made._replace(labels=np.where(used[0], made.labels, ~made.labels), instances=changed)
    kind = networks.Structure("hopfield", "softmax", 2 * made.instances.shape[1], 4, 2, 2, (3,), 2, 0.2, 0.01)
    scores = [networks.scores(kind, bags, used, 0.01, jax.random.key(0))[0, 0] for bags in (made, other)]
    np.testing.assert_array_equal(scores[0][used[0]], scores[1][used[0]])
    assert (scores[0][~used[0]] != scores[1][~used[0]]).any()


def test_ranks_are_those_among_the_bags_that_are_seen():
    instances = np.array([[3.0], [1.0], [2.0], [2.0], [9.0]], np.float32)
    bags = data.Bags(instances, np.arange(5)[:, None], np.ones((5, 1), bool), np.zeros(5, bool), np.zeros((1, 5), int))
    found = data.standardise(bags, np.array([1, 1, 1, 1, 0], bool))
    np.testing.assert_allclose(found[:, 1] / np.sqrt(3), [0.75, -0.75, 0.0, 0.0, 1.0], rtol=1e-6)
    np.testing.assert_allclose(found[:, 0], (instances[:, 0] - 2.0) / np.sqrt(0.5 + data.FLOOR), rtol=1e-6)


def test_what_judges_a_fold_was_trained_without_it_and_without_the_fold_that_chose():
    left = experiment.pairs(10, 2)
    for fold in range(10):
        others = sorted(j if i == fold else i for i, j in left if fold in (i, j))
        assert others == sorted((fold + step) % 10 for step in (-2, -1, 1, 2))


def test_all_methods_choose_among_as_many_settings():
    config = Config(steps=[1, 2])
    assert {len(experiment.candidates(config, method)) for method in METHODS} == {4}
