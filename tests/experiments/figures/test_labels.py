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


def test_the_parameter_of_a_memory_stands_with_its_symbol():
    named = ("covariance", "dense", "dense:4", "dreaming", "sparse:1.5", "unlearning", "classical", "./a.py:mine:2")
    assert [labels.memory(name) for name in named] == [
        *("covariance, $a=0.1$", "dense, $n=3$", "dense, $n=4$", "dreaming, $t=1$", r"sparse, $\alpha=1.5$"),
        *("unlearning, $D=100$", "classical", "mine:2"),
    ]
