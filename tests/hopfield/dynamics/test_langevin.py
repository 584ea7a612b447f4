"""Langevin sampling beside Gaussian states, and states on a sphere whose overlap has a known law."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import quad

from hopfield import Memory
from hopfield.dynamics import langevin

KEYS = jax.random.split(jax.random.key(0), 8)


def chains(memory, start, temperature, **options):
    run = lambda key: langevin(memory, start, key, temperature, **options)
    return jax.jit(jax.vmap(run))(KEYS)


def test_one_pattern_in_euclidean_space_is_a_gaussian():
    """E = ½‖x‖² − ξ·x: mean ξ, variance T in every direction; ⟨E⟩ = −½‖ξ‖² + ½NT."""
    pattern = jnp.array([[1.0, -2.0, 0.5]])
    found = chains(Memory(pattern), pattern[0], 0.4, samples=2000, every=5)
    states = np.asarray(found.states).reshape(-1, 3)
    np.testing.assert_allclose(states.mean(axis=0), pattern[0], atol=0.03)
    np.testing.assert_allclose(np.cov(states.T), 0.4 * np.eye(3), atol=0.03)
    assert np.mean(found.energies) == pytest.approx(-0.5 * 5.25 + 0.6, abs=0.03)
    np.testing.assert_allclose(found.accepted, 0.574, atol=0.2)


@pytest.mark.parametrize("temperature", [0.1, 0.5])
def test_overlap_on_a_sphere_has_its_law(temperature):
    """E = −x·ξ on the unit sphere in 5 dimensions: p(m) ∝ (1 − m²)^((5−3)/2) e^(m/T)."""
    pattern = jnp.zeros((1, 5)).at[0, 0].set(1.0)
    memory = Memory(pattern, space="sphere:1")
    found = chains(memory, pattern[0], temperature, samples=2000, every=5)
    weight = lambda m: (1 - m**2) * np.exp((m - 1) / temperature)
    norm = quad(weight, -1, 1)[0]
    expected = quad(lambda m: m * weight(m), -1, 1)[0] / norm
    overlaps = np.asarray(found.states)[..., 0]
    assert overlaps.mean() == pytest.approx(expected, abs=0.01)
    np.testing.assert_allclose(np.linalg.norm(found.states, axis=-1), 1.0, rtol=1e-5)


@pytest.mark.slow
def test_a_chain_depends_on_its_key_alone():
    memory = Memory(jnp.eye(4), beta=3.0)
    alone = langevin(memory, jnp.ones(4), KEYS[2], 0.2, samples=20)
    np.testing.assert_allclose(chains(memory, jnp.ones(4), 0.2, samples=20).states[2], alone.states, rtol=1e-6)
