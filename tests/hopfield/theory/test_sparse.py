"""Sparse theory: the classical limit, published numbers, and small cases by enumeration or by drawing."""

import numpy as np
import pytest

from hopfield.theory import classical, sparse


def test_half_activity_and_offset_is_the_classical_network():
    found = sparse.spinodal(0.5, 0.5)
    load, overlap = classical.spinodal()
    assert found.load == pytest.approx(load, rel=1e-9)
    assert found.overlap == pytest.approx(overlap, rel=1e-5)
    assert found.threshold == pytest.approx(0.0, abs=1e-6)


def test_plain_binary_neurons_bear_half_as_much_at_half_activity_and_more_when_sparse():
    assert sparse.spinodal(0.5, 0.0).load == pytest.approx(0.069, abs=0.001)
    loads = [sparse.spinodal(a, 0.0).load for a in (0.3, 0.1, 0.03, 0.01)]
    assert np.all(np.diff(loads) > 0)
    ratios = [sparse.spinodal(a, 0.0).load / sparse.sparse_limit(a) for a in (1e-2, 1e-4, 1e-8, 1e-16)]
    assert np.all(np.diff(ratios) > 0)
    assert 0.6 < ratios[-1] < 1


def test_published_capacities_of_disturbed_couplings():
    """Sompolinsky 1987: 0.102 for clipped couplings; 2/(π κ), that is 2c/π, for few couplings that are kept."""
    assert sparse.disturbed_critical_load(0.0) == pytest.approx(classical.spinodal().load, rel=1e-8)
    assert sparse.disturbed_critical_load(sparse.CLIPPED) == pytest.approx(0.102, abs=5e-4)
    keep = np.array([1e-2, 1e-4, 1e-6, 1e-8])
    shares = sparse.disturbed_critical_load(sparse.dilution(keep)) / keep / (2 / np.pi)
    assert np.all(np.diff(shares) > 0)
    assert 0.99 < shares[-1] < 1


def test_one_step_shares_are_those_of_drawn_patterns():
    rng = np.random.default_rng(0)
    neurons, a, count, threshold = 200, 0.1, 60, 0.45
    on, off = [], []
    for _ in range(20):
        patterns = (rng.random((count, neurons)) < a).astype(float)
        rows = patterns - a
        field = rows.T @ (rows @ patterns[0]) / (a * (1 - a) * neurons)
        field -= np.sum(rows**2, axis=0) * patterns[0] / (a * (1 - a) * neurons)  # the diagonal
        on.append(np.mean(field[patterns[0] == 1] > threshold))
        off.append(np.mean(field[patterns[0] == 0] > threshold))
    expected = sparse.one_step_shares(neurons, count, a, threshold)
    assert np.mean(on) == pytest.approx(expected[0], abs=0.06)
    assert np.mean(off) == pytest.approx(expected[1], abs=0.008)


def test_willshaw_errors_are_those_of_drawn_patterns():
    rng = np.random.default_rng(1)
    neurons, active, patterns = 128, 5, 300
    on = np.argsort(rng.random((patterns, neurons)), axis=1)[:, :active]
    rows = np.zeros((patterns, neurons))
    np.put_along_axis(rows, on, 1.0, axis=1)
    synapses = (rows.T @ rows > 0) & ~np.eye(neurons, dtype=bool)
    assert synapses.sum() / (neurons * (neurons - 1)) == pytest.approx(
        float(sparse.willshaw_density(neurons, patterns, active)), abs=0.01
    )
    wrong = np.mean((rows @ synapses == active)[rows == 0])
    assert wrong == pytest.approx(float(sparse.willshaw_error(neurons, patterns, active)), rel=0.15)


def test_willshaw_approaches_ln_2_bits_per_synapse_at_half_density():
    found = []
    for power in (10, 20, 40):
        neurons = 2**power
        patterns = round(np.log(2) * (neurons / power) ** 2)
        assert sparse.willshaw_density(neurons, patterns, power) == pytest.approx(0.5, abs=0.06)
        found.append(float(sparse.willshaw_information(neurons, patterns, power)))
    assert found[0] < found[1] < found[2] < np.log(2)
    assert found[2] > 0.6
