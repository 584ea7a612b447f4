import jax
import jax.numpy as jnp
import numpy as np
import pytest
from sklearn.datasets import load_digits

from hopfield.patterns import datasets

RNG = np.random.default_rng(0)


def test_to_norm_sets_every_norm_and_keeps_directions_and_zeros():
    rows = RNG.normal(size=(4, 9))
    rows[2] = 0.0
    scaled = np.asarray(datasets.to_norm(rows))
    np.testing.assert_allclose(np.linalg.norm(scaled, axis=1), [3, 3, 0, 3], rtol=1e-14)
    np.testing.assert_allclose(np.sum(scaled * rows, axis=1), 3 * np.linalg.norm(rows, axis=1), rtol=1e-14)
    np.testing.assert_allclose(datasets.to_norm(rows[0], norm=1.0), rows[0] / np.linalg.norm(rows[0]), rtol=1e-14)


@pytest.mark.parametrize("dtype", [np.float32, np.float64], ids=lambda dtype: dtype.__name__)
def test_standardise_takes_the_mean_off_and_a_constant_becomes_zero(dtype):
    rows = RNG.normal(3.0, 2.0, size=(4, 10)).astype(dtype)
    rows[1] = 0.1
    standard = np.asarray(jax.jit(datasets.standardise)(rows))
    assert standard.dtype == dtype
    np.testing.assert_allclose(standard.mean(axis=1), 0, atol=4 * np.finfo(dtype).eps)
    np.testing.assert_allclose(standard.std(axis=1), [1, 0, 1, 1], rtol=8 * np.finfo(dtype).eps)
    np.testing.assert_array_equal(standard[1], 0)


def test_to_spins_thresholds_each_pattern_at_its_median_or_all_at_one_level():
    rows = jnp.asarray([[0.0, 1.0, 2.0, 9.0], [5.0, 5.0, 5.0, 4.0]])
    np.testing.assert_array_equal(datasets.to_spins(rows), [[-1, -1, 1, 1], [1, 1, 1, -1]])
    np.testing.assert_array_equal(datasets.to_spins(rows, 2.0), [[-1, -1, 1, 1], [1, 1, 1, 1]])
    np.testing.assert_array_equal(datasets.to_spins(rows[0]), [-1, -1, 1, 1])


def test_digits_are_the_images_of_scikit_learn():
    images = load_digits().images
    np.testing.assert_array_equal(datasets.digits(), images.reshape(1797, 64) / 16)
    spins = np.asarray(datasets.digits(binary=True))
    np.testing.assert_array_equal(spins == 1, images.reshape(1797, 64) >= 8)
    assert set(np.unique(spins)) == {-1.0, 1.0}
    assert len(spins) - len(np.unique(spins, axis=0)) == 47


@pytest.mark.parametrize("colour", [False, True], ids=["grey", "colour"])
def test_photograph_patches_are_reproducible_and_a_larger_count_appends(colour):
    few, many = (np.asarray(datasets.photograph_patches(6, count, 2, colour=colour)) for count in (40, 300))
    assert many.shape == (300, 6 * 6 * (3 if colour else 1))
    np.testing.assert_array_equal(few, many[:40])
    assert len(np.unique(many, axis=0)) == 300
    other = np.asarray(datasets.photograph_patches(6, 40, 5, colour=colour))
    assert not np.array_equal(few, other)


def test_photograph_patches_never_change_between_releases():
    # The first patch of seed 0, worked out once: guards the order of drawing and the grey conversion.
    first = np.asarray(datasets.photograph_patches(size=2, count=1, seed=0))[0]
    np.testing.assert_allclose(first * 255, [29.04, 30.328, 28.926, 30.328], atol=1e-9)


def test_photograph_patches_have_contrast_and_come_with_unit_norm_or_as_spins():
    raw = np.asarray(datasets.photograph_patches(size=2, count=4000))
    assert np.all(np.ptp(raw, axis=1) > 0)
    assert raw.min() >= 0
    assert raw.max() <= 1
    unit = np.asarray(datasets.photograph_patches(size=2, count=4000, unit_norm=True))
    np.testing.assert_allclose(np.linalg.norm(unit, axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(unit.mean(axis=1), 0, atol=1e-11)
    spins = np.asarray(datasets.photograph_patches(size=2, count=4000, binary=True))
    assert np.all(np.ptp(spins, axis=1) == 2)
    untied = np.median(raw, axis=1) > raw.min(axis=1)
    expected = np.where(raw >= np.median(raw, axis=1, keepdims=True), 1, -1)
    np.testing.assert_array_equal(spins[untied], expected[untied])
