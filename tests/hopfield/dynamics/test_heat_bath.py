"""Heat-bath chains that share their visiting orders: blocks of visits against one visit after the other."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield.couplings import hebb_couplings
from hopfield.dynamics.asynchronous import ORDERS
from hopfield.dynamics.heat_bath import VISITS_AT_ONCE, glauber
from hopfield.memory import Memory
from hopfield.patterns import spins
from hopfield.separations import Linear
from hopfield.spaces import Spins
from tests.hopfield.contracts.parts import quick

KEYS = jax.random.split(jax.random.key(4), 5)
ORDER_KEY = jax.random.key(8)
TEMPERATURES = jnp.array([1e-6, 0.2, 0.5, 1.0, 3.0])


def network(neurons: int, patterns: int) -> Memory:
    stored = spins(jax.random.key(neurons), patterns, neurons)
    return Memory(stored, 1 / neurons, separation=Linear(), space=Spins())


def chains(model, start, dynamics, known):
    """Five chains of one network at five temperatures; a Memory visits one neuron after the other."""

    def chain(temperature, key):
        options = {"sweeps": 6, "burn_in": 2, "dynamics": dynamics, "known": known, "order_key": ORDER_KEY}
        return glauber(model, start, key, temperature, **options)

    return quick(jax.vmap(chain))(TEMPERATURES, KEYS)


EITHER = [(1, False), (VISITS_AT_ONCE - 1, False), (VISITS_AT_ONCE, True), (2 * VISITS_AT_ONCE + 3, True)]
"""Sizes, and whether some units are clamped; the other four combinations are tried by `make check`."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("neurons", "clamped"),
    [*EITHER, *(pytest.param(size, not clamped, marks=pytest.mark.exhaustive) for size, clamped in EITHER)],
)
def test_visits_in_blocks_end_where_single_visits_do(neurons, clamped):
    """Every spin of every chain, with temperatures from frozen to free; Hebb's fields are whole numbers over N."""
    memory = network(neurons, 7)
    known = jnp.arange(neurons) % 3 == 0 if clamped else None
    for dynamics in ORDERS:
        blocks = chains(hebb_couplings(memory), memory.patterns[0], dynamics, known)
        single = chains(memory, memory.patterns[0], dynamics, known)
        np.testing.assert_array_equal(blocks.state, single.state)
        np.testing.assert_array_equal(blocks.mean, single.mean)
        np.testing.assert_allclose(blocks.energy, single.energy + 3.5, rtol=1e-9, atol=1e-9)  # own spins: −M/2
    if neurons > 1:
        assert len({tuple(row) for row in np.asarray(blocks.state)}) > 1 + clamped


def test_chains_that_share_an_order_are_not_the_same_chain():
    """Their draws are their own: two keys at one temperature part at once, one key twice never does."""
    memory = network(VISITS_AT_ONCE, 3)
    couplings = hebb_couplings(memory)

    def end(key):
        return glauber(couplings, memory.patterns[0], key, 1.0, sweeps=3, order_key=ORDER_KEY).state

    ends = np.asarray(quick(jax.vmap(end))(jnp.stack([KEYS[0], KEYS[1], KEYS[0]])))
    assert np.any(ends[0] != ends[1])
    np.testing.assert_array_equal(ends[0], ends[2])


def test_means_are_those_of_the_sweeps_after_burn_in():
    """A frozen pattern is found in the first sweep from one wrong spin, and stays."""
    memory = network(VISITS_AT_ONCE, 3)
    pattern = memory.patterns[0]
    for model in (memory, hebb_couplings(memory)):
        found = glauber(model, pattern.at[5].multiply(-1), KEYS[0], 1e-3, sweeps=4, burn_in=3)
        np.testing.assert_allclose(found.mean, pattern, rtol=1e-12)
        np.testing.assert_allclose(found.energy, model.energy(pattern), rtol=1e-12)
