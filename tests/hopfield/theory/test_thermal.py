"""Retrieval at a temperature on the sphere: states beside a search for the least free energy, limits, one pattern."""

import numpy as np
import pytest
from scipy.special import ive

from hopfield.theory import thermal

M = np.linspace(-0.999999, 0.999999, 2_000_001)
E = {"lse": lambda m, b: -m, "lsr": lambda m, b: -1 - np.log(np.maximum(1 - b + b * m, 1e-300)) / b}


@pytest.mark.parametrize("temperature", [0.05, 0.5, 3.0])
@pytest.mark.parametrize("kernel", thermal.KERNELS)
def test_the_state_has_the_least_free_energy(kernel, temperature):
    free = E[kernel](M, 3.0) - 0.5 * temperature * np.log(1 - M**2)
    assert thermal.overlap(temperature, kernel, 3.0) == pytest.approx(M[np.argmin(free)], abs=1e-5)
    if kernel == "lse":
        assert thermal.critical_load(temperature) == pytest.approx(free.min() ** 2 / 2, rel=1e-6)


def test_half_is_the_load_at_zero_temperature():
    assert thermal.critical_load(0.0) == thermal.stable_load(0.0) == thermal.stable_load(0.0, 2.0) == 0.5
    assert thermal.stable_load(0.0, 0.5) == 0.375
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
