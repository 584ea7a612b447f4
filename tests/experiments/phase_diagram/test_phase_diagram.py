"""Phase diagrams: overlaps and lines against theory, exact resume of a refined map, summary, figures, mistakes."""

import numpy as np
import pandas
import pytest

from experiments.phase_diagram import diagrams, measurement
from experiments.phase_diagram import experiment as phase_diagram
from experiments.phase_diagram.config import Classical, Config, Curves
from experiments.shared import grids
from hopfield.theory import spherical
from tests.experiments.phase_diagram.tables import rows_of


@pytest.fixture(scope="module")
def curve() -> list[dict]:
    """Overlaps of 300 spins at α = 0.02 from cold to beyond the line, and the line itself."""
    curves = Curves(
        loads=[0.02],
        neurons=[300],
        samples=[10],
        temperatures=[0.2, 0.35, 0.5, 0.7, 0.9],
        levels=2,
        queries=4,
        burn_in=[40],
        sweeps=[60],
    )
    return rows_of(Config(memories=["classical"], classical=Classical(neurons=20, cells=[1, 1]), curves=curves))


@pytest.mark.physics
def test_overlap_and_self_overlap_far_below_the_line_are_those_of_the_replica_theory(curve):
    summary = phase_diagram.summarise(pandas.DataFrame(curve))
    told = ("overlap", "self-overlap", "share of queries that retrieve")
    cold = {name: rows[rows["temperature"] <= 0.5] for name in told if len(rows := summary.of(name))}
    assert [len(rows) for rows in cold.values()] == [3, 3, 3]
    assert (cold["share of queries that retrieve"]["value"] == 1).all()
    for name in ("overlap", "self-overlap"):
        error = (cold[name]["value"] - cold[name]["limit"]).abs()
        assert (error < 3 * cold[name]["stderr"] + 0.003).all(), name
    assert cold["overlap"]["stderr"].between(0, 0.015, inclusive="neither").all()
    assert cold["overlap"]["limit"].iloc[0] - cold["overlap"]["limit"].iloc[2] > 0.05


@pytest.mark.physics
def test_temperatures_are_added_where_retrieval_is_lost_and_only_there(curve):
    table = pandas.DataFrame(curve)
    table = table[table["study"] == "curve"]
    added = sorted(table.loc[table["level"] > 0, "temperature"].unique())
    assert added
    assert set(np.round(added, 4)) <= {0.55, 0.6, 0.65, 0.75, 0.8, 0.85}
    assert {0.65, 0.75} < set(np.round(added, 4))


def run(kind: diagrams.Program, patterns, samples, temperatures) -> dict[str, list]:
    """One call of seed 0, its lists [S][T]."""
    draw = {"num_patterns": np.uint32(patterns), "sample": np.uint32(samples)}
    return grids.run_program(measurement.one, kind, 0, None, draw, {"temperature": np.float32(temperatures)})


@pytest.mark.slow
@pytest.mark.parametrize("load", [0.3, 0.5])
def test_modern_states_change_at_the_finite_size_threshold(load):
    """Far on either side of the converged line of theory all end in retrieval, or none does."""
    neurons = 14
    patterns = round(np.exp(load * neurons))
    line = float(spherical.critical_beta(neurons, patterns, "converged_weight")) / neurons
    kind = diagrams.Program("modern", neurons, 1100, 6, 4, 0, 0, 500)  # one program for both loads
    temperatures = 1 / (line * np.array([0.5, 0.8, 1.25, 2.0]))
    found = run(kind, [patterns] * 2, [0, 1], [temperatures] * 2)
    retrieved = np.array(found["retrieval"])
    assert np.all(retrieved[:, :2] == 0)
    assert np.all(retrieved[:, 2:] == 6)
    assert np.all(np.array(found["disorder"])[:, 0] == 6)
    overlap = np.mean(np.array(found["overlap"])[:, 3])
    assert overlap == pytest.approx(spherical.converged(neurons, patterns, 2 * line * neurons).overlap, abs=0.01)


def test_spins_far_above_all_lines_are_a_paramagnet_and_cold_ones_beyond_capacity_a_glass():
    kind = diagrams.Program("classical", 200, 80, 2, 4, 40, 100, 0)
    found = run(kind, [2, 80], [0, 0], [[0.1, 0.5, 2.5, 4.0]] * 2)
    assert [counts[2:] for counts in found["disorder"]] == [[2, 2], [2, 2]]
    assert found["retrieval"][0][:2] == [2, 2]
    assert found["mixture"][1][:2] == [2, 2]
