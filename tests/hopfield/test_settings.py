"""Settings of JAX that check programs: the library works under them, or says why it cannot."""

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest

from hopfield import Memory, large, memories, retrieve

PATTERNS = np.array([[1, 1, -1, 1, -1, 1], [1, -1, 1, 1, 1, -1]], np.float32)


@pytest.mark.parametrize("mask", [None, np.array([True, True])], ids=["blocks", "at once"])
def test_the_share_of_no_target_is_no_error_of_numbers(mask):
    memory = Memory(PATTERNS, 0.1, mask=mask)
    with jax.debug_nans(True):
        assert np.isnan(memory.statistics(jnp.asarray(PATTERNS[0])).target_weight)
        if mask is None:
            assert np.isnan(large.statistics(memory, jnp.asarray(PATTERNS)).statistics.target_weight).all()


def test_a_network_without_energy_says_so_where_nan_is_an_error():
    network = memories.find("adatron").build(PATTERNS)
    with jax.debug_nans(True), pytest.raises(FloatingPointError, match="asymmetric couplings"):
        retrieve(network, PATTERNS[0])


def test_nullable_numbers_of_pandas_are_numbers():
    frame = pd.DataFrame(PATTERNS).astype("Float64")
    np.testing.assert_array_equal(Memory(frame).patterns, PATTERNS)
    with pytest.raises(ValueError, match="real numbers"):
        Memory(frame.replace(-1, pd.NA))
