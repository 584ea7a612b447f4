"""Packed couplings against the whole matrix: rows, products, and retrievals flip for flip."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield import hebb_couplings, memories
from hopfield._pytrees import changed
from hopfield.dynamics import relax
from hopfield.packed import packed_couplings
from hopfield.patterns import corrupt, spins

N = 70


def memory(num_patterns, used=None):
    rows = spins(jax.random.key(3), num_patterns, N)
    mask = None if used is None else jnp.arange(num_patterns) < used
    return memories.find("classical").build(rows, mask=mask)


@pytest.mark.slow
@pytest.mark.parametrize(("num_patterns", "used"), [(1, None), (32, None), (45, None), (45, 21)])
def test_rows_and_products_are_those_of_the_matrix(num_patterns, used):
    whole, packed = (make(memory(num_patterns, used)) for make in (hebb_couplings, packed_couplings))
    rows = jax.lax.map(lambda i: packed.matrix[i], jnp.arange(N))
    np.testing.assert_array_equal(rows, whole.matrix)
    for state in (memory(num_patterns).patterns[0], np.arange(N) % 3 - 1.0):  # with hidden units, which are 0
        read = jax.jit(lambda network, x: (network.matrix @ x, network.energy(x), network.update(x)))
        for found, wanted in zip(read(packed, state), read(whole, state), strict=True):
            np.testing.assert_array_equal(found, wanted)


@pytest.mark.slow
@pytest.mark.parametrize("dynamics", ["asynchronous", "sequential"])
@pytest.mark.parametrize("num_patterns", [9, 12, 40])
def test_retrievals_are_the_same_flip_for_flip(dynamics, num_patterns):
    """Below and above capacity, with ties at the even number, from noisy starts and with clamped units."""
    stored = memory(num_patterns)
    whole, packed = hebb_couplings(stored), packed_couplings(stored)
    for seed in range(4):
        key = jax.random.key(seed)
        start, known = corrupt(key, stored.patterns[0], "flip", 0.1 * seed)
        ends = [
            relax(model, start, dynamics=dynamics, key=key, known=known if seed % 2 else None)
            for model in (whole, packed)
        ]
        assert ends[0].flips > 0 or seed == 0
        for one, other in zip(*ends, strict=True):
            np.testing.assert_array_equal(one, other)


def test_other_numbers_than_spins_are_refused_and_nan_stays():
    rows = np.ones((2, 5), np.float32)
    rows[1, 2] = 0.5
    build = lambda rows: packed_couplings(memories.find("classical").build(rows))
    with pytest.raises(ValueError, match=r"^patterns must be spins where couplings are packed, got other numbers$"):
        packed_couplings(changed(memories.find("classical").build(spins(jax.random.key(0), 2, 5)), patterns=rows))
    assert build(np.ones((2, 5))).matrix.shape == (5, 5)
    traced = jax.jit(lambda patterns: packed_couplings(memory(2).replace(patterns=patterns)).local_field(jnp.ones(5)))
    assert np.isnan(traced(rows)).all()
    assert np.isnan(build(np.ones((2, 5))).local_field(jnp.full(5, jnp.nan))).all()
