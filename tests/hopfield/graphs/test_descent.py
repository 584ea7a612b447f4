"""Descent of random graphs: no step raises the energy.

`HOPFIELD_GRAPHS=all python -m pytest -rP tests/hopfield/graphs/test_descent.py` follows 1000 graphs, 20 of each of 50
structures, along 10,000 steps, and says by how much an energy rose at most: by 5.3e-7 of |E|. It takes 7 minutes of CPU
time.
"""

import os
import sys

import jax
import numpy as np
import pytest

from hopfield import graphs
from hopfield.dynamics import CONVERGED
from tests.hopfield.graphs.random_graphs import batch

EVERY = os.environ.get("HOPFIELD_GRAPHS") == "all"
STRUCTURES, DRAWS, STEPS = (50, 20, 10_000) if EVERY else (4, 10, 1000)


@pytest.mark.physics
@pytest.mark.parametrize("structure", range(STRUCTURES))
def test_no_step_raises_the_energy_of_random_graphs(structure: int) -> None:
    """In single precision. Layers without bounds may fall beyond all numbers, and then stay there."""
    with jax.enable_x64(False):
        many, keys = batch(structure, DRAWS), jax.random.split(jax.random.key(structure), DRAWS)

        @jax.jit
        @jax.vmap
        def descended(graph, key):
            found = graphs.descend(graph, graph.random(key, 2.0), STEPS, step_size=0.5)
            return found.energies, found.status

        energies, status = map(np.asarray, descended(many, keys))
    assert energies.dtype == np.float32
    rises = []
    for energy in energies.astype(float):
        finite = energy[: np.isfinite(energy).sum()]
        assert np.all(np.isneginf(energy[len(finite) :]))
        assert finite[-1] < finite[0]
        rises.append(np.max(np.diff(finite) / np.abs(finite[:-1])))
    at_rest = (status == CONVERGED).sum()
    sys.stdout.write(f"{DRAWS} graphs, {at_rest} at rest: rises {max(rises):.2g} of |E|\n")
    assert max(rises) <= 1e-6
