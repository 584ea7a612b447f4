"""Weighted medians against the least value on a fine grid, and against their closed forms."""

import jax.numpy as jnp
import numpy as np
import pytest

from hopfield._numerics import shrunk_median

GRID = np.linspace(-4.0, 4.0, 160_001)


@pytest.mark.parametrize("stiffness", [0.0, 0.3, 1.0, 20.0])
@pytest.mark.parametrize("seed", range(5))
def test_no_point_of_a_grid_is_lower(stiffness, seed):
    rng = np.random.default_rng(seed)
    points, weights = rng.normal(size=7), rng.random(7)
    cost = lambda t: 0.5 * stiffness * t**2 + np.abs(t[:, None] - points) @ weights
    found = np.asarray(shrunk_median(jnp.asarray(points), jnp.asarray(weights), stiffness))
    assert cost(found[None])[0] <= np.min(cost(GRID)) + 1e-12


def test_a_single_point_is_kept_or_shrunk_by_its_weight():
    """argmin ½ t² + w |t − 2| is 2 where w ≥ 2, and w below."""
    shrunk = [float(shrunk_median(jnp.array([2.0]), jnp.array([w]), 1.0)) for w in (0.5, 1.5, 2.0, 9.0)]
    assert shrunk == [0.5, 1.5, 2.0, 2.0]
    assert np.isnan(shrunk_median(jnp.array([2.0]), jnp.array([jnp.nan]), 1.0))
