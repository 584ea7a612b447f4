"""The Triton kernel of asynchronous dynamics in the interpreter: flip for flip what any device does."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield import Couplings, hebb_couplings, memories
from hopfield._pytrees import changed
from hopfield.dynamics import asynchronous
from hopfield.packed import packed_couplings
from hopfield.patterns import spins
from tests.hopfield.interpreter import take_for_gpu

pytest.importorskip("triton", reason="the extra kernels is not installed")


@pytest.fixture
def on_gpu(monkeypatch):
    yield partial(take_for_gpu, monkeypatch)
    jax.clear_caches()


def network(kind, neurons, seed):
    patterns = spins(jax.random.key(seed), max(neurons // 6, 1), neurons).astype(jnp.float32)
    memory = memories.find("classical").build(patterns)
    if kind == "packed":
        return packed_couplings(memory)
    if kind == "hebb":
        return hebb_couplings(memory)
    drawn = np.random.default_rng(seed).normal(size=(neurons, neurons))
    return Couplings((drawn + drawn.T).astype(np.float32))


@pytest.mark.parametrize("kind", ["packed", "hebb", "gaussian"])
@pytest.mark.parametrize("neurons", [1, 5, 33, 64, 130])
@pytest.mark.parametrize("dynamics", asynchronous.ORDERS)
def test_flips_are_those_of_the_loop_of_any_device(kind, neurons, dynamics, on_gpu):
    """Two networks of three queries each, one with a neuron that may not move and one with a unit that has no spin."""
    models = [network(kind, neurons, seed) for seed in (0, 1)]
    stacked = jax.tree.map(lambda *x: jnp.stack(x), *models)
    states = spins(jax.random.key(5), 3, neurons).astype(jnp.float32).at[1, 0].set(0.0)
    known = jnp.zeros((3, neurons), bool).at[2, 0].set(True)
    keys = jax.random.split(jax.random.key(9), 3)

    def relaxed(model):
        one = lambda state, key, known: asynchronous._relax(model, state, key, 7, known, dynamics=dynamics)
        return jax.vmap(one)(states, keys, known)

    expected = jax.vmap(relaxed)(stacked)
    on_gpu()
    found = jax.vmap(relaxed)(stacked)
    for name in asynchronous.Retrieval._fields:
        np.testing.assert_array_equal(getattr(found, name), getattr(expected, name), err_msg=name)
    assert int(expected.flips.max()) > 0 or neurons == 1


def test_a_field_that_is_not_a_number_makes_its_spin_none(on_gpu):
    model = network("hebb", 20, 0)
    model = changed(model, matrix=model.matrix.at[3, 4].set(jnp.nan).at[4, 3].set(jnp.nan))
    state = spins(jax.random.key(5), 1, 20)[0].astype(jnp.float32)
    relax = lambda: asynchronous.relax(model, state, key=jax.random.key(0), max_steps=5)
    expected = relax()
    on_gpu()
    np.testing.assert_array_equal(relax().state, expected.state)
    assert np.isnan(expected.state[3])
