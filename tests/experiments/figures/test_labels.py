"""Labels in figures: two spellings of one memory have one label, two memories have two."""

import pytest

from experiments.figures import labels
from experiments.figures.words import readable
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


def test_names_of_options_are_words_and_formulas_paths_and_units_stay():
    names = {
        "pseudo_inverse: keys found": "pseudo inverse: keys found",
        "dot/low_rank/softmax": "dot, low rank, softmax",
        "correlated:4/flip:0.25, top_k:8": "correlated 4, flip 0.25, top k 8",
    }
    same = ("load M/N", "where/spins.npy", "./mine.py:mine", "overlap > 0.8: 0.17", "beta_c=3", "$x_k:8$", "kB/s")
    assert {name: readable(name) for name in (*names, *same)} == names | {text: text for text in same}
