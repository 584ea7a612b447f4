"""Loads that any couplings can hold: Cover's count beside linear programmes, Gardner's bound with a bias."""

import numpy as np
import pytest

from hopfield.theory import bounds, gardner
from tests.hopfield.memories.test_learned import holdable

RNG = np.random.default_rng(12)


@pytest.mark.slow
@pytest.mark.parametrize("num_patterns", [24, 28, 34])
def test_the_share_of_spins_that_can_be_held_is_covers(num_patterns):
    """One spin of each of 300 draws of N = 15, so that all are independent; ½ at M = 2 (N − 1) = 28."""
    rows = np.sign(RNG.normal(size=(300, num_patterns, 15)))
    expected = float(gardner.cover(15, num_patterns))
    share = np.mean([holdable(draw) for draw in rows])
    assert abs(share - expected) < 4 * np.sqrt(expected * (1 - expected) / 300)


def test_gardners_bound_of_biased_patterns():
    """α_c(0) = 2 without bias (Cover); for m → 1 it grows without end; κ lowers it. v = 0 is best at m = 0."""
    assert gardner.critical_load(0.0, 0.0) == pytest.approx(2.0)
    assert gardner.critical_load(0.0, 0.5) > gardner.critical_load(0.0, 0.2) > 2.0
    assert gardner.critical_load(0.5, 1e-9) == pytest.approx(bounds.gardner(0.5), rel=1e-6)
    for load, mean in ((0.5, 0.0), (1.0, 0.5), (1.9, 0.2)):
        assert gardner.critical_load(gardner.largest_stability(load, mean), mean) == pytest.approx(load)
    assert gardner.largest_stability(2.1) == 0.0
    assert gardner.cover(31, 60) == pytest.approx(0.5)
    assert gardner.cover(31, 20) == pytest.approx(1.0)
