"""Attractors of a network from a file: its two patterns, and an asymmetric one that never rests."""

from typing import Any

import numpy as np
import pandas
import pytest

from experiments.attractors.experiment import Config, check, measure, panels, points, summarise
from experiments.contract import Summary
from tests.experiments.estimates import rows

PATTERNS = np.sign(np.random.default_rng(1).normal(size=(2, 14)))


def given(summary: Summary, quantity: str) -> float:
    """A number of the network itself, not of its shuffled copies."""
    (row,) = (row for row in rows(summary, quantity) if "network" not in row)
    return row["value"]


@pytest.mark.slow
def test_a_network_of_two_patterns_ends_in_them_and_the_fixed_points_are_counted(tmp_path):
    """N = 14: all 16384 states are looked at. At N ξ·ξ' small both patterns and their reverses are fixed points."""
    np.save(tmp_path / "w.npy", PATTERNS.T @ PATTERNS / 14)
    np.savetxt(tmp_path / "s.csv", PATTERNS, delimiter=",")
    config = Config(couplings=str(tmp_path / "w.npy"), states=str(tmp_path / "s.csv"), starts=60, nulls=2)
    check(config)
    table: Any = pandas.DataFrame(measure(config, points(config)))
    summary = summarise(table)
    assert [given(summary, name) for name in ("attractors", "exist")] == [4, 4]
    assert summary.of("largest overlap")["value"].tolist() == [1.0, 1.0]
    cold = table[(table["temperature"] == 0) & (table["null"] == 0)]
    ends = PATTERNS[cold["nearest"]] * np.sign(cold["overlap"]).to_numpy()[:, None]
    exact = -0.5 * np.einsum("ai,ij,aj->a", ends, PATTERNS.T @ PATTERNS / 14 - np.eye(14) / 7, ends) / 14
    np.testing.assert_allclose(cold["energy"], exact, rtol=1e-5)
    assert (cold["energy"] >= cold["bound"] - 1e-6).all()
    assert len(panels(table, summary)) == 4


def test_a_cycle_of_three_spins_has_no_energy_and_no_rest(tmp_path):
    """Each spin copies, the last against, the one before it: no state satisfies all three."""
    np.save(tmp_path / "w.npy", np.array([[0, 0, -1.0], [1, 0, 0], [0, 1, 0]]))
    config = Config(couplings=str(tmp_path / "w.npy"), starts=10, nulls=2)
    table: Any = pandas.DataFrame(measure(config, points(config)))
    assert table[table["null"] == 0]["energy"].isna().all()
    summary = summarise(table)
    assert [given(summary, name) for name in ("attractors", "exist")] == [0, 0]
    assert given(summary, "unsettled") == 1
    panels(table, summary)
