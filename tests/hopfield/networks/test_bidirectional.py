"""Bidirectional memory: descent of its energy, what it finds, and what it takes."""

import itertools

import jax.numpy as jnp
import numpy as np
import pytest

from hopfield.networks.bidirectional import BidirectionalMemory
from tests.hopfield.contracts.parts import quick

RNG = np.random.default_rng(11)
M, N = 5, 24
PATTERNS = RNG.choice([-1.0, 1.0], size=(M, N))
STATES = RNG.choice([-1.0, 1.0], size=(6, N))


def test_energy_of_pairs_never_rises_and_partners_are_found():
    partners = RNG.choice([-1.0, 1.0], size=(M, 17))
    model = BidirectionalMemory(jnp.asarray(PATTERNS), jnp.asarray(partners))
    update, energy = quick(model.update), quick(model.energy)
    for start in STATES:
        pair = jnp.asarray(start), jnp.ones(17)
        levels = [float(energy(*pair))]
        for _ in range(6):
            pair = update(*pair)
            levels.append(float(energy(*pair)))
        assert all(after <= before + 1e-6 for before, after in itertools.pairwise(levels))
    few = BidirectionalMemory(jnp.asarray(PATTERNS[:2]), jnp.asarray(partners[:2]))
    np.testing.assert_array_equal(few.update(jnp.asarray(PATTERNS[0]), jnp.ones(17))[1], partners[0])


def test_energy_of_a_single_pair_is_minus_the_root_of_its_sizes():
    # (ξ·ξ)(ζ·ζ)/√(NV) = √(NV).
    model = BidirectionalMemory(jnp.ones((1, 4)), jnp.ones((1, 9)))
    assert float(model.energy(jnp.ones(4), jnp.ones(9))) == pytest.approx(-6.0)
