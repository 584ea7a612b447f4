"""Softmax memories: exponents against the random-energy model, sphere averages against quadrature and simulation."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import gammaln, iv, ive
from scipy.stats import chi2

from hopfield.theory import averages, spherical


def sphere_average(dimension: int, kappa: float, power: int = 0) -> float:
    """Mean of t^power e^(κ(t−1)) over the unit sphere, by adaptive quadrature in the polar angle."""

    def integrand(angle: float) -> float:
        return np.cos(angle) ** power * np.exp(kappa * (np.cos(angle) - 1)) * np.sin(angle) ** (dimension - 2)

    norm = quad(lambda angle: np.sin(angle) ** (dimension - 2), 0, np.pi, epsabs=0, epsrel=1e-12)[0]
    width = min(np.pi, 12 / np.sqrt(kappa + 1))
    parts = [quad(integrand, a, b, epsabs=0, epsrel=1e-12)[0] for a, b in ((0, width), (width, np.pi)) if a < b]
    return sum(parts) / norm


@pytest.mark.parametrize("kappa", [1e-3, 0.7, 5.0, 60.0, 400.0])
@pytest.mark.parametrize("dimension", [2, 3, 7, 24])
def test_one_step_weight_is_the_integral_over_the_sphere(dimension, kappa):
    expected = 1 / (1 + 999 * sphere_average(dimension, kappa))
    assert spherical.target_weight(dimension, 1000, kappa) == pytest.approx(expected, rel=1e-10)


@pytest.mark.parametrize("dimension", [3, 10, 64, 300])
def test_sphere_averages_are_bessel_functions(dimension):
    kappa, order = np.array([3.0, 20.0, 100.0, 600.0]), dimension / 2 - 1
    bessel = ive(order, kappa)
    usable = bessel > 1e-250
    gap = -(gammaln(dimension / 2) + order * np.log(2 / kappa[usable]) + np.log(bessel[usable]))
    average = averages.sphere(np.full(4, float(dimension)), kappa)
    np.testing.assert_allclose(average.gap[usable], gap, atol=1e-10)
    ratio = ive(order + 1, kappa[usable]) / bessel[usable]
    np.testing.assert_allclose(1 - average.miss[usable], ratio, atol=1e-12)
    slope = 1 - ratio**2 - (dimension - 1) * ratio / kappa[usable]
    np.testing.assert_allclose(average.variance[usable], slope, atol=1e-12)


def test_one_step_weight_of_the_three_dimensional_sphere_in_closed_form():
    kappa = np.array([0.5, 4.0, 30.0])  # E_3 = sinh(κ)/κ
    expected = 1 / (1 + 99 * np.sinh(kappa) / kappa * np.exp(-kappa))
    np.testing.assert_allclose(spherical.target_weight(3, 100, kappa), expected, rtol=1e-11)


@pytest.mark.parametrize(
    ("neurons", "patterns", "kappa"), [(20, 1000, 13.0), (3, 50, 80.0), (20, 1000, 6.0), (8, 1, 2.0)]
)
def test_converged_state_solves_its_equations(neurons, patterns, kappa):
    overlap, weight, entropy = spherical.converged(neurons, patterns, kappa)
    field = kappa * overlap
    order = neurons / 2 - 1
    mean_overlap = iv(order + 1, field) / iv(order, field)
    others = (patterns - 1) * sphere_average(neurons, field)
    assert weight == pytest.approx(1 / (1 + others), rel=1e-9)
    assert overlap == pytest.approx(weight + (1 - weight) * mean_overlap, rel=1e-9)
    # entropy of one weight p and of M − 1 weights (1−p)e^(κt)/Σ, whose mean exponent is κA
    rest = np.log(others) + field - field * mean_overlap if patterns > 1 else 0.0
    expected = -np.log(weight) * weight + (1 - weight) * (rest - np.log(1 - weight) if weight < 1 else 0.0)
    assert entropy == pytest.approx(expected, abs=1e-8)


@pytest.mark.physics
def test_predictions_match_a_simulation():
    rng = np.random.default_rng(2)
    neurons, patterns, kappa, probes = 20, 2000, 16.0, 300
    xi = rng.normal(size=(patterns, neurons))
    xi /= np.linalg.norm(xi, axis=1, keepdims=True)
    x = xi[:probes]
    for step in range(60):
        weights = np.exp(kappa * (x @ xi.T - 1))
        weights /= weights.sum(axis=1, keepdims=True)
        if step == 0:
            first = np.diag(weights[:, :probes])
        x = weights @ xi
    overlap = np.sum(x * xi[:probes], axis=1).mean()
    entropy = -np.sum(weights * np.log(weights), axis=1).mean()
    expected = spherical.converged(neurons, patterns, kappa)
    assert first.mean() == pytest.approx(spherical.target_weight(neurons, patterns, kappa), abs=4e-3)
    assert overlap == pytest.approx(expected.overlap, abs=5e-3)
    assert np.diag(weights[:, :probes]).mean() == pytest.approx(expected.target_weight, abs=8e-3)
    assert entropy == pytest.approx(expected.entropy, abs=0.03)


@pytest.mark.parametrize("neurons", [3, 10, 20, 64])
def test_critical_beta_separates_weights_below_and_above_one_half(neurons):
    patterns = np.array([3, 10, 100, 1000, 100_000])
    one_step = spherical.critical_beta(neurons, patterns)
    np.testing.assert_allclose(spherical.target_weight(neurons, patterns, one_step), 0.5, rtol=1e-9)
    converged = spherical.critical_beta(neurons, patterns, "converged_weight")
    assert np.all(converged > one_step)
    assert np.all(spherical.converged(neurons, patterns, converged * 1.0005).target_weight > 0.5)
    assert np.all(spherical.converged(neurons, patterns, converged * 0.9995).target_weight < 0.5)


@pytest.mark.parametrize("criterion", spherical.CRITERIA)
def test_critical_patterns_inverts_critical_beta(criterion):
    patterns = np.array([[3, 10, 100, 1000, 100_000]])
    neurons = np.array([[3], [10], [64]])
    beta = spherical.critical_beta(neurons, patterns, criterion)
    np.testing.assert_allclose(spherical.critical_patterns(neurons, beta, criterion) / patterns, 1, rtol=1e-9)


@pytest.mark.parametrize("ensemble", ["spins", "gaussian"])
def test_converged_state_of_independent_components_solves_its_equations(ensemble):
    kappa, norm = 13.0, chi2.median(64) / 64 if ensemble == "gaussian" else 1.0
    overlap, weight, entropy = spherical.converged(64, 1000, kappa, ensemble)
    field = kappa * overlap
    log_average = norm * field**2 / 128 if ensemble == "gaussian" else 64 * np.log(np.cosh(field / 64))
    mean_overlap = field / 64 if ensemble == "gaussian" else np.tanh(field / 64)
    assert weight == pytest.approx(1 / (1 + 999 * np.exp(log_average - norm * field)), rel=1e-9)
    assert overlap == pytest.approx(weight + (1 - weight) * mean_overlap, rel=1e-9)
    # one weight p and M − 1 weights (1−p) e^s/Σ with log of the sum ln(M−1) + ln E and mean exponent r κ A
    rest = np.log(999) + log_average - norm * field * mean_overlap
    expected = -weight * np.log(weight) + (1 - weight) * (rest - np.log(1 - weight))
    assert entropy == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize("ensemble", ["spins", "gaussian"])
def test_critical_beta_of_independent_components_separates_weights(ensemble):
    patterns = np.array([3, 10, 100, 1000, 100_000])
    one_step = spherical.critical_beta(64, patterns, ensemble=ensemble)
    np.testing.assert_allclose(spherical.target_weight(64, patterns, one_step, ensemble), 0.5, rtol=1e-9)
    converged = spherical.critical_beta(64, patterns, "converged_weight", ensemble)
    assert np.all(spherical.converged(64, patterns, converged * 1.0005, ensemble).target_weight > 0.5)
    assert np.all(spherical.converged(64, patterns, converged * 0.9995, ensemble).target_weight < 0.5)
