"""Bounds: Gardner's integral, and the theorems of Ramsauer et al. held against the update itself."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.special import lambertw

from hopfield.theory import bounds


def softmax_update(patterns: np.ndarray, state: np.ndarray, beta: float) -> np.ndarray:
    scores = beta * patterns @ state
    weights = np.exp(scores - scores.max())
    return weights @ patterns / weights.sum()


@pytest.mark.parametrize("stability", [0.0, 0.3, 1.0, 3.0])
def test_gardner_bound_is_the_inverse_of_its_integral(stability):
    def integrand(t: float) -> float:
        return np.exp(-(t**2) / 2) / np.sqrt(2 * np.pi) * (t + stability) ** 2

    assert bounds.gardner(stability) == pytest.approx(1 / quad(integrand, -stability, 40, epsabs=1e-13)[0], rel=1e-9)


def test_gardner_bound_without_margin_is_two():
    assert bounds.gardner() == pytest.approx(2.0, rel=1e-15)


@pytest.mark.parametrize(("dimension", "factor", "base"), [(20, 3.0, 3.1546), (75, 1.0, 1.3719)])
def test_ramsauer_theorem_3_reproduces_the_published_examples(dimension, factor, base):
    bound = bounds.ramsauer(dimension, 1.0, factor, 0.001)
    assert bound.base == pytest.approx(base, abs=5e-5)
    assert bound.proven == 1
    a = 2 / (dimension - 1) * (1 + np.log(2 * factor**2 * 0.001 * (dimension - 1)))
    b = 2 * factor**2 / 5
    assert bound.base == pytest.approx(b / lambertw(np.exp(a + np.log(b))).real, rel=1e-12)
    assert bound.num_patterns == pytest.approx(np.sqrt(0.001) * bound.base ** ((dimension - 1) / 4), rel=1e-12)
    assert bound.num_patterns < 11


@pytest.mark.parametrize("beta", [2.0, 6.0])
@pytest.mark.parametrize("distance", [0.0, 0.1])
def test_one_update_stays_within_the_retrieval_error_bound(beta, distance):
    rng = np.random.default_rng(4)
    patterns = rng.normal(size=(12, 20))
    norm = np.linalg.norm(patterns, axis=1).max()
    for mu, pattern in enumerate(patterns):
        others = np.delete(patterns, mu, axis=0) @ pattern
        shift = rng.normal(size=20)
        state = pattern + distance * shift / np.linalg.norm(shift)
        error = np.linalg.norm(softmax_update(patterns, state, beta) - pattern)
        assert error <= bounds.retrieval_error(12, pattern @ pattern - others.max(), beta, norm, distance) + 1e-12


def test_retrieval_error_bound_is_tight_for_two_opposite_patterns():
    # x = ξ and −ξ: the update is ξ tanh(β), the error 1 − tanh β = 2e^(−2β) + …, the bound 2e^(−2β)
    assert bounds.retrieval_error(2, 2.0, 8.0, 1.0) == pytest.approx(1 - np.tanh(8.0), rel=1e-6)


@pytest.mark.parametrize("beta", [1.0, 3.0])
def test_well_separated_patterns_have_a_fixed_point_in_their_sphere(beta):
    rng = np.random.default_rng(9)
    patterns = rng.choice([-1.0, 1.0], size=(10, 40))
    needed = bounds.separation_needed(10, beta, np.sqrt(40))
    for mu, pattern in enumerate(patterns):
        assert 40 - (np.delete(patterns, mu, axis=0) @ pattern).max() > needed
        state = pattern
        for _ in range(50):
            state = softmax_update(patterns, state, beta)
        assert np.linalg.norm(state - softmax_update(patterns, state, beta)) < 1e-12
        assert np.linalg.norm(state - pattern) <= 1 / (beta * 10 * np.sqrt(40))


def test_storkey_count():
    assert bounds.storkey(1000) == pytest.approx(1000 / np.sqrt(2 * np.log(1000)), rel=1e-14)
