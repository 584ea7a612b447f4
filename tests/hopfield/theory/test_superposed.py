"""Signs of superposed features: limits that are the classical network's, and an energy that is stationary there."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.scipy.special import erf
from scipy.optimize import root

from hopfield.theory import classical, superposed

KAPPA = 2 / np.pi
_nodes, _weights = np.polynomial.legendre.leggauss(80)
NODES = 4.5 * (_nodes + 1)  # of |u|
WEIGHTS = 4.5 * _weights * np.sqrt(2 / np.pi) * np.exp(-(NODES**2) / 2)


def _energy(unknowns, load, ratio, *, stored):
    """Energy of a neuron at T = 0, replica symmetric, of q = 1, C, w, m and the overlaps p of states in all features.

    −βf = −(α/2) ln det(1 − β[κ²(p + w²/δ) + (1−κ²)q]) − (δ/2)[tr tp + ln det(1 − tq)] − … as matrices of replicas,
    each a constant off the diagonal and of an order of β less besides on it.
    """
    w, field, c, p, cp, t, t0, r, m = unknowns
    others = KAPPA * (p + w**2 / ratio) + 1 - KAPPA
    energy = -load / 2 * others / (1 - KAPPA * cp - (1 - KAPPA) * c)
    energy += ratio / 2 * (t * p + t0 * cp) - ratio / 2 * (t + t0 * c) / (1 - t * c)
    mean = m + field * NODES if stored else field * jnp.ones(1)
    size = mean * erf(mean / jnp.sqrt(2 * r)) + jnp.sqrt(2 * r / jnp.pi) * jnp.exp(-(mean**2) / (2 * r))
    return energy + r * c / 2 + field * w + m**2 / 2 - (WEIGHTS @ size if stored else size[0])


def _overlap(start, load, ratio, *, stored):
    slopes = jax.jit(jax.grad(lambda unknowns: _energy(unknowns, load, ratio, stored=stored)))
    found = root(slopes, np.array(start), tol=1e-11)
    assert found.success
    return found.x[8] if stored else found.x[0]


def test_states_are_stationary_points_of_the_energy_before_anything_is_eliminated():
    kept = _overlap([0.99, 22, 0.01, 1.1, 0.01, 22, 60, 40, 0.0], 1.2, 0.05, stored=False)
    assert kept == pytest.approx(superposed.feature_overlap(1.2, 0.05), abs=1e-8)
    kept = _overlap([0.797, 0.06, 0.01, 1.0, 0.01, 0.08, 0.1, 0.08, 0.998], 0.06, 0.5, stored=True)
    assert kept == pytest.approx(superposed.pattern_overlap(0.06, 0.5), abs=1e-8)


def test_features_of_many_patterns_are_a_classical_network_of_that_load():
    ratio = np.array([1e-3, 0.01, 0.1, 0.137])
    kept = superposed.feature_overlap(1e7, ratio)
    np.testing.assert_allclose(kept, classical.retrieval_overlap(ratio), rtol=1e-5)
    end = classical.spinodal().load
    near = superposed.learning_load(np.array([0.999, 0.99999, 1.001, 2]) * end)
    assert 1e2 < near[0] < near[1] / 50
    assert np.isnan(near[2:]).all()


def test_patterns_of_many_features_are_independent():
    load = np.array([1e-3, 0.05, 0.1, 0.137, 0.139])
    assert superposed.storage_load(1e7) == pytest.approx(classical.spinodal().load, rel=1e-6)
    kept = superposed.pattern_overlap(load, 1e7)
    np.testing.assert_allclose(kept, classical.retrieval_overlap(load), rtol=1e-5)
    assert np.isnan(kept[-1])


def test_noise_on_a_feature_is_counted_by_hand_where_it_moves_nothing():
    """Its square is δ + (π/2) δ/α + (π²/4) δ²/α: other features, their coefficients, the rest of the patterns."""
    load, ratio = 0.5, 0.01
    noise = ratio + np.pi / 2 * ratio / load + (np.pi * ratio / 2) ** 2 / load
    wrong = (1 - superposed.feature_overlap(load, ratio)) / 2
    assert wrong == pytest.approx(float(1 - erf(1 / np.sqrt(2 * noise))) / 2, rel=0.02)


def test_a_state_ends_where_its_line_does():
    ratio = np.array([0.01, 0.05, 0.12])
    begun, held = superposed.learning_load(ratio), superposed.storage_load(ratio)
    assert np.isfinite(superposed.feature_overlap(begun * 1.0001, ratio)).all()
    assert np.isnan(superposed.feature_overlap(begun * 0.9999, ratio)).all()
    assert np.isfinite(superposed.pattern_overlap(held * 0.9999, ratio)).all()
    assert np.isnan(superposed.pattern_overlap(held * 1.0001, ratio)).all()
