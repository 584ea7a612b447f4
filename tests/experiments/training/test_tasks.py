"""Tasks hold what their names say, split without overlap and the same from the same seed."""

import numpy as np
import pytest

from experiments.training import tasks
from experiments.training.config import TASKS


@pytest.mark.parametrize("task", TASKS)
def test_a_split_is_that_of_its_seed_and_has_every_class_in_every_part(task):
    data, again, other = (tasks.load_split(task, seed, 200) for seed in (1, 1, 2))
    for part, same in zip(data[:3], again[:3], strict=True):
        np.testing.assert_array_equal(part.inputs, same.inputs)
        assert part.inputs.dtype == np.float32
        assert part.inputs.ndim == 3
        assert set(part.targets) == set(range(data.classes))
    assert not np.array_equal(data.train.inputs, other.train.inputs)
    rows = [{x.tobytes() for x in part.inputs} for part in data[:3]]
    if task != "latch":
        assert not rows[0] & rows[2]


def test_measurements_are_standardised_by_the_training_set_alone():
    data = tasks.load_split("wine", 0, 10)
    np.testing.assert_allclose(data.train.inputs.mean(axis=(0, 1)), 0.0, atol=1e-6)
    np.testing.assert_allclose(data.train.inputs.std(axis=(0, 1)), 1.0, atol=1e-6)
    assert abs(data.test.inputs.mean(axis=(0, 1))).max() > 1e-3


def test_a_bag_is_positive_exactly_if_it_holds_a_signal():
    data = tasks.load_split("bit_patterns", 0, 500)
    bags = [{x.tobytes() for x in bag} for bag in data.train.inputs]
    negative = set().union(*(bag for bag, y in zip(bags, data.train.targets, strict=True) if y == 0))
    extra = [len(bag - negative) for bag, y in zip(bags, data.train.targets, strict=True) if y == 1]
    assert min(extra) >= 1
