"""Binary networks: their energy, their form on spins, what they store, and activity control."""

from itertools import product

import jax.numpy as jnp
import numpy as np
import pytest

from hopfield.networks.binary import BinaryNetwork, covariance_network, willshaw_network

RNG = np.random.default_rng(3)
N = 6
PATTERNS = RNG.choice([0.0, 1.0], (4, N))
STATES = np.array(list(product([0.0, 1.0], repeat=N)))


@pytest.fixture(scope="module", params=[0.0, 0.3, 0.5])
def network(request) -> BinaryNetwork:
    return covariance_network(PATTERNS, 0.4, threshold=0.1, offset=request.param)


def test_field_is_the_energy_that_a_neuron_loses_by_going_on(network):
    field = np.asarray(network.local_field(STATES[7]))
    for i in range(N):
        on, off = (np.where(np.arange(N) == i, value, STATES[7]) for value in (1.0, 0.0))
        assert network.energy(off) - network.energy(on) == pytest.approx(field[i], abs=1e-12)


def test_spins_have_the_same_energies_and_fields(network):
    couplings = network.couplings()
    apart = [float(network.energy(v) - couplings.energy(2 * v - 1)) for v in STATES[::5]]
    np.testing.assert_allclose(apart, apart[0], atol=1e-12)
    for v in STATES[:4]:
        np.testing.assert_allclose(2 * couplings.local_field(2 * v - 1), network.local_field(v), atol=1e-12)


def test_covariance_couplings_by_hand():
    """η = (1, 0, 1), a = ½: (η−a)(η−a)'/(a(1−a)N) = ±1/3; signals ±½ at θ = 0 and b = 0 come from the two ones."""
    network = covariance_network(np.array([[1.0, 0.0, 1.0]]), 0.5)
    np.testing.assert_allclose(network.matrix * 3, [[0, -1, 1], [-1, 0, -1], [1, -1, 0]], atol=1e-15)
    np.testing.assert_allclose(network.local_field(np.array([1.0, 0.0, 1.0])), [1 / 3, -2 / 3, 1 / 3], atol=1e-15)


def test_masked_patterns_are_not_stored():
    used = np.array([True, False, True, True])
    for build in (covariance_network, willshaw_network):
        masked, sliced = build(PATTERNS, mask=used), build(PATTERNS[used])
        np.testing.assert_allclose(masked.matrix, sliced.matrix, atol=1e-15)
        np.testing.assert_allclose(masked.threshold, sliced.threshold, atol=1e-15)


def test_willshaw_completes_part_of_a_pattern():
    patterns = np.zeros((2, 8))
    patterns[0, :3] = patterns[1, 2:5] = 1
    network = willshaw_network(patterns, 1.5)
    np.testing.assert_array_equal(network.update(np.eye(8)[:2].sum(0)), [0, 0, 1, 0, 0, 0, 0, 0])
    assert set(np.unique(network.matrix)) == {0.0, 1.0}


def test_winners_are_the_neurons_of_largest_field(network):
    found = np.asarray(network.winners(STATES[9], 2))
    field = np.asarray(network.local_field(STATES[9]))
    assert found.sum() == 2
    assert field[found == 1].min() >= field[found == 0].max()
    assert network.winners(STATES[9], jnp.asarray(0)).sum() == 0
