"""Retrieval at a temperature on the sphere: states beside a search for the least free energy, limits, one pattern."""

import numpy as np
import pytest
from scipy.special import ive, logsumexp

from hopfield.theory import thermal
from hopfield.theory.spherical import typical_load

M = np.linspace(-0.999999, 0.999999, 2_000_001)
E = {"lse": lambda m, b: -m, "lsr": lambda m, b: -1 - np.log(np.maximum(1 - b + b * m, 1e-300)) / b}


@pytest.mark.parametrize("temperature", [0.05, 0.5, 3.0])
@pytest.mark.parametrize("kernel", thermal.KERNELS)
def test_the_state_has_the_least_free_energy(kernel, temperature):
    free = E[kernel](M, 3.0) - 0.5 * temperature * np.log(1 - M**2)
    assert thermal.overlap(temperature, kernel, 3.0) == pytest.approx(M[np.argmin(free)], abs=1e-5)
    assert thermal.free_energy(temperature, kernel, 3.0) == pytest.approx(free.min(), abs=1e-9)


def test_half_is_the_load_at_zero_temperature():
    assert thermal.critical_load(0.0) == thermal.stable_load(0.0) == thermal.stable_load(0.0, 2.0) == 0.5
    b = np.array([0.25, 0.5, 1.0, 3.0])
    for ensemble in thermal.ENSEMBLES:
        known = typical_load(b, ensemble)
        np.testing.assert_allclose(thermal.stable_load(0.0, b, ensemble), known, rtol=1e-12)
        np.testing.assert_allclose(thermal.critical_load(0.0, b, ensemble), known, rtol=1e-12)
    assert thermal.support_load(1e9) == pytest.approx(0.5)
    hot = np.array([1e4, 1e7, 1e8, 1e100])  # up to terms of the order 1/T²
    np.testing.assert_allclose(thermal.critical_load(hot) * 8 * hot**2, 1.0, rtol=1e-7)
    assert thermal.critical_load(1 - 1e-12) == pytest.approx(thermal.critical_load(1.0), rel=1e-10)
    assert thermal.overlap(0.0, "lsr", 3.0) == 1.0


def test_the_mean_overlap_with_one_pattern_is_a_ratio_of_bessel_functions():
    """lse: ⟨m⟩ = I_{ν+1}(κ)/I_ν(κ) at κ = N/T, ν = N/2 − 1; both kernels come to `overlap` for N → ∞."""
    for size, heat in ((4, 2.0), (16, 0.5)):
        exact = ive(size / 2, size / heat) / ive(size / 2 - 1, size / heat)
        assert thermal.mean_overlap(size, heat) == pytest.approx(exact, rel=1e-8)
    for kernel in thermal.KERNELS:
        assert thermal.mean_overlap(4000, 0.5, kernel, 3.0) == pytest.approx(
            thermal.overlap(0.5, kernel, 3.0), abs=1e-3
        )


A = np.linspace(0, 3, 3001)
RARE = {
    "gaussian": A**2 / 2,
    "sphere": -0.5 * np.log(np.maximum(1 - np.minimum(A, 1) ** 2, 1e-300)),
}


@pytest.mark.parametrize("ensemble", thermal.ENSEMBLES)
def test_the_energy_at_a_random_point_is_the_largest_term_of_its_sum(ensemble):
    """max_a α − I(a) + b a over overlaps a that exist, α >= I(a), I the rate of one overlap with a random point."""
    for load in (0.02, 0.3, 1.5):
        for b in (0.3, 1.0, 4.0):
            terms = np.where(RARE[ensemble] <= load, (load - RARE[ensemble]) / b + A, -np.inf)
            assert -thermal.random_energy(load, b, ensemble) == pytest.approx(terms.max(), abs=1e-3)
            depth = min(-thermal.random_energy(load, b, ensemble), 0.9)
            found = thermal._load_of(depth, b, ensemble)
            assert -thermal.random_energy(found, b, ensemble) == pytest.approx(depth, rel=1e-12)


@pytest.mark.parametrize("temperature", [0.02, 0.3, 0.9, 3.0])
@pytest.mark.parametrize("kernel", thermal.KERNELS)
def test_patterns_together_have_the_least_free_energy_over_norms_and_overlaps(kernel, temperature):
    """Over r and m: e(rm) − T [α − I(r) + ½ ln(1 − m²)] with α >= I(r), entropies at most those of the whole sphere."""
    r, m = np.linspace(1, 2.5, 1501)[:, None], np.linspace(-0.9995, 0.9995, 4000)
    for load in (0.05, 0.3, 0.6):
        norm_rare, direction = (r**2 - 1) / 2 - np.log(r), 0.5 * np.log(1 - m**2)
        e = -r * m if kernel == "lse" else np.where(1 - 3 + 3 * r * m > 0, E["lsr"](r * m, 3.0), np.inf)
        free = np.where(norm_rare <= load, e - temperature * np.minimum(load - norm_rare + direction, 0), np.inf)
        for ensemble, found in (("gaussian", free.min()), ("sphere", free[0].min())):
            theory = thermal.patterns_free_energy(load, temperature, kernel, 3.0, ensemble)
            if kernel == "lse" or load < thermal.support_load(3.0, ensemble):
                assert theory == pytest.approx(found, abs=2e-3), (load, ensemble)


def test_cold_patterns_condense_on_the_longest_and_on_the_sphere_have_none():
    loads = np.array([0.1, 0.3, 0.5])
    r = thermal.longest_norm(loads)
    np.testing.assert_allclose(r, [1.33, 1.59, 1.77], atol=0.005)
    np.testing.assert_allclose((r**2 - 1) / 2 - np.log(r), loads, rtol=1e-12)
    np.testing.assert_allclose(thermal.patterns_free_energy(loads, 0.0), -r, rtol=1e-12)
    np.testing.assert_allclose(thermal.patterns_free_energy(loads, 0.0, ensemble="sphere"), -1.0, rtol=1e-12)
    np.testing.assert_allclose(thermal.longest_norm([0.0, 1e-10]), [1.0, 1 + 1e-5], rtol=1e-10)
    for kernel in thermal.KERNELS:  # at r = 1 the terms of the norm are gone; f falls with r as −m dr
        step = thermal.free_energy(0.4, kernel, 3.0, 1 + 1e-6) - thermal.free_energy(0.4, kernel, 3.0)
        m = thermal.overlap(0.4, kernel, 3.0)
        slope = m if kernel == "lse" else m / (1 - 3 + 3 * m)
        assert step == pytest.approx(-1e-6 * slope, rel=1e-4)


@pytest.mark.parametrize("ensemble", thermal.ENSEMBLES)
def test_states_at_any_pattern_and_near_none_change_places_at_the_transition(ensemble):
    """T b < 1: the two free energies are equal. T b >= 1: both end, α = I(overlap of the state)."""
    for heat, b in ((0.0, 1.5), (0.3, 0.5), (0.3, 2.0), (0.05, 8.0)):
        load = thermal.transition_load(heat, b, ensemble)
        there = thermal.patterns_free_energy(load, heat, "lse", b, ensemble)
        assert there == pytest.approx(thermal.random_energy(load, b, ensemble), rel=1e-9), (heat, b)
        assert load >= thermal.critical_load(heat, b, ensemble)
    for heat in (0.4, 1.0, 1e4):
        load, apart = thermal.transition_load(heat, 8.0, ensemble), 1e-3
        below, above = (
            thermal.patterns_free_energy(load * (1 + part), heat, "lse", 8.0, ensemble)
            - thermal.random_energy(load * (1 + part), 8.0, ensemble)
            for part in (-apart, apart)
        )
        assert below < 0 == above
        assert thermal.transition_load(heat, 1 / heat * (1 - 1e-9), ensemble) == pytest.approx(load, rel=1e-6)
    if ensemble == "sphere":
        assert thermal.transition_load(1e6, 8.0, ensemble) == pytest.approx(0.5e-12, rel=1e-6)


def test_the_free_energy_of_one_pattern_is_the_logarithm_of_its_integral():
    """−T ln ∫ p(m) e^{−N e(m)/T} / N over the sphere at N = 20,000, up to terms of the order ln N / N."""
    m = np.linspace(-1 + 1e-9, 1 - 1e-9, 400_001)
    density = 0.5 * (20_000 - 3) * np.log1p(-(m**2))
    for kernel in thermal.KERNELS:
        e = np.where(1 - 3 + 3 * m > 0, E[kernel](m, 3.0), np.inf) if kernel == "lsr" else -m
        free = -0.5 * (logsumexp(density - 20_000 * e / 0.5) - logsumexp(density)) / 20_000
        assert thermal.free_energy(0.5, kernel, 3.0) == pytest.approx(free, abs=1e-3)
