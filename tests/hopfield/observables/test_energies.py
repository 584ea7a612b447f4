"""Additive constants of energies: those published for softmax and for Fenchel–Young losses."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield import Memory, memories, separations
from hopfield.observables.energies import bare_energy, energy_constant, log_energy
from tests.hopfield.contracts.parts import quick

RNG = np.random.default_rng(0)
PATTERNS = jnp.asarray(RNG.normal(size=(6, 4)))
USED = jnp.arange(6) < 5
LARGEST = float(jnp.max(jnp.sum(PATTERNS[:5] ** 2, axis=1)))
STATES = jnp.asarray(np.concatenate([2.0 * RNG.normal(size=(40, 4)), PATTERNS]))


def test_with_softmax_it_is_that_of_ramsauer():
    memory = Memory(PATTERNS.at[5].set(1e3), 0.7, mask=USED)
    assert energy_constant(memory) == pytest.approx(np.log(5) / 0.7 + 0.5 * LARGEST)


@pytest.mark.parametrize("name", ["sparsemax", "entmax:1.5", "normmax:2"])
def test_with_sparse_weights_it_makes_the_energy_a_fenchel_young_loss(name):
    """L(z; u) = F(z) + Ω(u) − z u, with Ω of equal weights u."""
    memory = Memory(PATTERNS, 0.7, mask=USED, separation=name)
    rows, mean, equal = PATTERNS[:5], jnp.mean(PATTERNS[:5], axis=0), jnp.full(5, 0.2)
    separation = separations.find(name)

    def published(x):
        z = 0.7 * rows @ x
        loss = separation.potential(z) - separation.regulariser(equal) - jnp.dot(z, equal)
        apart = 0.5 * jnp.sum((x - mean) ** 2) + 0.5 * (LARGEST - jnp.sum(mean**2))
        return apart - loss / 0.7

    found = quick(jax.vmap(memory.energy))(STATES) + energy_constant(memory)
    np.testing.assert_allclose(found, quick(jax.vmap(published))(STATES), atol=1e-9)


@pytest.mark.parametrize("name", ["softmax", "sparsemax", "entmax:1.3", "normmax:3", "top_k:2"])
def test_published_energies_are_never_negative(name):
    """And nearly zero at the longest pattern, where β is high."""
    memory = Memory(PATTERNS, 300.0, separation=name)
    constant = energy_constant(memory)
    assert (jax.vmap(memory.energy)(STATES) + constant >= -1e-9).all()
    longest = PATTERNS[jnp.argmax(jnp.sum(PATTERNS**2, axis=1))]
    assert memory.energy(longest) + constant == pytest.approx(0.0, abs=0.03)


def test_differences_of_bare_energies_keep_their_digits_in_float32_as_beta_falls():
    rows, (a, b) = PATTERNS.astype(jnp.float32), STATES[:2].astype(jnp.float32)
    for beta in (1e-6, 1e-3, 2.0):
        exact = Memory(PATTERNS, beta, mask=USED)
        expected = exact.energy(a) - exact.energy(b)
        single = Memory(rows, beta, mask=USED)
        assert bare_energy(single, a).dtype == jnp.float32
        assert bare_energy(single, a) - bare_energy(single, b) == pytest.approx(float(expected), rel=1e-5)
    assert bare_energy(exact, a) == pytest.approx(float(exact.energy(a) + np.log(5) / 2.0), rel=1e-5)


def test_the_logarithm_of_the_exponential_energy_is_finite_where_it_overflows():
    patterns = jnp.where(jnp.asarray(RNG.normal(size=(6, 200))) > 0, 1.0, -1.0)
    wide = memories.find("exponential").build(patterns, mask=USED)
    assert log_energy(wide, patterns[0]) == pytest.approx(np.log(-float(wide.energy(patterns[0]))))
    single = memories.find("exponential").build(patterns.astype(jnp.float32), mask=USED)
    assert single.energy(single.patterns[0]) == -jnp.inf
    assert log_energy(single, single.patterns[0]) == pytest.approx(200.0)
    with pytest.raises(ValueError, match="must be exponential where R = 0"):
        log_energy(Memory(PATTERNS), STATES[0])
