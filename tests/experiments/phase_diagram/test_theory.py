"""Lines of replica theory in phase diagrams: explicit curves against the solved equations."""

import numpy as np
import pytest

from experiments.phase_diagram import theory
from hopfield.theory import replicas


@pytest.mark.slow
def test_lines_of_dense_memories_are_those_of_the_solved_equations():
    lines = theory.dense_lines(3)
    found = replicas.dense_spinodal_temperature(lines.spinodal[7], 3)
    assert found == pytest.approx(lines.temperature[7], abs=2e-4)
    for number in (1, 5):
        load, temperature = lines.thermodynamic[number], lines.temperature[number]
        energies = [replicas.dense_replica(load * by, 3, temperature).free_energy for by in (0.9, 1.1)]
        free = [replicas.dense_replica(load * by, 3, temperature, retrieval=False).free_energy for by in (0.9, 1.1)]
        assert energies[0] < free[0]
        assert energies[1] > free[1]
    held = np.isfinite(lines.thermodynamic)
    assert np.all(np.array(lines.thermodynamic)[held] < np.array(lines.spinodal)[held])
    assert not held[-1], "close to the end of retrieval its states are metastable at every load"


def test_the_glass_of_even_degree_begins_where_its_paramagnet_ends():
    """n = 4: C(q) = 9q + 6q³, so that the paramagnet ends at T² = 9α."""
    lines = theory.dense_lines(4)
    np.testing.assert_allclose(lines.glass, np.array(lines.temperature) ** 2 / 9, rtol=1e-6)
    for by, stable in ((0.97, True), (1.03, False)):
        found = replicas.dense_replica(lines.glass[6] * by, 4, lines.temperature[6], retrieval=False)
        assert found.stable == stable
