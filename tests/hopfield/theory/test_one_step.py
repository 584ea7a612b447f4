"""One step of symmetry breaking: its published capacity, and a saddle point of its free energy."""

import numpy as np
import pytest

from hopfield.theory import classical, one_step


def test_the_capacity_is_the_published_one():
    """0.138186 (Steffan & Kühn 1994; Stojnic 2024), a little above the replica-symmetric 0.137906."""
    found = one_step.spinodal()
    assert found.load == pytest.approx(0.138186, abs=1e-6)
    assert found.overlap == pytest.approx(classical.spinodal().overlap, abs=2e-3)
    assert 0.99 < found.q0 < 1


def test_its_state_is_stationary():
    found = one_step.spinodal()
    near = one_step._START.copy()
    near[[0, 2, 3]] = np.log([1 - found.q0, found.mu, found.load])
    solved = one_step.root(one_step._slopes, near, args=(found.overlap,), tol=1e-12)
    assert np.max(np.abs(solved.fun)) < 1e-8
    assert np.exp(solved.x[3]) == pytest.approx(found.load, rel=1e-8)


def test_its_energy_is_that_of_replica_symmetry_but_for_a_hundred_thousandth():
    """Broken states are the higher ones, and the slope of E in α equals f's at fixed m, q₀, C and μ."""
    found = one_step.spinodal()
    unknowns = np.array([np.log(1 - found.q0), one_step._START[1], np.log(found.mu), np.log(found.load)])
    states = []
    for overlap in (0.975, 0.975 + 1e-4):
        unknowns = one_step.root(one_step._slopes, unknowns, args=(overlap,), tol=1e-12).x
        states.append((np.exp(unknowns[3]), one_step._energy(unknowns, overlap)))
    (load, energy), (near, other) = states
    assert 0 < energy - classical.replica(load).free_energy < 2e-5
    moved = unknowns + np.array([0, 0, 0, np.log(load / near)])
    assert one_step._energy(moved, overlap) - other == pytest.approx(energy - other, rel=1e-2)
    assert found.energy == pytest.approx(-0.501466, abs=2e-6)
