"""Retrieval against β: measurements against theory and against numpy, summary, figures."""

import json

import jax
import numpy as np
import pandas
import pytest

from experiments.retrieval import experiment as retrieval
from experiments.retrieval.config import Config, Scan
from experiments.shared import grids, kappa_theory, retrievals
from experiments.system import files
from tests.experiments.estimates import rows as rows_of

AROUND = [0.98, 0.99, 1.0, 1.01, 1.02, 1.05]


def measured(**options) -> pandas.DataFrame:
    config = Config(**options)
    rows = list(retrieval.measure(config, retrieval.points(config)))
    return pandas.DataFrame(json.loads(files.encode(rows)))


@pytest.fixture(scope="module")
def sphere() -> pandas.DataFrame:
    """Two loads on the sphere of 64 dimensions, around both critical β."""
    return measured(patterns=[300, 500], kappas=[2.0], around=AROUND, samples=10, queries=16)


@pytest.fixture(scope="module")
def mixed() -> pandas.DataFrame:
    """Something of every kind: memories without β, spins, images, corrupted starts."""
    few = {"samples": 6, "queries": 8, "patterns": [40], "ensembles": ["spins"]}
    return measured(
        part={
            "starts": Scan(corruption=[0, "mask:0.5"], around=[0.9, 0.95, 1.0, 1.05, 1.1, 1.3, 1.5, 1.8], **few),
            "memories": Scan(memories=["exponential", "sparse", "epanechnikov", "dense:4"], **few),
            "images": Scan(**few | {"ensembles": ["digits"], "patterns": [200]}),
        }
    )


@pytest.mark.physics
@pytest.mark.parametrize("criterion", kappa_theory.CRITERIA)
def test_critical_kappa_on_the_sphere_is_that_of_finite_size_theory(sphere, criterion):
    entries = rows_of(retrieval.summarise(sphere), "critical κ", criterion=criterion)
    assert [entry["patterns"] for entry in entries] == [300, 500]
    for entry in entries:
        assert entry["value"] == pytest.approx(entry["theory"], rel=0.01)
        assert 0 < entry["stderr"] < 0.005 * entry["value"]


@pytest.mark.physics
def test_states_just_above_the_converged_line_are_those_of_theory(sphere):
    for name, tolerance in (("overlap", 0.005), ("entropy", 0.02)):
        above = [e for e in rows_of(retrieval.summarise(sphere), f"{name} of successes") if e["ratio"] > 1.04]
        assert {entry["patterns"] for entry in above} == {300, 500}
        for entry in above:
            assert entry["success"] == pytest.approx(1, abs=0.01)
            assert entry["value"] == pytest.approx(entry["theory"], abs=tolerance)


@pytest.mark.physics
def test_hot_queries_end_in_the_average_of_all_patterns(sphere):
    hot = sphere[sphere["kappa"] == 2.0]
    assert (hot["success"] == 0).all()
    np.testing.assert_allclose(hot["entropy"], np.log(hot["patterns"]), atol=0.01)
    np.testing.assert_allclose(hot["target_weight"], 1 / hot["patterns"], rtol=0.1)


@pytest.mark.physics
def test_updates_slow_down_at_the_converged_line_and_all_come_to_rest(sphere):
    steps = sphere[sphere["patterns"] == 500].groupby("kappa")["steps"].mean()
    critical = kappa_theory.critical_kappa("modern", "sphere", 64, 500, "converged_weight")
    assert steps.idxmax() == pytest.approx(critical, rel=0.011)
    assert steps.max() > 2.5 * steps[2.0]
    assert (sphere["step_limit"] == 0).all()


@pytest.mark.physics
def test_other_random_ensembles_have_the_critical_kappa_of_theirs(mixed):
    options = {"patterns": [300], "kappas": [], "around": [0.7, 0.9, 1.0, 1.1, 1.3], "samples": 16, "queries": 16}
    gaussian = rows_of(retrieval.summarise(measured(ensembles=["gaussian"], **options)), "critical κ")
    spins = rows_of(retrieval.summarise(mixed), "critical κ", ensemble="spins", corruption="clean")
    spins = [entry for entry in spins if np.isfinite(entry["theory"])]
    assert {(entry["memory"], entry["criterion"]) for entry in spins} == {
        ("modern", "target_weight"),
        ("modern", "first_weight"),
        ("modern", "converged_weight"),
        ("exponential", "target_weight"),
    }
    for entry in [*gaussian, *spins]:
        assert abs(entry["value"] - entry["theory"]) < 3 * entry["stderr"] + 0.01 * entry["theory"]
        assert entry["stderr"] < 0.03 * entry["theory"]


@pytest.mark.slow
def test_row_agrees_with_the_equations_in_numpy():
    """x' = Xᵀ softmax(β X x) for the same patterns and starts, iterated in numpy."""
    captured = {}
    original = retrievals._query

    def query(program, memory, index, start):
        jax.debug.callback(lambda x, s, i: captured.setdefault(int(i), (x, s)), memory.patterns, start, index)
        return original(program, memory, index, start)

    options = {"patterns": [20], "kappas": [6.0], "around": [], "samples": 1, "queries": 3, "corruption": ["mask:0.5"]}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(retrievals, "_query", query)
        grids._compiled.cache_clear()
        row = measured(**options).iloc[0]
        jax.effects_barrier()
    grids._compiled.cache_clear()
    weights, overlaps, entropies, starts, firsts = [], [], [], [], []
    for index, (patterns, x) in captured.items():
        xi = np.asarray(patterns, float)[:20]
        np.testing.assert_allclose(np.linalg.norm(xi, axis=1), 1, rtol=1e-6)
        for step in range(2000):
            p = np.exp(6.0 * (xi @ x - 1))
            p /= p.sum()
            starts += [p[index]] if step == 0 else []
            firsts += [p[index]] if step == 1 else []
            x = p @ xi
        weights.append(p[index])
        overlaps.append(x @ xi[index])
        entropies.append(-np.sum(p * np.log(p)))
    assert len(captured) == 3
    assert row["start_weight"] == pytest.approx(np.mean(starts), abs=1e-5)
    assert row["first_weight"] == pytest.approx(np.mean(firsts), abs=1e-5)
    assert row["target_weight"] == pytest.approx(np.mean(weights), abs=1e-4)
    assert row["overlap"] == pytest.approx(np.mean(overlaps), abs=1e-4)
    assert row["entropy"] == pytest.approx(np.mean(entropies), abs=1e-3)
    assert row["success"] == np.sum(np.array(weights) > 0.5)


@pytest.mark.physics
def test_memories_of_compact_support_retrieve_exactly_once_the_others_are_outside(mixed):
    # On 64 spins 40 patterns overlap less than 0.6: beyond β = 2/(2·0.4) Epanechnikov's ball holds the pattern alone.
    alone = mixed[(mixed["memory"] == "epanechnikov") & (mixed["kappa"] > 2.5)]
    assert len(alone)
    np.testing.assert_allclose(alone[["overlap", "target_weight"]], 1, rtol=1e-6)
    np.testing.assert_allclose(alone["entropy"], 0, atol=1e-6)
