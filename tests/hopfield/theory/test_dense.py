"""Polynomial memories: published constants, and one-step errors against enumeration and simulation."""

import itertools

import numpy as np
import pytest
from scipy.special import erf

from hopfield.theory import classical, dense


def step_errors(xi: np.ndarray, flipped: int, degree: int, rectified: bool) -> np.ndarray:
    """Wrong spins [S, N] after one step from the first of the patterns xi [S, M, N], with the first spins flipped."""

    def energy(s: np.ndarray) -> np.ndarray:
        return np.maximum(s, 0) ** degree if rectified else s**degree

    x = xi[:, 0] * np.where(np.arange(xi.shape[2]) < flipped, -1, 1)
    others = np.einsum("smi,si->sm", xi, x)[:, :, None] - xi * x[:, None]
    field = np.sum(energy(others + xi) - energy(others - xi), axis=1)
    return np.where(field == 0, x, np.sign(field)) != xi[:, 0]


@pytest.mark.parametrize("rectified", [False, True], ids=["power", "rectified"])
@pytest.mark.parametrize("degree", [2, 3, 4, 5])
@pytest.mark.parametrize(("neurons", "patterns", "flipped"), [(4, 4, 0), (5, 3, 1), (3, 5, 1), (7, 2, 3), (4, 1, 1)])
def test_one_step_error_equals_complete_enumeration(degree, neurons, patterns, flipped, rectified):
    every = np.array(list(itertools.product([-1, 1], repeat=neurons * patterns)))
    expected = np.mean(step_errors(every.reshape(-1, patterns, neurons), flipped, degree, rectified))
    got = dense.one_step_error(neurons, patterns, degree, flipped / neurons, rectified=rectified)
    assert got == pytest.approx(expected, abs=1e-12)


def test_degree_two_is_the_classical_network():
    neurons, patterns = np.array([20, 100, 100, 500]), np.array([5, 12, 13, 60])
    for corruption in (0.0, 0.1):
        np.testing.assert_allclose(
            dense.one_step_error(neurons, patterns, 2, corruption),
            classical.one_step_error(neurons, patterns, corruption),
            atol=1e-12,
        )


def test_krotov_and_hopfield_constants():
    degrees = np.array([2, 3, 4, 5])
    np.testing.assert_allclose(dense.noise(degrees), [1, 3, 15, 105], rtol=1e-14)
    np.testing.assert_allclose(dense.capacity(degrees), 0.150718 / np.array([1, 3, 15, 105]), rtol=2e-6)
    np.testing.assert_allclose(dense.capacity(degrees, rectified=True), 2 * dense.capacity(degrees))
    np.testing.assert_allclose(dense.distinct_index_factor(degrees), [1, 3 / 2, 15 / 6, 105 / 24])
    assert dense.error_free_patterns(100, 3) == pytest.approx(100**2 / (6 * np.log(100)))
    error = np.array([1e-4, 0.005, 0.1])
    np.testing.assert_allclose(dense.one_step_error_asymptotic(dense.capacity(4, error), 4), error, rtol=1e-12)


@pytest.mark.parametrize("degree", [3, 4, 7, 30])
def test_retrieval_overlap_is_where_the_step_ends_below_the_spinodal(degree):
    edge, overlap = dense.spinodal(degree)
    loads = edge * np.array([0.2, 0.7, 0.99])
    m = np.ones(3)
    for _ in range(3000):
        m = erf(m ** (degree - 1) / np.sqrt(2 * dense.noise(degree) * loads))
    np.testing.assert_allclose(dense.retrieval_overlap(loads, degree), m, rtol=1e-9)
    assert dense.retrieval_overlap(edge * (1 - 1e-12), degree) == pytest.approx(overlap, abs=1e-5)
    assert np.isnan(dense.retrieval_overlap(edge * (1 + 1e-9), degree))
    assert dense.retrieval_overlap(0.0, degree) == 1.0
    collapsed = 1.0
    for _ in range(3000):
        collapsed = erf(collapsed ** (degree - 1) / np.sqrt(2 * dense.noise(degree) * edge * 1.001))
    assert collapsed < 0.01


def test_rectified_memories_hold_twice_as_much_of_everything():
    """max(s, 0)ⁿ leaves half of the noise: each prediction at a load is the plain one at half of it."""
    loads, degrees = np.array([0.01, 0.05]), np.array([3, 4])
    np.testing.assert_allclose(
        dense.one_step_error_asymptotic(2 * loads, 3, 0.1, rectified=True),
        dense.one_step_error_asymptotic(loads, 3, 0.1),
    )
    np.testing.assert_allclose(
        dense.error_free_patterns(100, degrees, rectified=True), 2 * dense.error_free_patterns(100, degrees)
    )
    np.testing.assert_allclose(
        dense.retrieval_overlap(2 * loads, 3, rectified=True), dense.retrieval_overlap(loads, 3), rtol=1e-9
    )
    np.testing.assert_allclose(dense.spinodal(3, rectified=True).load, 2 * dense.spinodal(3).load)
