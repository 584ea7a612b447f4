"""Options of the retrieval experiment: what is refused, its parts, and the grid that was published."""

import dataclasses

import pandas
import pytest

from experiments.retrieval import experiment as retrieval
from experiments.retrieval.config import Config, FullScan, Scan, scans
from experiments.runner import compose, session
from experiments.shared import kappa_theory


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


@pytest.mark.slow
def test_parts_of_the_published_scale_are_chosen_and_changed_on_the_command_line():
    with session.opened():

        def points(*words: str) -> list[dict]:
            (job,) = compose.jobs(["conf=retrieval", *words], sweep=False)
            return retrieval.points(job.config)

        whole, (images, many) = points(), (points(f"parts=[{name}]") for name in ("images", "many"))
        assert {point["ensemble"] for point in images} == {"digits", "photographs"}
        assert {point["patterns"] for point in many} == {1000, 3162, 10000}
        assert points("parts=[images,many]") == images + many
        assert all(point in whole for point in images)
        few = points("parts=[few]", "part.few.patterns=[50]", "part.few.samples=3", "queries=2")
        assert {(point["patterns"], point["queries"]) for point in few} == {(50, 2)}
        assert {point["sample"] for point in few} == {0, 1, 2}
        own = points("+part={mine:{patterns:[20,30],neurons:[8]}}", "parts=[mine]")
        assert {(point["neurons"], point["patterns"]) for point in own} == {(8, 20), (8, 30)}


def test_published_grid_holds_the_five_loads_of_the_unit_sphere():
    with session.opened():
        (job,) = compose.jobs(["conf=retrieval"], sweep=False)
    points = pandas.DataFrame(retrieval.points(job.config))
    sphere = points[(points["memory"] == "modern") & (points["ensemble"] == "sphere") & (points["neurons"] == 64)]
    assert set(sphere["patterns"]) >= {100, 316, 1000, 3162, 10000}
    for patterns, rows in sphere[sphere["corruption"] == "clean"].groupby("patterns"):
        for criterion in kappa_theory.CRITERIA:
            critical = kappa_theory.critical_kappa("modern", "sphere", 64, int(patterns), criterion)
            assert rows["kappa"].min() < critical < rows["kappa"].max()
            assert (abs(rows["kappa"] / critical - 1) < 0.02).sum() > 100
    assert set(points["ensemble"]) == {"sphere", "gaussian", "spins", "digits", "photographs"}
    assert {"modern", "sparse:1.5", "sparse:2", "epanechnikov", "dense:3"} <= set(points["memory"])


def test_a_full_scan_has_the_options_of_a_scan_and_no_null_where_smoke_scale_has_none():
    full = {field.name: field for field in dataclasses.fields(FullScan)}
    smoke = {field.name: field.metadata["smoke"] for field in dataclasses.fields(Scan)}
    assert list(full) == list(smoke)
    null = {name for name, field in full.items() if "None" in str(field.type)}
    assert null == {name for name, value in smoke.items() if value is None}
    (scan,) = scans(Config())
    assert {name: getattr(scan, name) for name in smoke} == smoke
