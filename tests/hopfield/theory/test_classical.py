"""Replica theory, its lines, and the exact one-step error, each against a second route in plain numpy."""

import itertools

import numpy as np
import pytest
from scipy.special import erf
from scipy.stats import binom

from hopfield.theory import classical

Z = np.linspace(-10, 10, 20_001)
GAUSS = np.exp(-(Z**2) / 2) / np.sqrt(2 * np.pi) * 1e-3


def free_energy(m: float, q: float, r: float, load: float, temperature: float) -> float:
    """AGS 1985, equation for f, with a plain trapezoidal average."""
    beta, c = 1 / temperature, (1 - q) / temperature
    field = np.abs(beta * (m + np.sqrt(load * r) * Z))
    entropy = np.sum(GAUSS * (field + np.log1p(np.exp(-2 * field))))
    glass = load / (2 * beta) * (np.log(1 - c) - beta * q / (1 - c))
    return load / 2 + m**2 / 2 + load * beta * r * (1 - q) / 2 + glass - temperature * entropy


def iterate(load: float, temperature: float) -> tuple[float, float, float]:
    """The saddle-point equations iterated from a perfect pattern."""
    m, q, r = 1.0, 1.0, 1.0
    for _ in range(4000):
        average = np.tanh((m + np.sqrt(load * r) * Z) / temperature)
        previous = m
        m, q = np.sum(GAUSS * average), np.sum(GAUSS * average**2)
        r = q / (1 - (1 - q) / temperature) ** 2
        if abs(m - previous) < 1e-15 or m < 1e-3:
            break
    return m, q, r


def test_critical_load_is_0_1379056_at_overlap_0_967417():
    load, overlap = classical.spinodal()
    assert load == pytest.approx(0.1379056, abs=5e-8)
    assert overlap == pytest.approx(0.967417, abs=5e-7)
    y = np.linspace(1, 2, 100_001)
    root = erf(y) / y - 2 / np.sqrt(np.pi) * np.exp(-(y**2))
    assert load == pytest.approx(np.max(root**2 / 2), abs=1e-10)
    assert classical.spinodal_load(0.0) == pytest.approx(load, abs=1e-13)


@pytest.mark.parametrize("load", [1e-3, 0.02, 0.06, 0.1, 0.13])
@pytest.mark.parametrize("temperature", [0.05, 0.15, 0.3, 0.45, 0.6, 0.8])
def test_replica_is_where_iteration_from_the_pattern_ends(load, temperature):
    m, q, r = iterate(load, temperature)
    found = classical.replica(load, temperature)
    if m < 1e-3:
        assert np.isnan(found).all()
        assert load > classical.spinodal_load(temperature)
    else:
        np.testing.assert_allclose(found[:3], (m, q, r), rtol=1e-9)
        assert found.free_energy == pytest.approx(free_energy(m, q, r, load, temperature), abs=1e-11)


@pytest.mark.parametrize("load", [0.01, 0.05, 0.1, 0.1379])
def test_zero_temperature_solves_the_error_function_equations(load):
    m, _, r, _ = classical.replica(load)
    noise = np.sqrt(2 * load * r)
    assert m == pytest.approx(erf(m / noise), abs=1e-12)
    c = np.sqrt(2 / (np.pi * load * r)) * np.exp(-((m / noise) ** 2))
    assert r == pytest.approx(1 / (1 - c) ** 2, rel=1e-9)


def test_retrieval_ends_at_the_spinodal_over_the_whole_plane():
    temperature = np.linspace(0, 0.99, 34)
    edge = classical.spinodal_load(temperature)
    inside = classical.replica(edge * (1 - 1e-6), temperature)
    assert not np.isnan(inside).any()
    assert np.isnan(classical.retrieval_overlap(edge * (1 + 1e-6), temperature)).all()
    grid = classical.retrieval_overlap(np.linspace(0, 1, 12)[:, None] * edge, temperature)
    assert np.all(np.diff(grid, axis=0)[:, 3:] < 0)  # at the lowest temperatures m = 1 to rounding
    assert np.all(np.diff(grid, axis=0) <= 1e-15)
    assert np.isnan(classical.retrieval_overlap(0.138, 0.0))


@pytest.mark.slow
def test_phase_lines_leave_the_temperature_axis_with_the_published_slopes():
    # near T = 1: 1 − T = √α/√a with a = 4x(1−x)²/(3−2x), largest at x = (9−√33)/8
    x = (9 - np.sqrt(33)) / 8
    slope = np.sqrt((3 - 2 * x) / (4 * x)) / (1 - x)
    load = 1e-8
    assert (1 - classical.spinodal_temperature(load)) / 1e-4 == pytest.approx(slope, rel=1e-3)
    assert slope == pytest.approx(1.95, abs=5e-3)
    assert (1 - classical.thermodynamic_temperature(load)) / 1e-4 == pytest.approx(2.6, abs=5e-3)
    assert classical.spinodal_temperature(0.0) == classical.thermodynamic_temperature(0.0) == 1.0
    assert classical.spin_glass_temperature(0.25) == 1.5


@pytest.mark.slow
@pytest.mark.parametrize("load", [1e-4, 0.01, 0.03, 0.05])
def test_free_energies_cross_on_the_thermodynamic_line(load):
    temperature = classical.thermodynamic_temperature(load)
    assert classical.thermodynamic_load(temperature) == pytest.approx(load, rel=1e-9)
    for factor, sign in ((0.99, -1), (1.002, 1)):
        t = temperature * factor
        difference = classical.replica(load, t).free_energy - classical.spin_glass(load, t).free_energy
        assert np.sign(difference) == sign


def enumerate_one_step(neurons: int, patterns: int, flipped: int, self_coupling: bool) -> float:
    """Average over every set of patterns; a flipped start is the same for all by symmetry."""
    states = np.array(list(itertools.product([-1, 1], repeat=neurons * patterns)))
    xi = states.reshape(-1, patterns, neurons)
    x = xi[:, 0] * np.where(np.arange(neurons) < flipped, -1, 1)
    field = np.einsum("smi,smj,sj->si", xi, xi, x) - (0 if self_coupling else patterns) * x
    after = np.where(field == 0, x, np.sign(field))
    return float(np.mean(after != xi[:, 0]))


@pytest.mark.parametrize("self_coupling", [False, True], ids=["no_self", "self"])
@pytest.mark.parametrize(
    ("neurons", "patterns", "flipped"),
    [(5, 3, 0), (5, 3, 2), (4, 4, 0), (4, 4, 1), (3, 5, 1), (6, 2, 3), (7, 2, 0), (2, 5, 2), (1, 6, 0), (5, 1, 2)],
)
def test_one_step_error_equals_complete_enumeration(neurons, patterns, flipped, self_coupling):
    expected = enumerate_one_step(neurons, patterns, flipped, self_coupling)
    got = classical.one_step_error(neurons, patterns, flipped / neurons, self_coupling=self_coupling)
    assert got == pytest.approx(expected, abs=1e-14)


def test_one_step_error_is_the_binomial_tail_and_tends_to_the_error_function():
    neurons, patterns = np.array([100, 1000, 4000, 4000]), np.array([14, 131, 400, 560])
    terms = (neurons - 1) * (patterns - 1)
    tail = binom.cdf(np.ceil((terms - (neurons - 1)) / 2) - 1, terms, 0.5)
    np.testing.assert_allclose(classical.one_step_error(neurons, patterns), tail, rtol=1e-9)
    sizes = np.array([500, 5000, 50_000])
    ratio = classical.one_step_error(sizes, 0.1 * sizes) / classical.one_step_error_asymptotic(0.1)
    assert np.all(np.diff(np.abs(ratio - 1)) < 0)
    assert ratio[-1] == pytest.approx(1, abs=2e-3)


def test_fixed_point_probability_matches_simulation_of_large_networks():
    rng = np.random.default_rng(8)
    neurons, patterns, samples = 500, 45, 400
    stable = 0
    for _ in range(samples):
        xi = rng.choice([-1.0, 1.0], size=(patterns, neurons))
        stable += np.all(xi[0] * (xi.T @ (xi @ xi[0])) - patterns >= 0)
    expected = classical.fixed_point_probability(neurons, patterns)
    assert 0.7 < expected < 0.9
    assert abs(stable / samples - expected) < 3.5 * np.sqrt(expected * (1 - expected) / samples) + 0.01


def test_mceliece_counts():
    assert classical.mceliece(1000) == pytest.approx(72.38, abs=0.01)
    assert classical.mceliece(1000, all_patterns=True) == pytest.approx(36.19, abs=0.01)
