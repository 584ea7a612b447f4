"""Additive constants of energies: those published for softmax and for Fenchel–Young losses."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield import Memory, separations, similarities, spaces
from hopfield.observables.energies import energy_constant

RNG = np.random.default_rng(0)
PATTERNS = jnp.asarray(RNG.normal(size=(6, 4)))
USED = jnp.arange(6) < 5
LARGEST = float(jnp.max(jnp.sum(PATTERNS[:5] ** 2, axis=1)))
STATES = jnp.asarray(np.concatenate([2.0 * RNG.normal(size=(40, 4)), PATTERNS]))


def test_with_softmax_it_is_that_of_ramsauer():
    memory = Memory.create(PATTERNS.at[5].set(1e3), 0.7, mask=USED)
    assert energy_constant(memory) == pytest.approx(np.log(5) / 0.7 + 0.5 * LARGEST)


@pytest.mark.parametrize("name", ["sparsemax", "entmax:1.5", "normmax:2"])
def test_with_sparse_weights_it_makes_the_energy_a_fenchel_young_loss(name):
    """L(z; u) = F(z) + Ω(u) − z u, with Ω of equal weights u."""
    memory = Memory.create(PATTERNS, 0.7, mask=USED, separation=name)
    rows, mean, equal = PATTERNS[:5], jnp.mean(PATTERNS[:5], axis=0), jnp.full(5, 0.2)
    separation = separations.find(name)

    def published(x):
        z = 0.7 * rows @ x
        loss = separation.potential(z) - separation.regulariser(equal) - jnp.dot(z, equal)
        apart = 0.5 * jnp.sum((x - mean) ** 2) + 0.5 * (LARGEST - jnp.sum(mean**2))
        return apart - loss / 0.7

    found = jax.vmap(memory.energy)(STATES) + energy_constant(memory)
    np.testing.assert_allclose(found, jax.vmap(published)(STATES), atol=1e-9)


@pytest.mark.parametrize("name", ["softmax", "sparsemax", "entmax:1.3", "normmax:3", "top_k:2"])
def test_published_energies_are_never_negative(name):
    """And nearly zero at the longest pattern, where β is high."""
    memory = Memory.create(PATTERNS, 300.0, separation=name)
    constant = energy_constant(memory)
    assert (jax.vmap(memory.energy)(STATES) + constant >= -1e-9).all()
    longest = PATTERNS[jnp.argmax(jnp.sum(PATTERNS**2, axis=1))]
    assert memory.energy(longest) + constant == pytest.approx(0.0, abs=0.03)


@pytest.mark.parametrize(
    "parts",
    [
        {"separation": "linear"},
        {"separation": "softmax1"},
        {"similarity": similarities.Cosine()},
        {"space": spaces.sphere(2.0)},
    ],
    ids=["linear", "softmax1", "cosine", "sphere"],
)
def test_other_memories_have_no_such_constant(parts):
    with pytest.raises(ValueError, match=r"^memory must have dot products, weights that sum to one"):
        energy_constant(Memory.create(PATTERNS, **parts))
