"""The theory of every memory: what is asked of it in one protocol, and what a memory without one answers."""

import numpy as np
import pytest

from hopfield import memories
from hopfield.theory import classical, dense
from hopfield.theory.base import Theory
from hopfield.theory.general import load_at_overlap


def test_a_memory_of_which_nothing_is_known_has_no_prediction():
    theory = Theory()
    assert theory.critical_load("retained") is theory.retained_overlap(0.1) is theory.kind("retained") is None
    assert theory.one_step_error(10, [3]) is theory.success("exact", 10, [3]) is None
    assert theory.nearest_share(9, 3, np.ones(2)) is None
    assert not theory.basins("synchronous", 10, 1.0, np.ones(2))
    assert not theory.sized | theory.softmax


def test_the_parameter_of_a_memory_chooses_its_theory():
    assert memories.find("dense:2").theory.critical_load("retained") == classical.spinodal().load
    assert memories.find("classical").theory.critical_load("retained", cut=1.0) == 0.0
    assert memories.find("dense:4").theory.critical_load("retained", cut=0.0) == dense.spinodal(4).load
    np.testing.assert_array_equal(memories.find("dense").theory.retained_overlap(0.1), dense.retrieval_overlap(0.1, 3))


def test_a_cut_above_the_last_overlap_asks_for_a_smaller_load():
    """The spinodal overlap of degree 3 is 0.838: at a cut of 0.9 the load is where m(α) falls to it."""
    overlap = lambda load: dense.retrieval_overlap(load, 3)
    last = dense.spinodal(3)
    assert load_at_overlap(overlap, last, 0.8) == last.load
    load = load_at_overlap(overlap, last, 0.9)
    assert load < last.load
    assert float(overlap(load)) == pytest.approx(0.9, abs=1e-9)
