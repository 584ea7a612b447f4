"""Replica theory of dense memories at any temperature, and where the symmetry of replicas breaks."""

import numpy as np
import pytest

from hopfield.theory import dense, replicas


@pytest.mark.parametrize("degree", [3, 4])
def test_zero_temperature_is_the_iterated_step(degree):
    load = 0.7 * float(dense.spinodal(degree).load)
    found = replicas.dense_replica(load, degree, 0.0)
    assert found.overlap == pytest.approx(float(dense.retrieval_overlap(load, degree)), abs=1e-6)
    assert np.isnan(replicas.dense_replica(1.01 * float(dense.spinodal(degree).load), degree, 0.0).overlap)


@pytest.mark.parametrize(("degree", "load", "retrieval"), [(3, 0.05, True), (4, 0.005, True), (3, 0.05, False)])
def test_the_free_energy_is_stationary(degree, load, retrieval):
    found = replicas.dense_replica(load, degree, 0.3, retrieval=retrieval)

    def energy(m, q):
        return replicas._free_energy(degree, load, 0.3, m, q)

    step = 1e-4
    along_q = energy(found.overlap, found.q + step) - energy(found.overlap, found.q - step)
    assert along_q / (2 * step) == pytest.approx(0.0, abs=1e-6)
    if retrieval:
        along_m = energy(found.overlap + step, found.q) - energy(found.overlap - step, found.q)
        assert along_m / (2 * step) == pytest.approx(0.0, abs=1e-6)


@pytest.mark.slow
def test_without_load_the_spinodal_is_that_of_one_pattern():
    """m = tanh(m²/T) has a solution up to T = max m²/artanh m = 0.5829."""
    m = np.linspace(0.5, 0.999, 5000)
    assert replicas.dense_spinodal_temperature(0.0, 3) == pytest.approx(np.max(m**2 / np.arctanh(m)), abs=1e-3)
    assert np.isnan(replicas.dense_spinodal_temperature(0.09, 3))


def test_the_line_of_de_almeida_and_thouless_has_its_published_limit():
    """T_R → √(8α/9π) e^(−1/2α) as α → 0 (AGS 1987): 1.09 of it at α = 0.08, 1.28 at 0.1, and lost below 1e-4."""
    assert np.isnan(replicas.almeida_thouless_temperature(0.03))
    ratios = [
        replicas.almeida_thouless_temperature(load) / (np.sqrt(8 * load / (9 * np.pi)) * np.exp(-0.5 / load))
        for load in (0.08, 0.1)
    ]
    assert ratios == pytest.approx([1.09, 1.28], abs=0.01)


@pytest.mark.slow
@pytest.mark.parametrize(("degree", "temperature"), [(3, 0.05), (3, 0.5344), (3, 0.567), (4, 0.4692), (4, 0.479)])
def test_the_load_of_the_spinodal_is_that_of_states_solved_one_by_one(degree, temperature):
    """Also where little load is left: a state below it, none above, to 3e-4 of it."""
    load = replicas.dense_spinodal_load(degree, temperature)
    assert np.isfinite(replicas.dense_replica(load * (1 - 3e-4), degree, temperature).overlap)
    assert np.isnan(replicas.dense_replica(load * (1 + 3e-4), degree, temperature).overlap)
