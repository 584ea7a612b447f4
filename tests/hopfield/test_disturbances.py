"""Disturbed couplings: symmetric without a diagonal, right in size, and harmless where nothing is disturbed."""

import jax
import numpy as np
import pytest

from hopfield import Couplings, Memory, hebb_couplings, memories
from hopfield.disturbances import clipped, diluted, noisy
from hopfield.networks.binary import covariance_network

RNG = np.random.default_rng(8)
SPINS = RNG.choice([-1.0, 1.0], (9, 40))
HEBB = hebb_couplings(memories.find("classical").build(SPINS))
KEY = jax.random.key(4)


@pytest.mark.parametrize(
    ("disturb", "kept"),
    [(clipped, 2 / np.pi), (lambda w: diluted(w, KEY, 0.4), 1.0), (lambda w: noisy(w, KEY, 0.5), 1.0)],
    ids=["clipped", "diluted", "noisy"],
)
def test_disturbed_couplings_are_couplings_with_a_part_along_those_before(disturb, kept):
    """Clipped Gaussian couplings keep E|w|² / E w² = 2/π; couplings with random additions keep all."""
    disturbed = disturb(HEBB)
    assert isinstance(disturbed, Couplings)
    matrix, before = np.asarray(disturbed.matrix), np.asarray(HEBB.matrix)
    np.testing.assert_array_equal(matrix, matrix.T)
    np.testing.assert_array_equal(np.diag(matrix), 0.0)
    part = disturbed.scale * np.sum(matrix * before) / (HEBB.scale * np.sum(before**2))
    assert part == pytest.approx(kept, abs=0.12)


def test_clipped_couplings_are_the_nearest_of_one_size():
    found = clipped(HEBB)
    assert set(np.unique(found.matrix)) == {-1.0, 0.0, 1.0}
    signs, couplings = np.asarray(found.matrix), np.asarray(HEBB.scale * HEBB.matrix)
    assert float(found.scale) == pytest.approx(np.sum(signs * couplings) / np.sum(signs**2), rel=1e-12)  # least squares


def test_the_disturbance_is_as_large_as_said():
    """Variances of what is added over the couplings': (1−c)/c, and δ²."""
    off = ~np.eye(40, dtype=bool)
    before = np.asarray(HEBB.scale * HEBB.matrix)[off]
    for found, expected in ((diluted(HEBB, KEY, 0.4), 0.6 / 0.4), (noisy(HEBB, KEY, 0.5), 0.25)):
        added = np.asarray(found.scale * found.matrix)[off] - before
        assert np.mean(added**2) / np.mean(before**2) == pytest.approx(expected, rel=0.15)


def test_fields_of_diluted_couplings_are_zero_where_the_kept_ones_cancel():
    """Integers stay integers: divided by a share of 0.3 they would leave rounding, not a tie."""
    cut = diluted(HEBB, KEY, 0.3)
    exact = np.where(np.asarray(cut.matrix) != 0, np.asarray(HEBB.matrix, int), 0) @ SPINS.T.astype(int)
    fields = jax.vmap(cut.local_field)(SPINS)
    assert (exact == 0).any()
    np.testing.assert_array_equal(np.asarray(fields).T == 0, exact == 0)


def test_a_classical_memory_and_a_bias_are_taken():
    memory = memories.find("classical").build(SPINS)
    np.testing.assert_array_equal(clipped(memory).matrix, clipped(HEBB).matrix)
    biased = covariance_network((SPINS > 0) * 1.0, 0.3).couplings()
    found = clipped(biased)
    np.testing.assert_allclose(found.scale * found.bias, biased.scale * biased.bias, rtol=1e-12)
    with pytest.raises(ValueError, match="model must be classical"):
        diluted(Memory(SPINS), KEY, 0.5)
    with pytest.raises(ValueError, match="keep must be from 1e-6 to 1"):
        diluted(memory, KEY, 0.0)
