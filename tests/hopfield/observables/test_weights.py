"""Entropies, divergences and information of weights, along any axis."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats

from hopfield.observables import thermodynamics as thermo
from tests.hopfield.contracts.parts import quick

RNG = np.random.default_rng(8)


def spreads(weights, mask=None, axis=-1):
    """Every function of weights, by name, along an axis."""
    options = {"axis": axis, "mask": mask}
    return {
        "entropy": thermo.entropy(weights, **options),
        "normalised_entropy": thermo.normalised_entropy(weights, **options),
        "effective_number": thermo.effective_number(weights, **options),
        "tsallis_entropy": thermo.tsallis_entropy(weights, 1.7, **options),
        "renyi_entropy": thermo.renyi_entropy(weights, 2.5, **options),
        "kl_divergence": thermo.kl_divergence(weights, jnp.ones_like(weights), **options),
    }


of_weights = quick(spreads, static_argnames="axis")


kl_divergence, mutual_information = quick(thermo.kl_divergence), quick(thermo.mutual_information)
renyi_entropy, tsallis_entropy = (
    quick(lambda w, alpha, f=f: f(w, alpha)) for f in (thermo.renyi_entropy, thermo.tsallis_entropy)
)


def test_entropies_of_uniform_weights():
    """K equal weights of M: H = H_α(Rényi) = ln K for every α, H/ln M, and Tsallis' (1 − K^(1−α)) / (α(α−1))."""
    weights = jnp.zeros(9).at[:5].set(0.2)
    spread = of_weights(weights)
    assert float(spread["entropy"]) == pytest.approx(np.log(5), rel=1e-15)
    assert float(spread["normalised_entropy"]) == pytest.approx(np.log(5) / np.log(9), rel=1e-15)
    assert float(spread["effective_number"]) == pytest.approx(5, rel=1e-14)
    assert float(of_weights(jnp.full(9, 1 / 9))["normalised_entropy"]) == pytest.approx(1.0, rel=1e-15)
    for alpha in (0.0, 0.3, 1 - 1e-9, 1.0, 1 + 1e-9, 2.0, 60.0, 1e9, np.inf):
        assert float(renyi_entropy(weights, alpha)) == pytest.approx(np.log(5), rel=1e-13)
    for alpha in (0.5, 1.5, 2.0, 4.0):
        expected = (1 - 5 ** (1 - alpha)) / (alpha * (alpha - 1))
        assert float(tsallis_entropy(weights, alpha)) == pytest.approx(expected, rel=1e-13)


def test_renyi_and_tsallis_entropies_in_closed_form():
    p = RNG.dirichlet(np.full(7, 0.4))
    p[3] = 0.0
    p /= p.sum()
    held = p[p > 0]
    alphas = np.array([0.0, 0.25, 0.9, 1.1, 2.0, 5.0, 40.0])
    renyi = np.array([float(renyi_entropy(p, a)) for a in alphas])
    np.testing.assert_allclose(renyi, np.log([np.sum(held**a) for a in alphas]) / (1 - alphas), rtol=1e-10)
    assert np.all(np.diff(renyi) < 0)
    assert float(renyi_entropy(p, np.inf)) == pytest.approx(-np.log(np.max(p)), rel=1e-14)
    for alpha in (1.0, 1 + 1e-12, 1 - 1e-12):
        for function in (renyi_entropy, tsallis_entropy):
            assert float(function(p, alpha)) == pytest.approx(scipy.stats.entropy(p), rel=1e-10)
    assert float(tsallis_entropy(p, 2.0)) == pytest.approx((1 - np.sum(p**2)) / 2, rel=1e-14)


def test_kl_divergence_of_rows():
    p, q = RNG.dirichlet(np.full(5, 0.5), size=(2, 4))
    expected = [[scipy.stats.entropy(a, b) for b in q] for a in p]
    np.testing.assert_allclose(kl_divergence(p[:, None], q[None]), expected, rtol=1e-12)
    np.testing.assert_array_equal(kl_divergence(p[:, None], p[:, None]), 0)
    pairs = kl_divergence(np.array([[0.5, 0.5], [1.0, 0.0]]), np.array([[1.0, 0.0], [0.5, 0.5]]))
    np.testing.assert_allclose(pairs, [np.inf, np.log(2)], rtol=1e-15)


def test_mutual_information_of_rows_and_patterns():
    """H of the mean row less the mean H of the rows; its ends, padded rows, priors and axes."""
    weights, prior = RNG.dirichlet(np.full(4, 0.6), size=5), RNG.dirichlet(np.ones(5))
    expected = scipy.stats.entropy(prior @ weights) - prior @ [scipy.stats.entropy(row) for row in weights]
    assert float(mutual_information(weights, prior)) == pytest.approx(expected, rel=1e-12)
    turned = quick(partial(thermo.mutual_information, axis=1, rows=2))(weights.T[None], prior[None])
    np.testing.assert_allclose(turned, [expected], rtol=1e-12)
    equal, ends = np.full(5, 0.2), np.stack([np.eye(5), np.full((5, 5), 0.2)])
    np.testing.assert_allclose(mutual_information(ends, equal), [np.log(5), 0], rtol=1e-14, atol=1e-15)
    padded = np.concatenate([weights, np.zeros((2, 4))])
    plain = mutual_information(weights, equal)
    information, gradient = quick(jax.value_and_grad(thermo.mutual_information))(padded)
    assert float(information) == pytest.approx(float(plain), rel=1e-13)
    assert bool(jnp.all(jnp.isfinite(gradient)))
