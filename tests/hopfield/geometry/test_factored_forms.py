"""Distances of heads as bilinear forms against dense matrices and closed forms, with finite gradients."""

import jax
import numpy as np
import pytest
from scipy.linalg import subspace_angles

from hopfield.geometry import (
    data_weighted_distance,
    factored,
    frobenius_distance,
    product_distance,
)

RNG = np.random.default_rng(7)


def heads(n=14, bias=True):
    rng = np.random.default_rng(5)
    arrays = [rng.normal(size=(3, n, 3)) for _ in range(2)] + [rng.normal(size=(3, 3)) for _ in range(2)]
    return arrays if bias else arrays[:2]


def dense(form):
    return np.einsum("...nr,...r,...kr->...nk", form.left, form.values, form.right)


def head(form, h):
    return jax.tree.map(lambda leaf: leaf[h], form)


def test_factored_form_is_the_block_matrix_of_weights_and_biases():
    query, key, b_query, b_key = heads()
    form = factored(query, key, b_query, b_key)
    for h in range(3):
        top = np.hstack([query[h] @ key[h].T, (query[h] @ b_key[h])[:, None]])
        bottom = np.hstack([key[h] @ b_query[h], b_query[h] @ b_key[h]])
        expected = np.vstack([top, bottom])
        np.testing.assert_allclose(dense(form)[h], expected, atol=1e-12)
        np.testing.assert_allclose(form.values[h], np.linalg.svd(expected, compute_uv=False)[:3], rtol=1e-12)
    for frame in (form.left, form.right):
        np.testing.assert_allclose(np.swapaxes(frame, -1, -2) @ frame, np.stack([np.eye(3)] * 3), atol=1e-14)


def test_product_distance_is_equation_four():
    form = factored(*heads())
    found = product_distance(head(form, 0), head(form, 1), weights=(1, 2, 3))
    u, v = (np.linalg.norm(subspace_angles(*np.asarray(side[:2]))) for side in (form.left, form.right))
    sigma = np.linalg.norm(form.values[0] - form.values[1])
    np.testing.assert_allclose(found, np.sqrt(u**2 + 2 * v**2 + 3 * sigma**2), rtol=1e-13)


def test_distances_do_not_see_the_gauge_of_a_head():
    """W_Q A and W_K A⁻ᵀ are the same head."""
    query, key = heads(bias=False)
    change = np.random.default_rng(2).normal(size=(3, 3)) + 2 * np.eye(3)
    same, form = factored(query @ change, key @ np.linalg.inv(change).T), factored(query, key)
    np.testing.assert_allclose(product_distance(form, same), 0, atol=1e-12)
    np.testing.assert_allclose(frobenius_distance(form, same), 0, atol=1e-12)


@pytest.mark.parametrize("n", [5, 14])
def test_frobenius_and_data_weighted_distances_are_those_of_dense_matrices(n):
    form = factored(*heads(n=n, bias=False))
    pairs = [jax.tree.map(lambda leaf: leaf[:, None], form), jax.tree.map(lambda leaf: leaf[None], form)]
    matrices = dense(form)
    difference = matrices[:, None] - matrices[None]
    np.testing.assert_allclose(frobenius_distance(*pairs), np.linalg.norm(difference, axis=(-2, -1)), atol=1e-12)
    for rows in (4, 30):
        queries, keys = RNG.normal(size=(rows, n)), RNG.normal(size=(9, n))
        scores = np.einsum("tn,ijnm,sm->ijts", queries, difference, keys)
        found = data_weighted_distance(*pairs, queries, keys)
        np.testing.assert_allclose(found, np.sqrt(np.mean(scores**2, axis=(-2, -1))), atol=1e-12)
