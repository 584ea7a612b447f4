"""Theory of retrieval from noisy examples: limits, and an independent solution of its equations."""

import numpy as np
import pytest
from scipy.special import erf

from hopfield.theory import classical, examples


def test_perfect_examples_are_patterns():
    for supervised in (True, False):
        found = examples.critical_load(1.0, 7, supervised=supervised)
        np.testing.assert_allclose(found, classical.spinodal(), rtol=2e-5)
        assert examples.overlap(0.1, 1.0, 3, supervised=supervised) == pytest.approx(
            classical.retrieval_overlap(0.1), abs=1e-6
        )
    assert examples.one_step_overlap(0.1, 1.0, 5) == pytest.approx(erf(1 / np.sqrt(0.2)))


def test_at_no_load_the_pattern_is_seen_through_the_entropy_of_its_examples():
    """m = erf(1/√(2ρ)): the sign of the mean of the examples."""
    rho = examples.entropy(0.3, 50)
    assert rho == pytest.approx((1 - 0.09) / (50 * 0.09))
    assert examples.overlap(0.0, 0.3, 50) == pytest.approx(erf(1 / np.sqrt(2 * rho)), abs=1e-4)
    assert examples.one_step_overlap(0.0, 0.3, 50) == pytest.approx(erf(1 / np.sqrt(2 * rho)))


@pytest.mark.parametrize("supervised", [True, False])
def test_overlap_solves_the_equations_as_iterated(supervised):
    """n, σ and χ iterated from the pattern, not on the branch that is given by the signal over noise."""
    load, r, count = 0.05, 0.4, 60
    s2 = (1 - r**2) / count
    v, m, chi = r**2 + s2, 1.0, 0.0
    for _ in range(3000):
        n = r * m / (1 - s2 * chi)
        sigma2 = load * ((v / (1 - v * chi)) ** 2 + (not supervised) * (count - 1) * (s2 / (1 - s2 * chi)) ** 2)
        width = np.sqrt(n**2 * s2 + sigma2)
        m, chi = erf(n * r / (np.sqrt(2) * width)), np.sqrt(2 / np.pi) * np.exp(-((n * r / width) ** 2) / 2) / width
    assert m > 0.8
    assert examples.overlap(load, r, count, supervised=supervised) == pytest.approx(m, abs=1e-5)
