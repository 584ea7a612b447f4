"""Couplings against the memory they are made of, and their diagonal."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield.couplings import Couplings, hebb_couplings
from hopfield.memory import Memory
from hopfield.separations import Linear
from hopfield.spaces import Spins
from tests.hopfield.contracts.parts import WIDTH, quick

RNG = np.random.default_rng(22)
M, N = 7, WIDTH
SPINS, SPIN_STATES = np.sign(RNG.normal(size=(M, N))), np.sign(RNG.normal(size=(5, N)))
CLASSICAL = Memory(SPINS, 1 / N, separation=Linear(), space=Spins())


def batched(function):
    return quick(jax.vmap(function))


def views(model):
    """Energies, local fields and updates of every state of spins."""
    return [
        np.asarray(a) for a in batched(lambda x: (model.energy(x), model.local_field(x), model.update(x)))(SPIN_STATES)
    ]


def test_couplings_of_a_hebb_memory_give_the_same_network():
    """W = ΞᵀΞ/N without its diagonal: fields alike, energies apart by the constant M/2 of the diagonal."""
    couplings = hebb_couplings(CLASSICAL)
    np.testing.assert_array_equal(np.diag(couplings.matrix), 0.0)
    energies, fields, updates = zip(*(views(model) for model in (couplings, CLASSICAL)), strict=True)
    np.testing.assert_allclose(energies[0] - energies[1], M / 2, rtol=1e-12)
    np.testing.assert_allclose(fields[0], fields[1], atol=1e-14)
    np.testing.assert_array_equal(updates[0], updates[1])


@pytest.mark.parametrize("sign", [1.0, -1.0], ids=["as drawn", "all levels negated"])
def test_couplings_become_a_memory_and_come_back(sign):
    """Any symmetric matrix, also an indefinite one, is the Hebb matrix of √λ v rows once its spectrum is shifted."""
    drawn = RNG.normal(size=(N, N))
    couplings = Couplings(sign * (drawn + drawn.T), 0.3)
    memory = couplings.memory()
    back = hebb_couplings(memory)
    np.testing.assert_allclose(back.scale * back.matrix, couplings.scale * couplings.matrix, atol=1e-12)
    energies, fields, _ = zip(*(views(model) for model in (memory, couplings)), strict=True)
    np.testing.assert_allclose(fields[0], fields[1], atol=1e-12)
    np.testing.assert_allclose(energies[0] - energies[1], (energies[0] - energies[1])[0], rtol=1e-11)


def test_couplings_drop_the_diagonal_and_give_half_the_energy_difference():
    drawn = RNG.normal(size=(N, N))
    couplings = Couplings(drawn + drawn.T + 10 * np.eye(N), 0.5)
    np.testing.assert_array_equal(np.diag(couplings.matrix), 0.0)
    _, fields, updates = views(couplings)
    energy = batched(couplings.energy)
    for i in range(N):
        down, up = (energy(np.where(np.arange(N) == i, spin, SPIN_STATES)) for spin in (-1.0, 1.0))
        np.testing.assert_allclose(fields[:, i], 0.5 * (np.asarray(down) - np.asarray(up)), rtol=1e-12)
    np.testing.assert_array_equal(updates, np.sign(fields))
    known = jnp.arange(N) < 3
    held = batched(lambda x: couplings.update(x, known))(SPIN_STATES)
    np.testing.assert_array_equal(held, np.where(known, SPIN_STATES, updates))
