"""Arrays whose leading axes differ in number: products as NumPy's, and lengths with derivatives where they vanish."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.linalg

from hopfield._arrays import block_diagonal, length, lengths, product, same_rank, side_by_side, transposed, with_rank

RNG = np.random.default_rng(11)


def normal(*shape):
    return jnp.asarray(RNG.normal(size=shape))


@pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=["more axes first", "more axes last"])
def test_products_broadcast_leading_axes_of_different_number(order):
    one, other = (((2, 3), (3,))[i] for i in order)
    a, b = normal(*one, 4, 5), normal(*other, 5, 6)
    assert [x.ndim for x in same_rank(a, b)] == [4, 4]
    np.testing.assert_allclose(product(a, b), np.matmul(a, b), atol=1e-14)


def test_new_axes_stand_after_the_leading_ones():
    x = normal(2, 4, 5)
    assert with_rank(x, 5).shape == (2, 1, 1, 4, 5)
    assert with_rank(x, 3) is x
    assert transposed(x).shape == (2, 5, 4)


def test_blocks_stand_along_the_diagonal_for_every_head():
    parts = [normal(3, 2, 1), normal(2, 4), normal(3, 1, 2)]
    found = block_diagonal(parts)
    assert found.shape == (3, 5, 7)
    for head in range(3):
        expected = scipy.linalg.block_diag(parts[0][head], parts[1], parts[2][head])
        np.testing.assert_array_equal(found[head], expected)


def test_rows_of_different_leading_axes_are_joined():
    a, b = normal(3, 2), normal(4)
    np.testing.assert_array_equal(side_by_side([a, b])[1], jnp.concatenate([a[1], b]))


@pytest.mark.parametrize("scale", [1e-200, 1.0, 1e200])
def test_lengths_at_any_scale(scale):
    np.testing.assert_allclose(lengths(scale * jnp.array([[3.0, 4.0], [0.0, 2.0]])), scale * np.array([5.0, 2.0]))


def test_the_square_of_a_length_has_the_derivatives_of_the_square_also_at_zero():
    """(√q)² = q, so that for q = |x|² its gradient is 2 x and its Hessian 2 I."""
    square = lambda x: length(x @ x) ** 2
    for x in (jnp.zeros(2), jnp.array([0.3, -0.4])):
        np.testing.assert_allclose(jax.grad(square)(x), 2 * x, atol=1e-14)
        np.testing.assert_allclose(jax.hessian(square)(x), 2 * np.eye(2), atol=1e-12)
    assert jax.grad(lambda x: length(x @ x))(jnp.zeros(2)).tolist() == [0.0, 0.0]
    assert np.isnan(length(jnp.float64(-1.0)))
