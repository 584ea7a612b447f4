"""Attractors of given networks beside all their states, counted one by one."""

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield import memories, patterns
from hopfield.networks import AsymmetricCouplings
from hopfield.networks.attractors import as_couplings, find_attractors, shuffled, transitions

RNG = np.random.default_rng(3)
N = 8
DRAWN = RNG.normal(size=(N, N))
SYMMETRIC = DRAWN + DRAWN.T


def fixed_points(matrix: np.ndarray) -> set[tuple]:
    hollow = matrix - np.diag(np.diag(matrix))
    states = np.array(list(itertools.product((-1.0, 1.0), repeat=len(matrix))))
    return set(map(tuple, states[np.all(states * (states @ hollow.T) > 0, axis=1)]))


DIRECTED = "ignore:matrix differs .* taken as directed:UserWarning"


@pytest.mark.filterwarnings(DIRECTED)
@pytest.mark.parametrize("matrix", [SYMMETRIC, DRAWN], ids=["symmetric", "asymmetric"])
def test_what_is_found_are_the_fixed_points_there_are(matrix):
    found = find_attractors(matrix, jax.random.key(0), starts=2000)
    assert set(map(tuple, np.asarray(found.states))) == fixed_points(matrix)
    assert float(found.basins.sum()) + found.unsettled == pytest.approx(1.0)
    assert np.all(np.diff(found.basins) <= 0)
    assert np.all(np.isnan(found.energies)) == (matrix is DRAWN)


def test_stored_patterns_are_attractors():
    stored = patterns.spins(jax.random.key(1), 2, 60)
    network = memories.find("perceptron_symmetric").build(stored)
    reached = set(map(tuple, np.asarray(find_attractors(network, jax.random.key(0), starts=300).states)))
    assert {tuple(np.asarray(row)) for row in stored} <= reached


def test_cold_chains_stay_and_hot_ones_leave():
    found = find_attractors(SYMMETRIC, jax.random.key(0), starts=500)
    cold = transitions(SYMMETRIC, found.states, jax.random.key(0), 1e-3, runs=20, sweeps=5)
    np.testing.assert_array_equal(cold[:, :-1], np.eye(len(found.states)))
    hot = np.asarray(transitions(SYMMETRIC, found.states, jax.random.key(0), 1e3, runs=400, sweeps=5))
    np.testing.assert_allclose(hot.sum(axis=1), 1.0, rtol=1e-6)
    np.testing.assert_allclose(hot[:, :-1], np.broadcast_to(found.basins, cold[:, :-1].shape), atol=0.15)


@pytest.mark.filterwarnings(DIRECTED)
@pytest.mark.parametrize("matrix", [SYMMETRIC, DRAWN], ids=["symmetric", "asymmetric"])
def test_shuffled_couplings_are_the_same_numbers_elsewhere(matrix):
    network = as_couplings(matrix)
    assert isinstance(network, AsymmetricCouplings) == (matrix is DRAWN)
    other = shuffled(network, jax.random.key(0))
    np.testing.assert_allclose(np.sort(other.matrix.ravel()), np.sort(network.matrix.ravel()))
    assert not jnp.allclose(other.matrix, network.matrix)
    assert np.allclose(other.matrix, other.matrix.T) == (matrix is SYMMETRIC)
