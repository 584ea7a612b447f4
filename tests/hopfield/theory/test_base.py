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


OUT_OF_RANGE = {
    "criterion": (lambda theory: theory.critical_load("retaind"), "criterion must be one of retained, "),
    "neurons": (lambda theory: theory.critical_load("retained", neurons=10.5), "neurons must be an integer"),
    "too few": (lambda theory: theory.critical_load("retained", neurons=-5), "neurons must be an integer of at least"),
    "cut": (lambda theory: theory.critical_load("retained", cut=1.5), "cut must be finite and >= 0 and <= 1"),
    "cut of nan": (lambda theory: theory.critical_load("exact", cut=np.nan), "cut must be finite"),
    "error": (lambda theory: theory.critical_load("one_step_error", error=-1), "error must be finite and > 0"),
    "corruption": (lambda theory: theory.one_step_error(11, 5, corruption=np.nan), "corruption must be finite"),
    "text": (lambda theory: theory.one_step_error(11, 5, corruption="x"), "corruption must be real numbers"),
    "patterns": (lambda theory: theory.one_step_error(11, [5, 0]), "num_patterns must be an integer of at least 1"),
    "fraction": (lambda theory: theory.success("exact", 11, 1.5), "num_patterns must be an integer of at least 1"),
    "beta": (lambda theory: theory.critical_load("retained", beta=np.nan), "beta must be finite and > 0"),
    "negative beta": (lambda theory: theory.basins("synchronous", 9, -2.0, [0.1]), "beta must be finite and > 0"),
    "load": (lambda theory: theory.retained_overlap(-1.0), "load must be finite and >= 0"),
    "loads": (lambda theory: theory.basins("synchronous", 9, None, [0.1, np.nan]), "loads must be finite and >= 0"),
    "overlaps": (lambda theory: theory.nearest_share(9, 3, [2.0]), "overlaps must be finite and >= -1 and <= 1"),
    "dynamics": (lambda theory: theory.basins("synchronus", 9, 1.0, np.array([0.1])), "dynamics must be one of sync"),
}


@pytest.mark.parametrize(("ask", "message"), OUT_OF_RANGE.values(), ids=OUT_OF_RANGE)
@pytest.mark.parametrize("name", memories.names())
def test_no_theory_takes_arguments_out_of_range(name, ask, message):
    """Whether it uses them or not, and whether it has an answer or none."""
    with pytest.raises(ValueError, match=message):
        ask(memories.find(name).theory)
