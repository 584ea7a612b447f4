"""Points, rows and summaries of the capacity experiment; no simulation is needed for them."""

import json

import numpy as np
import pandas
import pytest

from experiments.capacity import experiment as capacity
from experiments.capacity.config import Config, Scale
from experiments.shared import retention
from experiments.system import files
from tests.experiments.capacity.tables import invented_table
from tests.experiments.estimates import rows


def test_points_come_in_the_order_of_the_options_and_of_the_number_of_patterns():
    config = Config(
        memories=["storkey", "classical"],
        neurons=[30, 10],
        loads=[0.5, 0.1],
        samples=2,
        dynamics=["synchronous", "asynchronous"],
        corruption=["mask:0.5", 0.1],
    )
    keys = ["memory", "dynamics", "neurons", "corruption", "patterns", "sample"]
    assert [tuple(point[key] for key in keys) for point in capacity.points(config)] == [
        (memory, dynamics, neurons, corruption, patterns, sample)
        for memory in ("storkey", "classical")
        for dynamics in ("synchronous", "asynchronous")
        for neurons in (30, 10)
        for corruption in ("mask:0.5", "flip:0.1")
        for patterns in (neurons // 10, neurons // 2)
        for sample in (0, 1)
    ]


LOADS = [0.08, 0.11, 0.13, 0.15, 0.17, 0.19, 0.22]


def test_a_summary_has_the_entries_of_the_contract_at_the_right_place():
    table = invented_table(memories=["classical"], neurons=[50, 100, 200, 400], loads=LOADS, samples=40, queries=8)
    summary = capacity.summarise(table)
    halves = [entry for entry in rows(summary, "critical load") if entry["criterion"] != "one_step_error"]
    assert len(halves) == 28
    for entry in halves:
        assert {"memory", "dynamics", "corruption", "neurons", "criterion"} <= set(entry)
        assert entry["criterion"] in (*retention.CUTS, "fixed_point", "exact", "target_weight", "converged_weight")
        assert 0 < entry["stderr"] < 0.003
        assert abs(entry["value"] - 0.15 * (1 + 1 / entry["neurons"])) < 4 * entry["stderr"]
    # Only what is retained has a limit that it nears as a power of N.
    assert {entry["criterion"] for entry in summary.more["extrapolation"]} == set(retention.CUTS)
    assert len(summary.more["extrapolation"]) == 15
    for entry in summary.more["extrapolation"]:
        keys = {"memory", "dynamics", "criterion", "exponent", "free_exponent", "load", "stderr", "chi2", "dof"}
        assert keys <= set(entry)
        assert entry["dof"] == (1 if entry["free_exponent"] else 2)
    exponents = [fit["exponent"] for fit in summary.more["extrapolation"] if not fit["free_exponent"]]
    np.testing.assert_allclose(exponents, [1 / 3, 1 / 2, 2 / 3, 1] * 3)
    (limit,) = (fit for fit in summary.more["extrapolation"] if fit["exponent"] == 1 and fit["criterion"] == "retained")
    assert abs(limit["load"] - 0.15) < 4 * limit["stderr"]
    told = [entry for entry in halves if entry["headline"]]
    assert {entry["criterion"] for entry in told} == set(retention.CUTS)
    json.dumps(json.loads(files.encode(summary.json())))


@pytest.mark.parametrize(
    "options",
    [{"half": 0.01}, {"half": 5.0}, {"loads": [0.15]}, {"samples": 1, "half": 0.01}],
    ids=["none succeed", "all succeed", "one load", "one sample"],
)
def test_a_curve_that_does_not_cross_has_no_critical_load(options):
    table = invented_table(**({"memories": ["classical"], "loads": LOADS, "samples": 8, "width": 0.05} | options))
    summary = capacity.summarise(table)
    assert {entry["criterion"] for entry in rows(summary, "critical load")} <= {"one_step_error"}
    assert summary.more["extrapolation"] == []


def test_theory_stands_beside_every_threshold_with_its_kind():
    table = invented_table(
        memories=["classical", "dense:3", "exponential", "modern"],
        per_memory={
            "classical": Scale(neurons=[50], loads=LOADS),
            "dense:3": Scale(neurons=[20], loads=[0.05, 0.07, 0.09, 0.11, 0.13]),
            "exponential": Scale(neurons=[12], loads=[0.4, 0.5, 0.54, 0.58, 0.62, 0.7]),
            "modern": Scale(neurons=[16], loads=[0.4, 0.5, 0.54, 0.58, 0.62, 0.7]),
        },
        samples=20,
    )
    found = {(e["memory"], e["criterion"]): e for e in rows(capacity.summarise(table), "critical load")}
    kinds = {key: found[key].get("kind") for key in found if key[1] in ("retained", "target_weight")}
    assert kinds[("classical", "retained")] == "replica symmetric"
    assert kinds[("dense:3", "retained")] == "uncorrelated steps"
    assert kinds[("exponential", "target_weight")] == "exact", "at that N, its shares of success are"
    assert kinds[("modern", "target_weight")] == "annealed"
    assert found["exponential", "target_weight"]["theory"] == pytest.approx(0.580169, abs=1e-6)
    assert found["exponential", "target_weight"]["limit"] == pytest.approx(0.566219, abs=1e-6)
    assert found["modern", "target_weight"]["theory"] == pytest.approx(0.617678, abs=1e-6)
    assert found["modern", "converged_weight"]["theory"] == pytest.approx(0.526967, abs=1e-6)
    # Where overlaps spread, the cut decides: the limit at 0.9 lies below the spinodal, whose overlap is 0.838.
    assert found["dense:3", "retained"]["limit"] == pytest.approx(0.084063, abs=1e-6)
    assert found["dense:3", "retained_0.9"]["limit"] == pytest.approx(0.080834, abs=1e-6)


@pytest.mark.slow
def test_the_error_of_the_one_step_threshold_is_the_scatter_of_equal_runs():
    """Draws are independent at every load, and an error belongs to the mean over them, be they as few as two."""
    generator = np.random.default_rng(0)
    points = [
        {"memory": "classical", "dynamics": "synchronous", "corruption": "flip:0.1", "ensemble": "random"}
        | {"neurons": 1000, "patterns": patterns, "load": patterns / 1000, "sample": sample}
        | {"queries": 4, "beta": None, "max_steps": 100}
        for patterns in range(141, 191, 6)
        for sample in range(2)
    ]
    table = pandas.DataFrame(points)
    found = []
    for _ in range(100):
        wrong = 0.005 * np.exp(40 * (table["load"] - 0.165)) * (1 + 0.15 * generator.normal(size=len(table)))
        (entry,) = rows(capacity.summarise(table.assign(one_step_error=wrong)), "critical load")
        found.append((entry["value"], entry["stderr"]))
    loads, errors = np.transpose(found)
    assert np.mean(np.abs(loads - 0.165) < errors) == pytest.approx(0.683, abs=0.14)  # 100 repetitions leave ±0.047
