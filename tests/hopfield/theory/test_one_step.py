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
