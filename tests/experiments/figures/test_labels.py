"""Labels in figures: two spellings of one memory have one label, two memories have two."""

import pytest

from experiments.figures import labels
from experiments.shared import spellings

PAIRS = [("dense", "dense:3"), ("sparse", "sparse:2"), ("dense:3", "dense:4"), ("modern", "sparse")]


@pytest.mark.parametrize("names", PAIRS)
def test_one_memory_has_one_label(names):
    first, second = names
    same = spellings.memory(first) == spellings.memory(second)
    assert (labels.memory(first) == labels.memory(second)) == same


def test_a_file_is_called_by_its_name():
    assert labels.patterns("some/where/spins.npy") == "where/spins.npy"
    assert labels.patterns("digits") == "digits"
