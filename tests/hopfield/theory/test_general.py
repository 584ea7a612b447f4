"""Theory from the separation alone against the published theories, found independently, and against simulation."""

import numpy as np
import pytest

from hopfield.theory import annealed, dense, exponential, general, spherical

RATE = lambda t: float(exponential.rate(t))
POWERS = {
    False: lambda degree: lambda s: s**degree,
    True: lambda degree: lambda s: np.maximum(s, 0.0) ** degree,
}


@pytest.mark.parametrize("rectified", [False, True])
@pytest.mark.parametrize(
    ("degree", "neurons", "patterns", "flipped"),
    [(2, 40, 9, 0), (2, 40, 8, 6), (3, 60, 300, 6), (4, 16, 61, 2), (4, 100, 5000, 10), (5, 40, 2000, 0)],
)
def test_one_step_error_is_that_of_dense_memories(rectified, degree, neurons, patterns, flipped):
    found = general.one_step_error(neurons, patterns, POWERS[rectified](degree), flipped)
    expected = dense.one_step_error(neurons, patterns, degree, flipped / neurons, rectified=rectified)
    assert found == pytest.approx(float(expected), abs=1e-12)


@pytest.mark.parametrize(
    ("neurons", "patterns", "beta", "flipped"), [(12, 300, 1.0, 0), (16, 2000, 0.5, 2), (20, 10**5, 0.3, 3)]
)
def test_errors_and_weights_are_those_of_the_exponential_memory(neurons, patterns, beta, flipped):
    log_weight = lambda s: beta * s
    arguments = neurons, patterns, beta, flipped / neurons
    error = general.one_step_error(neurons, patterns, lambda s: np.exp(beta * (s - neurons)), flipped)
    assert error == pytest.approx(float(exponential.one_step_error(*arguments)), abs=1e-12)
    share = general.weight_probability(neurons, patterns, log_weight, flipped)
    assert share == pytest.approx(float(exponential.target_weight_probability(*arguments)), abs=1e-12)
    load = np.log1p(np.exp(general.weight_patterns(neurons, log_weight, flipped))) / neurons
    assert load == pytest.approx(float(exponential.critical_load(neurons, beta, flipped / neurons)), abs=1e-9)


@pytest.mark.parametrize("corruption", [0.0, 0.05, 0.2])
@pytest.mark.parametrize("beta", [0.3, 1.0, 2.0])
def test_the_random_energy_load_has_both_phases_of_the_exponential_memory(beta, corruption):
    """At β = 2 and ρ = 0.2 the nearest pattern does the damage, at β = 0.3 the mean of all."""
    found = [general.random_energy_load(lambda t, k=k: k * beta * t, RATE, 1 - 2 * corruption) for k in (1, 2)]
    expected = exponential.target_weight_load(beta, corruption), exponential.one_step_load(beta, corruption)
    assert found == pytest.approx([float(load) for load in expected], abs=1e-9)


@pytest.mark.parametrize("ensemble", spherical.ENSEMBLES)
@pytest.mark.parametrize(("neurons", "patterns", "kappa"), [(16, 100, 8.0), (64, 1000, 20.0)])
def test_annealed_softmax_weights_are_the_published_ones(ensemble, neurons, patterns, kappa):
    log_weight = lambda t, m: kappa * m * t
    weight = annealed.target_weight(neurons, patterns, log_weight, ensemble)
    expected = spherical.target_weight(neurons, patterns, kappa, ensemble)
    assert float(weight) == pytest.approx(float(expected), abs=1e-12)
    found = annealed.converged(neurons, patterns, log_weight, ensemble)
    assert found[:2] == pytest.approx(spherical.converged(neurons, patterns, kappa, ensemble)[:2], abs=1e-9)
    if ensemble == "sphere":  # of Gaussian patterns the published entropy is that of the mean energy, not of shares
        entropy = spherical.converged(neurons, patterns, kappa, ensemble).entropy
        assert float(found.entropy) == pytest.approx(float(entropy), abs=1e-9)


@pytest.mark.parametrize("criterion", spherical.CRITERIA)
def test_annealed_critical_load_is_the_published_one(criterion):
    found = annealed.critical_load(64, lambda t, m: 64 * m * t, criterion)
    assert found == pytest.approx(float(spherical.critical_load(64, 64.0, criterion)), abs=1e-9)


@pytest.mark.parametrize("degree", [2, 3, 4, 5])
def test_signal_to_noise_finds_the_power_of_the_load_and_its_coefficient(degree):
    """a = (2n−3)!! M/N^(n−1)."""
    noise = lambda neurons: general.log_noise(neurons, lambda s: s**degree)
    assert general.load_power(noise) == degree - 1
    coefficient = general.limit(lambda neurons: float(np.exp(noise(neurons))) * float(neurons) ** (degree - 1))
    assert coefficient == pytest.approx(float(dense.noise(degree)), rel=1e-9)


def test_signal_to_noise_finds_an_exponential_load_and_admits_what_it_does_not_know():
    assert general.load_power(lambda n: general.log_noise(n, lambda s: np.exp(s - n))) == 0
    assert general.load_power(lambda n: -1.5 * np.log(n)) is None
