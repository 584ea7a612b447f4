"""Principal angles against scipy, near 0 and π/2; distances of subspaces and of the forms of heads."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.linalg import subspace_angles

from hopfield.geometry import subspaces

A = jax.random.normal(jax.random.key(0), (12, 4))
B = jax.random.normal(jax.random.key(1), (12, 4))


@pytest.mark.parametrize("shape", [(4, 4), (4, 2), (2, 4)])
def test_angles_are_those_of_scipy(shape):
    a, b = A[:, : shape[0]], B[:, : shape[1]]
    np.testing.assert_allclose(subspaces.principal_angles(a, b), subspace_angles(a, b)[::-1], rtol=1e-10)


def test_small_and_right_angles_are_accurate():
    angles = np.array([1e-9, 1e-4, 0.7, np.pi / 2 - 1e-9])
    basis = np.linalg.qr(np.random.default_rng(0).normal(size=(12, 8)))[0]
    a = basis[:, :4]
    b = a * np.cos(angles) + basis[:, 4:] * np.sin(angles)
    found = np.asarray(subspaces.principal_angles(jnp.asarray(a), jnp.asarray(b)))
    np.testing.assert_allclose(found[:3], angles[:3], rtol=1e-6)
    assert np.pi / 2 - found[3] == pytest.approx(1e-9, rel=1e-5)


def test_distance_is_that_of_the_angles_and_does_not_depend_on_the_bases():
    expected = np.sqrt(np.sum(subspace_angles(A, B) ** 2))
    assert float(subspaces.grassmann_distance(A, B)) == pytest.approx(expected, rel=1e-12)
    turned = A @ jax.random.normal(jax.random.key(2), (4, 4))
    assert float(subspaces.grassmann_distance(turned, B)) == pytest.approx(expected, rel=1e-10)
    whole = jnp.eye(8)
    assert float(subspaces.grassmann_distance(whole[:, :4], whole[:, 4:], normalised=True)) == pytest.approx(1.0)
    assert float(subspaces.grassmann_distance(A, A)) < 1e-7


def test_gradients_are_those_of_finite_differences_and_finite_at_equal_angles():
    gradient = jax.grad(subspaces.grassmann_distance)(A, B)
    direction = jax.random.normal(jax.random.key(3), A.shape)
    step = 1e-6
    moved = [float(subspaces.grassmann_distance(A + sign * step * direction, B)) for sign in (1, -1)]
    assert float(jnp.sum(gradient * direction)) == pytest.approx((moved[0] - moved[1]) / (2 * step), rel=1e-6)
    whole = jnp.eye(8)
    turned = whole[:, :4] * jnp.cos(0.5) + whole[:, 4:] * jnp.sin(0.5)  # four equal angles
    equal = jax.grad(subspaces.grassmann_distance)(whole[:, :4] + 0.0, turned)
    assert np.all(np.isfinite(equal))
    sideways = jnp.zeros((8, 4)).at[4, 0].set(1.0)
    # One of four angles of ½ falls at unit rate: d√(Σθ²) = −θ/√(Σθ²) = −½.
    assert float(jnp.sum(equal * sideways)) == pytest.approx(-0.5, rel=1e-9)
    assert np.all(np.isfinite(jax.grad(subspaces.grassmann_distance)(A, A)))
    right = jax.grad(subspaces.grassmann_distance)(whole[:, :4] + 0.0, whole[:, 4:])
    assert np.all(np.isfinite(right))


def test_the_baseline_of_random_subspaces():
    """In 64 dimensions of 768 they are nearly orthogonal, but not at 1; a line and a line: E θ² by integration."""
    found = subspaces.random_baseline(jax.random.key(0), 96, 8, samples=100)
    assert 0.75 < float(found.mean) < 0.95
    assert float(found.deviation) < 0.05
    lines = subspaces.random_baseline(jax.random.key(1), 3, 1, samples=4000)
    # In three dimensions θ has the density sin θ on [0, π/2]: mean 1.
    assert float(lines.mean) == pytest.approx(2 / np.pi, abs=4 * float(lines.deviation) / np.sqrt(4000))


def head_of(seed, bias=False):
    keys = jax.random.split(jax.random.key(seed), 4)
    weights = [jax.random.normal(key, (12, 3)) for key in keys[:2]]
    return (*weights, *(jax.random.normal(key, (3,)) for key in keys[2:])) if bias else tuple(weights)


@pytest.mark.parametrize("bias", [False, True])
def test_a_form_is_the_singular_value_decomposition_of_its_matrix(bias):
    parts = head_of(4, bias)
    found = subspaces.factored(*parts)
    q, k = parts[:2]
    if bias:
        q, k = (np.vstack([w, b[None]]) for w, b in zip(parts[:2], parts[2:], strict=True))
    np.testing.assert_allclose((found.left * found.values[None]) @ found.right.T, q @ k.T, atol=1e-12)
    np.testing.assert_allclose(found.values, np.linalg.svd(q @ k.T)[1][:3], rtol=1e-12)
    for basis in (found.left, found.right):
        np.testing.assert_allclose(basis.T @ basis, np.eye(3), atol=1e-12)


def test_distances_of_forms():
    a, b = head_of(5), head_of(6)
    difference = np.asarray(a[0] @ a[1].T - b[0] @ b[1].T)
    one, two = subspaces.factored(*a), subspaces.factored(*b)
    assert float(subspaces.frobenius_distance(one, two)) == pytest.approx(np.linalg.norm(difference), rel=1e-12)
    assert float(subspaces.frobenius_distance(one, one)) < 1e-12
    queries, keys = (np.random.default_rng(i).normal(size=(20, 12)) for i in (1, 2))
    scores = queries @ difference @ keys.T
    weighted = subspaces.data_weighted_distance(one, two, queries, keys)
    assert float(weighted) == pytest.approx(np.sqrt(np.mean(scores**2)), rel=1e-10)
    expected = np.sum(subspace_angles(one.left, two.left) ** 2) + np.sum(subspace_angles(one.right, two.right) ** 2)
    expected += np.sum((one.values - two.values) ** 2)
    assert float(subspaces.product_distance(one, two)) == pytest.approx(np.sqrt(expected), rel=1e-10)


def test_leading_axes_are_batched():
    stacked = jnp.stack([A, B, A + B])
    every = subspaces.grassmann_distance(stacked[:, None], stacked[None])
    assert every.shape == (3, 3)
    for i, j in ((0, 1), (1, 2)):
        alone = subspaces.grassmann_distance(stacked[i], stacked[j])
        np.testing.assert_allclose(every[i, j], alone, rtol=1e-10)
        np.testing.assert_allclose(every[j, i], alone, rtol=1e-10)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: subspaces.orthonormal_basis(jnp.ones((2, 3))), "columns must be \\[..., n, r\\] with 0 < r <= n"),
        (lambda: subspaces.random_baseline(jax.random.key(0), 3, 4), "r must be between 1 and n = 3, got 4"),
        (lambda: subspaces.factored(jnp.ones((4, 2)), jnp.ones((4, 3))), "query and key must be"),
        (lambda: subspaces.factored(jnp.ones((4, 2)), jnp.ones((4, 2)), jnp.ones(3)), "query_bias must have shape"),
    ],
)
def test_wrong_input_is_one_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()
