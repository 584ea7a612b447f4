"""Asymmetric couplings against sweeps written out in numpy, and against symmetric ones."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield import glauber, retrieve
from hopfield.networks import AsymmetricCouplings

RNG = np.random.default_rng(8)
N = 12
MATRIX = RNG.normal(size=(N, N))
STATE = RNG.choice([-1.0, 1.0], N)


def swept(matrix: np.ndarray, bias: np.ndarray, state: np.ndarray, sweeps: int) -> np.ndarray:
    state, hollow = state.copy(), matrix - np.diag(np.diag(matrix))
    for _ in range(sweeps):
        for i in range(N):
            field = hollow[i] @ state + bias[i]
            state[i] = np.sign(field) if field else state[i]
    return state


def test_fields_are_what_a_spin_receives():
    network = AsymmetricCouplings(MATRIX, 0.5)
    hollow = MATRIX - np.diag(np.diag(MATRIX))
    np.testing.assert_allclose(network.local_field(STATE), 0.5 * hollow @ STATE, rtol=1e-6)


@pytest.mark.parametrize("sweeps", [1, 2, 5])
def test_sequential_sweeps_are_those_written_out(sweeps):
    bias = RNG.normal(size=N)
    network = AsymmetricCouplings(MATRIX, bias=bias)
    end = retrieve(network, STATE, dynamics="sequential", max_steps=sweeps)
    np.testing.assert_array_equal(end.state, swept(MATRIX, bias, STATE, sweeps))
    assert np.isnan(end.energy)


def test_heat_bath_of_two_spins_is_that_of_its_markov_chain():
    """W = [[0, 1], [−1, 0]]: spin 0 follows 1, spin 1 flees 0. The sweep is a chain of 4 states, solved here."""
    matrix = np.array([[0.0, 1.0], [-1.0, 0.0]])
    states = [(a, b) for a in (1.0, -1.0) for b in (1.0, -1.0)]
    step = np.zeros((4, 4))
    for k, (_, b) in enumerate(states):
        for new_a in (1.0, -1.0):
            for new_b in (1.0, -1.0):
                chance = 1 / (1 + np.exp(-2 * new_a * b)) / (1 + np.exp(2 * new_b * new_a))
                step[k, states.index((new_a, new_b))] += chance
    stationary = np.linalg.matrix_power(step, 200)[0]
    product = sum(p * a * b for p, (a, b) in zip(stationary, states, strict=True))
    network, keys = AsymmetricCouplings(matrix), jax.random.split(jax.random.key(2), 4000)
    run = lambda key: glauber(network, jnp.ones(2), key, 1.0, burn_in=20, sweeps=1, dynamics="sequential").state
    ends = np.asarray(jax.vmap(run)(keys))
    assert ends.prod(axis=1).mean() == pytest.approx(product, abs=4 / 4000**0.5)
