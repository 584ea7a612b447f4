"""Memory of compiled programs."""

import jax
import pytest

from experiments.shared import footprint
from hopfield.attention import attend, attend_blockwise

ROWS = jax.random.normal(jax.random.key(0), (4096, 16))


@pytest.mark.skipif(not footprint.PEAK.exists(), reason="the growth of a process is read on Linux")
def test_all_scores_at_once_are_counted_whoever_holds_them():
    held = [
        footprint.temporary_bytes(jax.jit(read).lower(ROWS, ROWS, ROWS).compile(), ROWS, ROWS, ROWS)
        for read in (attend, attend_blockwise)
    ]
    assert held[0] > 0.9 * 4 * 4096**2
    assert held[1] < 0.5 * held[0]
