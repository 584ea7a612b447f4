"""Summary and figure of a comparison of optimisers, from tables worked by hand."""

import json
import math

import pandas
import pytest

from experiments.optimisers import experiment
from tests.experiments.estimates import value


def invented(**changes: list) -> pandas.DataFrame:
    """Three problems; steps and seconds of each rule to the target by hand, None for a miss."""
    rows = []
    by_rule = {"sgd": [300, 400, 500], "adam": [100, 220, 300], "lbfgs": [40, 50, 90], "cg": [10, 11, 10]} | changes
    for rule, steps in by_rule.items():
        for sample, count in enumerate(steps):
            curve = {"step": [0, 1, 1000], "seconds": [0.0, 0.001, 1.0], "loss": [1.1, 1.0, 0.1 + 1e-3]}
            row = {"batch": "full", "conditioning": 100.0, "rule": rule, "sample": sample, "curve": json.dumps(curve)}
            row |= {"steps": count, "steps_done": 1000, "step_seconds": 1e-3 if rule != "cg" else 2e-2}
            row |= {"seconds": None if count is None else count * row["step_seconds"], "optimum": 0.1, "target": 0.11}
            names = ("held_loss", "held_accuracy", "held_best", "iterations", "accepted", "residual", "last_damping")
            row |= dict.fromkeys((*names, "rate", "friction", "damping", "curvature", "memory"), 0.5)
            row |= {"diverged": False, "search_trials": 4, "search_trials_diverged": 0}
            row |= {"edge": "", "product_ratio": 1.5 if rule == "cg" else None, "product_low": 1.4, "product_high": 1.6}
            rows.append(row)
    return pandas.DataFrame(rows)


def test_ratios_are_medians_over_problems_of_the_best_rival() -> None:
    found = experiment.summarise(invented())
    steps, seconds = found.more["comparisons"]
    # Adam's median is 220 < 400; ratios 10, 20, 30. L-BFGS 4, 50/11, 9.
    assert (steps["natural"], steps["first_order"], steps["winner"]) == ("cg", "adam", "cg")
    assert steps["first_order_ratio"] == pytest.approx(20.0)
    assert (steps["first_order_low"], steps["first_order_high"]) == (10.0, 30.0)
    assert steps["quasi_newton_ratio"] == pytest.approx(50 / 11)
    assert not steps["first_order_bound"]
    # A step of cg takes 20 times as long: 0.2 s against 0.22 s of Adam and 0.05 s of L-BFGS.
    assert seconds["first_order_ratio"] == pytest.approx(1.0)
    assert (seconds["winner"], seconds["quasi_newton_ratio"]) == ("lbfgs", pytest.approx(0.05 / 0.22))
    assert value(found, "steps ratio", batch="full", rival="first-order") == pytest.approx(20.0)
    assert value(found, "winner in seconds", batch="full") == "lbfgs"
    assert found.more["product"] == {"median": 1.5, "low": 1.4, "high": 1.6, "measurements": 3}


def diverged(table: pandas.DataFrame, rule: str, samples: list[int]) -> pandas.DataFrame:
    """The table with runs of a rule whose loss ended infinite, and all trials of its search."""
    lost = (table["rule"] == rule) & table["sample"].isin(samples)
    curve = {"step": [0, 1, 1000], "seconds": [0.0, 0.001, 1.0], "loss": [1.1, 0.2, None]}
    table.loc[lost, "curve"] = json.dumps(curve)
    table.loc[lost, "diverged"] = True
    table.loc[lost, ["steps", "seconds", "held_loss"]] = None
    table.loc[table["rule"] == rule, "search_trials_diverged"] = 4 if len(samples) == 3 else 1
    return table


def test_what_diverged_is_said_and_in_no_mean_or_median() -> None:
    found = experiment.summarise(diverged(invented(), "cg", [0, 1, 2]))
    entry = next(entry for entry in found.more["results"] if entry["rule"] == "cg")
    assert (entry["diverged"], entry["reached"], entry["search_trials_diverged"]) == (3, 0, 4)
    assert math.isnan(value(found, "held loss", rule="cg"))
    assert math.isnan(value(found, "excess then", rule="cg"))
    assert value(found, "diverged", rule="cg") == "3 of 3 problems, all 4 trials"
    assert [e["winner"] for e in found.more["comparisons"]] == ["lbfgs", "lbfgs"]
    found = experiment.summarise(diverged(invented(), "cg", [0]))
    assert value(found, "diverged", rule="cg") == "1 of 3 problems"
    assert math.isnan(value(found, "held loss", rule="cg"))
    assert experiment.summarise(invented()).of("diverged").empty
