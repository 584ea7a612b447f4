"""Options of the retrieval experiment: what is refused, its parts, and the grid that was published."""

import pytest

from experiments.retrieval import experiment as retrieval
from experiments.retrieval.config import Config, Scan


def test_parts_are_a_union_without_repetition():
    part = Scan(patterns=[50], kappas=[1.0, 2.0], around=[], samples=2)
    config = Config(part={"one": part, "two": Scan(patterns=[50, 60], kappas=[2.0, 3.0], around=[], samples=2)})
    keys = [(p["patterns"], p["kappa"], p["sample"]) for p in retrieval.points(config)]
    assert len(keys) == len(set(keys)) == 2 * (3 + 2)
    common = Config(part={"one": part}, samples=1)
    assert len(retrieval.points(common)) == 2


@pytest.mark.parametrize("option", [{"max_steps": 1}, {"queries": 2}])
def test_parts_that_measure_one_curve_otherwise_are_refused(option):
    part = {"patterns": [50], "kappas": [1.0], "around": [], "samples": 2}
    config = Config(part={"one": Scan(**part), "two": Scan(**part | option)})
    with pytest.raises(ValueError, match=rf"^{next(iter(option))} must be one number for all parts that measure"):
        retrieval.points(config)
