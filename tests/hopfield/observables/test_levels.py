"""One row of levels beside the closed form of two of them, a gap Δ apart (Schottky's anomaly)."""

import jax.numpy as jnp
import numpy as np
import pytest

from hopfield.observables import _levels
from hopfield.separations import LogSumExp

GAP, BETA = 1.5, 0.8
RATIO = np.exp(-BETA * GAP)


@pytest.mark.parametrize("top", [0.0, 3.0])
def test_two_levels_have_their_closed_form(top):
    scores, used = jnp.array([top - GAP, top, 9.0, -jnp.inf]), jnp.array([True, True, False, True])
    row = _levels.levels_of(scores, used, jnp.asarray(BETA), LogSumExp())
    upper = RATIO / (1 + RATIO)
    expected = {
        "weights_of": [upper, 1 - upper, 0.0, 0.0],
        "log_partition": BETA * top + np.log1p(RATIO),
        "free_energy": -top - np.log1p(RATIO) / BETA,
        "mean_energy": -top + GAP * upper,
        "thermal_entropy": np.log1p(RATIO) + BETA * GAP * upper,
        "energy_variance": GAP**2 * upper * (1 - upper),
        "heat_capacity": (BETA * GAP) ** 2 * upper * (1 - upper),
    }
    for name, value in expected.items():
        np.testing.assert_allclose(getattr(_levels, name)(row, LogSumExp()), value, rtol=1e-12, err_msg=name)
