"""Mistakes of a caller: each ends in one sentence that names the argument, none in a number that looks right."""

# pyright: reportArgumentType=false, reportCallIssue=false, reportAttributeAccessIssue=false
# Arguments are of the wrong type on purpose.

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield import (
    Couplings,
    Memory,
    attention,
    hebb_couplings,
    patterns,
    retrieve,
    spaces,
)
from hopfield.dynamics import asynchronous

KEY = jax.random.key(0)
SPINS = np.random.default_rng(0).choice([-1.0, 1.0], (3, 8))
ROWS = np.random.default_rng(1).normal(size=(3, 8))
STATE = ROWS[0]
MODERN = Memory(ROWS)
CLASSICAL = Memory(SPINS, separation="linear", space=spaces.Spins())
HEBB = hebb_couplings(CLASSICAL)


@pytest.mark.parametrize("dynamics", asynchronous.ORDERS)
def test_events_end_where_sweeps_do_from_what_is_no_spin(dynamics):
    """Hidden units are zeros: on Couplings, too, the sweep that meets one gives it the sign of its field."""
    start = SPINS[0].copy()
    start[:4], start[6] = 0.0, 0.3 * start[6]
    with_events = retrieve(HEBB, start, dynamics=dynamics, key=KEY)
    by_sweeps = retrieve(CLASSICAL, start, dynamics=dynamics, key=KEY)
    assert np.array_equal(with_events.state, by_sweeps.state)
    assert set(np.abs(with_events.state)) == {1.0}
    np.testing.assert_allclose(with_events.energy, HEBB.energy(with_events.state), rtol=1e-12)


def test_a_state_takes_the_precision_of_its_memory():
    memory = Memory(ROWS.astype(np.float32), 2.0)
    half = STATE.astype(np.float16)
    found = retrieve(memory, half)
    assert found.state.dtype == jnp.float32
    assert jnp.array_equal(found.state, retrieve(memory, half.astype(np.float32)).state)


def test_a_limit_beyond_what_loops_count_is_no_limit():
    assert int(retrieve(MODERN, STATE, max_steps=10**12).status) == 0


@pytest.mark.parametrize("draw", ["biased", "correlated", "sphere", "flip", "hide", "noise"])
def test_a_number_that_is_none_spoils_what_is_drawn_with_it(draw):
    if draw in ("biased", "correlated", "sphere"):
        drawn = jax.jit(lambda number: getattr(patterns, draw)(KEY, 2, 6, number))(jnp.nan)
    else:
        drawn = jax.jit(lambda number: getattr(patterns, draw)(KEY, SPINS[0], number))(jnp.nan)
    assert jnp.all(jnp.isnan(drawn))


def test_couplings_of_one_neuron_and_none_hidden_still_relax():
    assert int(retrieve(Couplings(np.zeros((1, 1))), [1.0], dynamics="sequential").status) == 0


@pytest.mark.parametrize("kind", [int, float])
def test_masked_entries_are_no_numbers(kind):
    masked = np.ma.array(np.ones((2, 2), kind), mask=[[0, 1], [0, 0]])
    with pytest.raises(ValueError, match=r"^query must be an array of real numbers, got MaskedArray masked_array"):
        attention.attend(masked, np.eye(2), np.eye(2))
    with pytest.raises(ValueError, match=r"^mask must be boolean, got MaskedArray"):
        Memory(np.ones((2, 2)), mask=np.ma.array([True, False], mask=[True, False]))


@pytest.mark.parametrize("length", [2**32 + 2, np.array([2**32 + 2]), np.array([2**63 + 2], np.uint64), [2**40]])
def test_counts_beyond_32_bits_are_held_at_the_largest(length):
    with jax.enable_x64(False):
        assert np.all(attention.padding(length).dense(1, 7))
        with pytest.raises(ValueError, match="lengths must not be negative"):
            attention.padding(np.array([2 - 2**32]))
