"""Dropout of some rows is the dropout of all of them, cut."""

import jax
import numpy as np
import pytest

from hopfield.layers._draws import kept_rows


@pytest.mark.parametrize("shape", [(1, 1, 40, 7), (2, 3, 40, 7)], ids=["shared", "each its own"])
@pytest.mark.parametrize("wide", [False, True], ids=["float32", "float64"])
def test_rows_are_those_of_one_draw(shape, wide):
    with jax.enable_x64(wide):
        key = jax.random.key(7)
        every = jax.random.bernoulli(key, 1.0 - 0.3, shape)
        for row in (0, 5, 33):
            found = kept_rows(key, 0.3, shape, row, 6)
            np.testing.assert_array_equal(found, every[..., row : row + 6, :])


def test_counters_carry_beyond_32_bits():
    """Heads so large that the third begins at 2^33: the number of its first weight is this place's."""
    shape = (3, 2**16, 2**15)  # 2^31 weights a head
    found = kept_rows(jax.random.key(1), 0.5, shape, 2**16 - 1, 1)
    first, second = (found[i] for i in (0, 2))
    assert found.shape == (3, 1, 2**15)
    assert 0.45 < float(np.mean(first == second)) < 0.55  # without the carry both heads would be alike
