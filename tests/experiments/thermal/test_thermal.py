"""Continuous memories at a temperature: chains beside the exact mean of one pattern, and the two energies."""

from typing import Any

import jax.numpy as jnp
import numpy as np
import pandas
import pytest

from experiments.thermal.experiment import Config, Program, _memory, measure, panels, points, summarise
from tests.experiments.estimates import rows


@pytest.mark.slow
def test_few_patterns_leave_the_overlap_of_one_pattern():
    """N = 16 and M = 2 at low temperatures: no chain leaves for the other pattern in the time that there is."""
    config = Config(neurons=[16], loads=[0.05], temperatures=[0.05, 0.1], length=200, sharpness=4.0)
    table: Any = pandas.DataFrame(measure(config, points(config)))
    summary = summarise(table)
    for row in rows(summary, "overlap"):
        assert row["value"] == pytest.approx(row["theory"], abs=0.005), row
        assert row["patterns"] == 2
    assert table["rhat"].max() < 1.05
    assert len(panels(table, summary)) == 5


@pytest.mark.parametrize("kernel", ["lse", "lsr"])
def test_energies_are_those_of_their_formulas(kernel):
    stored = np.random.default_rng(2).normal(size=(5, 9)).astype(np.float32)
    x = stored[0] / np.linalg.norm(stored[0]) * 3
    memory, _ = _memory(Program(kernel, 9, 5, 2.0, 2, 8, 1, 0), jnp.asarray(stored))
    m = stored @ x / 9
    by_hand = {
        "lse": -np.log(np.sum(np.exp(2 * 9 * m))) / 2,
        "lsr": -9 / 2 * np.log(np.sum(np.maximum(1 - 2 + 2 * m, 0))),
    }
    assert float(memory.energy(jnp.asarray(x))) == pytest.approx(by_hand[kernel], rel=1e-4)
