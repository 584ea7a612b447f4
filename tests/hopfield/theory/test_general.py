"""Theory from the separation alone against the published theories, found independently, and against simulation."""

import itertools

import numpy as np
import pytest
from scipy.stats import binom

from hopfield.theory import annealed, dense, exponential, general, novelty, spherical

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


def test_a_tie_keeps_the_spin():
    """N = 2, M = 2, Hebb: field on a spin is ±1 ± 1; the tie of half of all draws keeps it, right or flipped."""
    hebb = lambda s: s**2
    assert general.one_step_error(2, 2, hebb, 0) == pytest.approx(0.0, abs=1e-15)
    assert general.one_step_error(2, 1, hebb, 2) == pytest.approx(1.0, abs=1e-15)


def test_a_separation_without_signal_at_the_start_is_at_chance():
    """max(s, 0)³ of a state opposite to its pattern: no rise from the pattern, and noise of either sign."""
    found = general.one_step_error(31, 101, lambda s: np.maximum(s, 0.0) ** 3, 31)
    assert found == pytest.approx(0.5, abs=0.01)


@pytest.mark.parametrize("flipped", [0, 1])
@pytest.mark.parametrize(("degree", "neurons", "patterns"), [(2, 4, 3), (2, 7, 4), (2, 8, 4), (3, 9, 3), (4, 6, 3)])
def test_a_tie_of_weights_is_no_more_than_half(degree, neurons, patterns, flipped):
    """By enumeration of all overlaps of the others, whose weights are whole numbers."""
    sizes = np.abs(2 * np.arange(neurons + 1) - neurons) ** (degree - 1)
    chances = binom.pmf(np.arange(neurons + 1), neurons, 0.5)
    exact = sum(
        np.prod(chances[list(others)])
        for others in itertools.product(range(neurons + 1), repeat=patterns - 1)
        if sizes[list(others)].sum() < (neurons - 2 * flipped) ** (degree - 1)
    )
    with np.errstate(divide="ignore"):
        found = general.weight_probability(neurons, patterns, lambda t: (degree - 1) * np.log(np.abs(t)), flipped)
    assert found == pytest.approx(exact, abs=1e-12)


def test_one_pattern_alone_has_all_the_weight():
    assert general.weight_probability(10, 1, lambda s: s, 0) == 1.0
    assert float(annealed.target_weight(10, 1, lambda t, m: t)) == 1.0


def test_little_is_left_over_at_any_kappa():
    assert 0.0 <= novelty.leftover(5, 9, 1000.0, 0.9) < 1e-300
