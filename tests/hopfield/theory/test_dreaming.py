"""Sleep: Hebb's theory where there is none, the equations of spins by another route, and networks that slept."""

import numpy as np
import pytest

from hopfield import memories
from hopfield.theory import classical, dreaming


def test_without_sleep_it_is_hebbs_rule():
    np.testing.assert_allclose(dreaming.spinodal(0.0), classical.spinodal(), rtol=1e-8)
    loads = np.array([0.0, 0.01, 0.05, 0.1, 0.137])
    np.testing.assert_allclose(dreaming.retrieval_overlap(loads, 0), classical.retrieval_overlap(loads), rtol=1e-11)
    assert np.isnan(dreaming.retrieval_overlap(0.14, 0))


def test_the_largest_load_rises_with_sleep_to_that_of_the_modified_interactions():
    """1.07 as published (Dotsenko, Yarunin & Dorotheyev 1991); patterns have no errors up to M = N then."""
    loads = [dreaming.spinodal(time).load for time in (0, 0.1, 0.5, 1, 2, 5, 10, 100, 1000)]
    assert (np.diff(loads) > 0).all()
    last = dreaming.spinodal(1e9).load
    assert last == pytest.approx(1.0678, abs=1e-4)
    assert dreaming.spinodal(1e18).load == pytest.approx(last, abs=1e-6)
    assert dreaming.retrieval_overlap(0.99, 1e9) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize(("time", "load"), [(0.5, 0.2), (1.0, 0.36), (10.0, 0.8)])
def test_overlaps_solve_the_equations_of_the_fields(time, load):
    """Iterated as the docstring writes them, moments over a grid of z, χ by Stein's lemma: no cubic."""
    z = np.linspace(-8, 8, 40_001)
    weight = np.exp(-(z**2) / 2) / np.exp(-(z**2) / 2).sum()
    mean, variance, gain = 1 / np.sqrt(1 + time), 0.01, load / (1 + time)
    for _ in range(400):
        field = mean + np.sqrt(variance) * z
        b = (np.sqrt(1 + time) * np.sign(field) - time * field) / (1 + time * gain)
        response = weight @ (b * z) / np.sqrt(variance)
        new = weight @ b, load * (weight @ b**2) / (1 - response) ** 2, load / (1 - response)
        mean, variance, gain = (0.7 * old + 0.3 * value for old, value in zip((mean, variance, gain), new, strict=True))
    overlap = weight @ np.sign(mean + np.sqrt(variance) * z)
    assert dreaming.retrieval_overlap(load, time) == pytest.approx(overlap, abs=1e-5)


def test_a_network_that_slept_ends_at_the_overlap_of_theory():
    """1100 spins at M/N = 0.33: descents from 60 patterns, 0.9972 beside 0.9791 at the largest load, 0.3866."""
    rng, neurons = np.random.default_rng(1), 1100
    rows = rng.choice([-1.0, 1.0], (round(0.33 * neurons), neurons))
    matrix, states = np.asarray(memories.find("dreaming:1").build(rows).matrix), rows[:60].T.copy()
    fields = matrix @ states
    for i in (i for _ in range(6) for i in rng.permutation(neurons)):
        turned = fields[i] * states[i] < 0
        fields[:, turned] -= 2 * np.outer(matrix[:, i], states[i, turned])
        states[i, turned] *= -1
    theory = dreaming.retrieval_overlap(0.33, 1.0)
    assert (states.T * rows[:60]).mean() == pytest.approx(theory, abs=1e-3)
