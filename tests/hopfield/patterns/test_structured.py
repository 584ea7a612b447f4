"""Structured ensembles: correlations in closed form, rows that do not depend on how many there are."""

import jax
import numpy as np

from hopfield import patterns

KEY = jax.random.key(4)


def test_superpositions_have_the_correlations_of_their_features():
    """⟨x_i x_j⟩ = (2/π) arcsin ρ_ij over coefficients, ρ the correlation of the columns of f: 40,000 rows."""
    features = np.asarray(patterns.gaussian(jax.random.key(1), 5, 6))
    rows = np.asarray(patterns.superpositions(KEY, 40_000, features))
    columns = features / np.linalg.norm(features, axis=0)
    expected = 2 / np.pi * np.arcsin(np.clip(columns.T @ columns, -1, 1))
    np.testing.assert_allclose(rows.T @ rows / len(rows), expected, atol=5 / len(rows) ** 0.5)


def test_a_superposition_of_one_feature_is_that_feature():
    features = patterns.spins(jax.random.key(1), 4, 30)
    rows = np.asarray(patterns.superpositions(KEY, 50, features, active=1))
    assert np.all(np.max(np.abs(rows @ np.asarray(features).T), axis=1) == 30)


def test_siblings_overlap_as_their_distance_to_the_ancestor_says():
    """q² between siblings, 0 between strangers, each spin independent."""
    rows = np.asarray(patterns.hierarchical(KEY, 12, 20_000, 0.6, children=3))
    overlaps = rows @ rows.T / 20_000
    family = np.arange(12) // 3
    same = (family[:, None] == family) & ~np.eye(12, dtype=bool)
    np.testing.assert_allclose(overlaps[same], 0.36, atol=5 / 20_000**0.5)
    np.testing.assert_allclose(overlaps[family[:, None] != family], 0.0, atol=5 / 20_000**0.5)


def test_examples_overlap_with_their_pattern_by_their_quality():
    stored = patterns.spins(KEY, 3, 10_000)
    shown = np.asarray(patterns.examples(jax.random.key(2), stored, 4, 0.3))
    assert shown.shape == (3, 4, 10_000)
    np.testing.assert_allclose(np.einsum("man,mn->ma", shown, stored) / 10_000, 0.3, atol=0.05)
    np.testing.assert_array_equal(patterns.examples(KEY, stored, 2, 1.0)[:, 0], stored)
