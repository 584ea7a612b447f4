"""Ensembles of patterns: their laws, what they depend on, and what they refuse."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.stats

from hopfield import patterns
from tests.hopfield.patterns.samples import standard_errors

KEY = jax.random.key(20240917)

ENSEMBLES = {
    "spins": patterns.spins,
    "biased": lambda *args, **options: patterns.biased(*args, 0.3, **options),
    "correlated": lambda *args, **options: patterns.correlated(*args, 4.0, **options),
    "gaussian": patterns.gaussian,
    "sphere": patterns.sphere,
}
every_ensemble = pytest.mark.parametrize("ensemble", ENSEMBLES.values(), ids=ENSEMBLES)


@every_ensemble
def test_more_patterns_never_change_the_earlier_ones(ensemble):
    few, many = ensemble(KEY, 5, 33), ensemble(KEY, 64, 33)
    np.testing.assert_array_equal(few, many[:5])
    assert len(np.unique(many, axis=0)) == 64


def test_a_row_of_spins_is_the_low_bits_of_the_key_folded_with_its_index():
    """Worked by hand: generated patterns are the same ones in every release."""
    bits = np.asarray(jax.random.bits(jax.random.fold_in(KEY, 3), (33,), jnp.uint8))
    np.testing.assert_array_equal(patterns.spins(KEY, 5, 33)[3], np.where(bits & 1, 1.0, -1.0))


@every_ensemble
def test_first_continues_the_ensemble(ensemble):
    whole = ensemble(KEY, 64, 33)
    np.testing.assert_array_equal(ensemble(KEY, 5, 33, first=7), whole[7:12])
    mapped = jax.jit(jax.vmap(lambda first: ensemble(KEY, 5, 33, first=first)))(jnp.asarray([7, 59]))
    np.testing.assert_allclose(mapped[0], whole[7:12], rtol=1e-12)
    np.testing.assert_allclose(mapped[1], whole[59:], rtol=1e-12)


def test_spins_are_unbiased_and_independent():
    drawn = np.asarray(patterns.spins(KEY, 400, 500))
    # ⟨ξ⟩ has variance 1/(M N); Σ_i ξ_i^μ ξ_i^ν / N has mean 0 and variance 1/N, so N·its square averages 1.
    assert abs(drawn.mean()) * math.sqrt(drawn.size) < 4
    crosstalk = (drawn @ drawn.T)[np.triu_indices(400, 1)] / math.sqrt(500)
    assert np.mean(crosstalk**2) == pytest.approx(1.0, abs=4 * math.sqrt(2 / crosstalk.size))
    between_units = (drawn.T @ drawn)[np.triu_indices(500, 1)] / math.sqrt(400)
    assert np.mean(between_units**2) == pytest.approx(1.0, abs=4 * math.sqrt(2 / between_units.size))


@pytest.mark.parametrize("bias", [-0.7, 0.0, 0.2, 0.9])
def test_biased_spins_have_the_mean_activity_asked_for(bias):
    drawn = np.asarray(patterns.biased(KEY, 500, 400, bias))
    assert abs(drawn.mean() - bias) < 4 * math.sqrt((1 - bias**2) / drawn.size)
    # Independent rows: the overlap of two of them is a² on average.
    overlaps = np.mean(drawn[::2] * drawn[1::2], axis=1)
    assert standard_errors(overlaps, bias**2) < 4


@pytest.mark.parametrize(
    ("neurons", "length"), [(60, 0.7), (60, 5.0), (61, 5.0), (40, 30.0)], ids=["short", "even", "odd", "ring"]
)
def test_correlated_spins_follow_the_arcsine_law(neurons, length):
    drawn = np.asarray(patterns.correlated(KEY, 6000, neurons, length))
    transform = np.fft.rfft(drawn)
    correlation = np.fft.irfft(np.abs(transform) ** 2, n=neurons)[:, : neurons // 2 + 1] / neurons
    distance = np.arange(1, neurons // 2 + 1)
    # Orthant probability of two unit normals with correlation ρ: ⟨sign sign⟩ = (2/π) arcsin ρ.
    expected = 2 / np.pi * np.arcsin(np.exp(-distance / length))
    assert np.max(standard_errors(correlation[:, 1:], expected)) < 4.5
    assert standard_errors(np.mean(drawn[::2] * drawn[1::2], axis=1), 0.0) < 4  # rows are independent
    assert abs(drawn.mean()) < 4.5 * math.sqrt(drawn.mean(axis=1).var() / len(drawn))


def test_gaussian_components_are_standard_normal():
    drawn = np.asarray(patterns.gaussian(KEY, 100, 300))
    assert scipy.stats.kstest(drawn.ravel(), "norm").pvalue > 1e-3
    assert standard_errors(np.sum(drawn**2, axis=1), 300.0) < 4


@pytest.mark.parametrize("neurons", [3, 10])
def test_sphere_is_uniform(neurons):
    drawn = np.asarray(patterns.sphere(KEY, 5000, neurons, radius=1.0))
    # One coordinate t of a uniform direction: (1 + t)/2 is Beta((N−1)/2, (N−1)/2).
    shape = (neurons - 1) / 2
    for coordinate in (0, neurons - 1):
        assert scipy.stats.kstest((1 + drawn[:, coordinate]) / 2, "beta", (shape, shape)).pvalue > 1e-3
    assert standard_errors(np.sum(drawn[::2] * drawn[1::2], axis=1) ** 2, 1 / neurons) < 4


@pytest.mark.parametrize(
    ("draw", "value"),
    [(patterns.biased, 0.4), (patterns.correlated, 3.0), (patterns.sphere, 2.0)],
    ids=["bias", "length", "radius"],
)
def test_numbers_may_be_traced_and_mapped(draw, value):
    values = jnp.asarray([value, value / 2])
    mapped = jax.jit(jax.vmap(lambda number: draw(KEY, 5, 33, number)))(values)
    for row, number in zip(mapped, (value, value / 2), strict=True):
        np.testing.assert_allclose(row, draw(KEY, 5, 33, number), rtol=1e-12)
