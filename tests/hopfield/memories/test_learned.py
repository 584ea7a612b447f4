"""Couplings learned up to Gardner's bound: perceptrons, symmetric ones, and couplings of largest stability."""

import jax
import numpy as np
import pytest
from scipy.optimize import linprog, nnls

from hopfield import memories, patterns
from hopfield.observables.stability import stabilities

N = 40


def learned(spec: str, num_patterns: int, *, seed: int = 0, neurons: int = N):
    stored = patterns.spins(jax.random.key(seed), num_patterns, neurons)
    network = memories.find(spec).build(stored)
    return stored, network, np.asarray(stabilities(network, stored))


def hard_margin(stored: np.ndarray, i: int) -> float:
    """Largest stability of spin i: 1/‖w‖ of the least w with ξ_i w·ξ ≥ 1, by non-negative least squares of its dual.

    The point of least norm in the convex hull of the examples is that w times κ² (Lawson & Hanson 1974, ch. 23).
    """
    examples = stored[:, i : i + 1] * np.delete(stored, i, axis=1)
    system = np.vstack([examples.T, np.ones(len(examples)) * 1e3])
    share = nnls(system, np.append(np.zeros(examples.shape[1]), 1e3), maxiter=10_000)[0]
    return float(np.linalg.norm(share @ examples / share.sum()))


def test_adatron_finds_the_support_vector_machine_of_every_spin():
    stored, _, gamma = learned("adatron", 30)
    expected = [hard_margin(np.asarray(stored, float), i) for i in range(5)]
    np.testing.assert_allclose(gamma.min(axis=0)[:5], expected, rtol=2e-3)


def test_adatron_agrees_with_scikit_learn():
    svm = pytest.importorskip("sklearn.svm")
    stored, _, gamma = learned("adatron", 24, seed=3)
    rows = np.asarray(stored, float)
    others = np.delete(rows, 0, axis=1)
    found = svm.LinearSVC(C=1e6, fit_intercept=False, loss="hinge", tol=1e-6, max_iter=10**7).fit(others, rows[:, 0])
    margin = (rows[:, 0] * (others @ found.coef_[0])).min() / np.linalg.norm(found.coef_)
    assert gamma.min(axis=0)[0] == pytest.approx(margin, rel=1e-2)


def test_no_rule_has_a_larger_stability_than_adatron():
    best = learned("adatron", 30)[2].min(axis=0)
    for spec in ("perceptron", "perceptron_symmetric", "perceptron:0.3", "projection"):
        assert np.all(learned(spec, 30)[2].min(axis=0) <= best * (1 + 1e-3)), spec


def test_symmetric_couplings_have_an_energy_and_asymmetric_ones_none():
    stored, network, _ = learned("perceptron_symmetric", 20)
    np.testing.assert_array_equal(network.matrix, network.matrix.T)
    assert np.isfinite(network.energy(stored[0]))
    assert np.isnan(learned("perceptron", 20)[1].energy(stored[0]))


def holdable(rows: np.ndarray) -> bool:
    """True if some couplings hold the first spin of all patterns: a linear programme has a solution."""
    sides = rows[:, :1] * rows[:, 1:]
    return linprog(np.zeros(sides.shape[1]), A_ub=-sides, b_ub=-np.ones(len(sides)), bounds=(None, None)).status == 0


def test_spins_are_held_where_they_can_be_and_nowhere_else():
    stored, _, gamma = learned("adatron", 32, neurons=17)
    rows, held = np.asarray(stored, float), gamma.min(axis=0) > 0
    assert 0 < held.sum() < 17
    assert [holdable(np.roll(rows, -i, axis=1)) for i in range(17)] == held.tolist()
