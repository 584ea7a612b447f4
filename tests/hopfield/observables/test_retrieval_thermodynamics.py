"""Laws along a retrieval of the modern memory: energy falls by a known amount, entropy need not fall."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.special
import scipy.stats

from hopfield.dynamics import trajectory
from hopfield.memory import Memory
from hopfield.observables import thermodynamics as thermo
from tests.hopfield.contracts.parts import quick

CASES, STEPS = 3000, 6


@cache
def retrievals():
    """States, energies and entropies along random retrievals of modern memories, β from 10⁻³ to 10³."""
    keys = jax.random.split(jax.random.key(5), 4)
    beta = 10 ** jax.random.uniform(keys[0], (CASES,), minval=-3, maxval=3)
    size = 10 ** jax.random.uniform(keys[1], (CASES, 1, 1), minval=-0.5, maxval=0.5)
    patterns = size * jax.random.normal(keys[2], (CASES, 6, 4))
    states = 2 * jax.random.normal(keys[3], (CASES, 4))

    def one(patterns, beta, state):
        memory = Memory(patterns, beta)
        visited = trajectory(memory, state, STEPS)
        return visited, jax.vmap(memory.energy)(visited), thermo.entropy(jax.vmap(memory.weights)(visited))

    return [np.asarray(a) for a in quick(jax.vmap(one))(patterns, beta, states)]


def test_entropy_can_rise_along_a_retrieval_though_energy_falls():
    """d = 1, X = ±1, β = 0.9, x₀ = 1: below β_c = 1 the state falls to 0 and the entropy rises to ln 2."""

    @quick
    def run():
        memory = Memory(jnp.asarray([[1.0], [-1.0]]), 0.9)
        visited = trajectory(memory, jnp.ones(1), 200)
        return visited[:, 0], thermo.entropy(jax.vmap(memory.weights)(visited)), jax.vmap(memory.energy)(visited)

    state, shannon, energy = map(np.asarray, run())
    np.testing.assert_allclose(state[1:], np.tanh(0.9 * state[:-1]), atol=1e-15)
    assert np.max(np.diff(energy)) < 1e-15
    assert np.all(np.diff(shannon[:60]) > 0)
    assert shannon[0] == pytest.approx(scipy.stats.entropy(scipy.special.softmax([0.9, -0.9])), rel=1e-14)
    assert shannon[-1] == pytest.approx(np.log(2), abs=1e-12)
    _, _, along = retrievals()
    assert 0.05 < np.mean(np.max(np.diff(along, axis=1), axis=1) > 1e-6) < 0.95
