"""Critical initial overlaps: closed forms, fixed points, and networks simulated in plain numpy."""

import numpy as np
import pytest
from scipy.special import erf

from hopfield.theory import basins, spherical
from hopfield.theory import classical as classical_theory


def start(rng, pattern, overlap):
    """The pattern with round(N (1 − m)/2) spins flipped."""
    state = pattern.copy()
    flipped = rng.permutation(pattern.size)[: round(pattern.size * (1 - overlap) / 2)]
    state[flipped] *= -1
    return state


@pytest.mark.parametrize("load", [0.02, 0.1, 0.3])
def test_first_step_is_the_asymptotic_one_step_error(load):
    overlap = np.array([0.0, 0.2, 0.7, 1.0])
    error = classical_theory.one_step_error_asymptotic(load, (1 - overlap) / 2)
    np.testing.assert_allclose(basins.neurodynamics(load, overlap), 1 - 2 * error, atol=1e-14)
    np.testing.assert_array_equal(basins.neurodynamics(load, overlap, 0), overlap)


@pytest.mark.parametrize(("load", "overlap"), [(0.08, 0.5), (0.15, 0.6)])
def test_second_step_feels_the_patterns_of_the_first(load, overlap):
    """Against networks in numpy; without the memory of the crosstalk the second step would lie clearly above."""
    rng, neurons = np.random.default_rng(0), 2000
    ends = []
    for _ in range(12):
        patterns = rng.choice([-1.0, 1.0], size=(round(load * neurons), neurons))
        state = start(rng, patterns[0], overlap)
        for _ in range(2):
            field = patterns.T @ (patterns @ state) - len(patterns) * state  # own spin excluded
            state = np.where(field > 0, 1.0, -1.0)
        ends.append(state @ patterns[0] / neurons)
    predicted = basins.neurodynamics(load, overlap, 2)
    error = np.std(ends, ddof=1) / np.sqrt(len(ends))
    fresh = erf(basins.neurodynamics(load, overlap) / np.sqrt(2 * load))
    assert abs(np.mean(ends) - predicted) < 3 * error + 0.003 < fresh - predicted


def test_classical_basin_closes_at_the_capacity_of_neurodynamics():
    """Amari and Maginu: 0.159 to 0.160; below it the critical overlap grows with load, near the pattern at the end."""
    found = basins.classical(np.array([0.01, 0.05, 0.1, 0.15, 0.159, 0.161]))
    assert np.all(np.diff(found[:5]) > 0)
    assert np.isnan(found[5])
    for load, overlap in zip((0.05, 0.1, 0.15), found[1:4], strict=True):
        assert basins.neurodynamics(load, overlap + 1e-3, 500) > 0.9
        assert basins.neurodynamics(load, overlap - 1e-3, 500) < 0.5


@pytest.mark.physics
def test_projection_rule_answers_as_its_closed_form_says():
    """One synchronous step of ten networks of 240 spins without diagonal."""
    rng, neurons, load, overlap = np.random.default_rng(1), 240, 0.5, 0.6
    ends = []
    for _ in range(10):
        patterns = rng.choice([-1.0, 1.0], size=(round(load * neurons), neurons))
        basis = np.linalg.qr(patterns.T)[0]
        state = start(rng, patterns[0], overlap)
        field = basis @ (basis.T @ state) - np.sum(basis**2, axis=1) * state
        ends.append(np.sign(field) @ patterns[0] / neurons)
    predicted = erf(overlap * np.sqrt((1 - load) / (2 * load * (1 - overlap**2))))
    assert abs(np.mean(ends) - predicted) < 3 * np.std(ends, ddof=1) / np.sqrt(10) + 0.01


def test_projection_basins_shrink_from_a_load_of_two_over_two_plus_pi():
    edge = 1 / (1 + np.pi / 2)
    found = basins.basin_of_projection(np.array([0.1, edge - 1e-5, edge + 0.01, 0.6, 0.9, 0.999]))
    np.testing.assert_allclose(found[:2], 0, atol=1e-9)
    assert np.all(np.diff(found[1:]) > 0)
    assert found[2] > 0.1
    assert found[5] > 0.999
    m = found[3]
    assert erf(m * np.sqrt(0.4 / (1.2 * (1 - m**2)))) == pytest.approx(m, abs=1e-9)


def test_sphere_basin_is_the_nearest_pattern_s_until_many_patterns_win_together():
    beta = 2.0
    top = (np.sqrt(1 + 4 * beta**2) - 1) / (2 * beta)
    edge = -np.log(1 - top**2) / 2
    assert basins.basin_on_sphere(edge, beta) == pytest.approx(top, abs=1e-12)
    assert basins.basin_on_sphere(edge + 1e-9, beta) == pytest.approx(top, abs=1e-8)
    np.testing.assert_allclose(
        basins.basin_on_sphere([0.1, 0.3], [2.0, 50.0]), np.sqrt(1 - np.exp([-0.2, -0.6])), rtol=1e-13
    )
    highest = spherical.typical_load(beta)
    assert basins.basin_on_sphere(highest - 1e-12, beta) == pytest.approx(1, abs=1e-9)
    assert np.isnan(basins.basin_on_sphere(highest + 1e-9, beta))
    # between, the target's score λm equals the free energy of the others, α + ln ∫ e^(λNt) / N
    load = (edge + highest) / 2
    free_energy = load + beta * top + np.log(1 - top**2) / 2
    assert basins.basin_on_sphere(load, beta) == pytest.approx(free_energy / beta, abs=1e-12)


def test_nearest_pattern_is_the_sphere_s_basin_in_many_dimensions():
    neurons, load = 200, 0.15
    patterns = round(np.exp(load * neurons))
    middle = basins.nearest_pattern(neurons, patterns)
    assert middle == pytest.approx(basins.basin_on_sphere(load, 10.0), abs=0.02)
    assert basins.nearest_pattern_share(neurons, patterns, middle) == pytest.approx(0.5, abs=1e-9)
