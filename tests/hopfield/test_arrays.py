"""Arrays: shapes defined once, products as NumPy's and as the plain ones in every derivative, lengths that vanish."""

import ast

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield._arrays import (
    length,
    lengths,
    product,
    row_products,
    same_rank,
    softmax_read,
    weighted_rows,
)
from tests.source_code import LIBRARY, ROOT, tree_of

RNG = np.random.default_rng(11)
ROWS = np.random.default_rng(7)
QUERY, KEY, VALUE = (ROWS.normal(size=(2, 3, n, 4)) for n in (5, 6, 6))
SHARED = KEY[:, :1]
SCORES = ROWS.normal(size=(2, 3, 5, 6))


def normal(*shape):
    return jnp.asarray(RNG.normal(size=shape))


@pytest.mark.parametrize("order", [(0, 1), (1, 0)], ids=["more axes first", "more axes last"])
def test_products_broadcast_leading_axes_of_different_number(order):
    one, other = (((2, 3), (3,))[i] for i in order)
    a, b = normal(*one, 4, 5), normal(*other, 5, 6)
    assert [x.ndim for x in same_rank(a, b)] == [4, 4]
    np.testing.assert_allclose(product(a, b), np.matmul(a, b), atol=1e-14)


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


def plain_products(query, key):
    return query @ jnp.swapaxes(key, -1, -2)


def plain_read(scores, value):
    size = jnp.exp(scores - jnp.max(scores, axis=-1, keepdims=True))
    return (size / jnp.sum(size, axis=-1, keepdims=True)) @ value


def derivatives(function, *given):
    """Value, change along the inputs, gradients, and how these change, of every element of a batch alone or of all."""

    @jax.jit
    def found(*given):
        def loss(*given):
            return jnp.sum(jnp.sin(function(*given)))

        slopes = jax.grad(loss, argnums=(0, 1))
        moved = jax.jvp(function, given, given)
        return moved, slopes(*given), jax.jvp(slopes, given, given)[1], jax.vmap(slopes)(*given)

    return found(*given)


def same(ours, plain, *given):
    found, expected = derivatives(ours, *given), derivatives(plain, *given)
    jax.tree.map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-11), found, expected)


def test_products_of_rows_have_every_derivative_of_the_plain_ones():
    def ours(query, key):
        return row_products(query, key, None, query.dtype)

    same(ours, plain_products, QUERY, KEY)
    same(ours, plain_products, QUERY, SHARED)


def test_weighted_rows_have_every_derivative_of_the_plain_product():
    same(lambda weights, value: weighted_rows(weights, value, None), jnp.matmul, SCORES, VALUE)
    same(lambda weights, value: weighted_rows(weights, value, None), jnp.matmul, SCORES, SHARED)


def test_softmax_reads_have_every_derivative_of_the_plain_ones():
    same(lambda scores, value: softmax_read(scores, value, None), plain_read, SCORES, VALUE)
    same(lambda scores, value: softmax_read(scores, value, None), plain_read, SCORES, SHARED)


def test_a_row_of_masked_scores_reads_zero_and_moves_nothing():
    scores = np.where(np.arange(5)[:, None] == 2, -np.inf, SCORES)
    found, slopes = jax.value_and_grad(lambda s: jnp.sum(softmax_read(s, VALUE, None) ** 2))(scores)
    assert np.isfinite(found)
    np.testing.assert_array_equal(np.asarray(slopes)[..., 2, :], 0.0)
    np.testing.assert_array_equal(np.asarray(softmax_read(scores, VALUE, None))[..., 2, :], 0.0)


def aliases(path) -> set[tuple[str, str]]:
    """Names and texts of the assignments at the top of a module."""
    nodes = [node for node in tree_of(path).body if isinstance(node, ast.Assign)]
    return {(ast.unparse(target), ast.unparse(node.value)) for node in nodes for target in node.targets}


def test_no_module_defines_a_shared_shape_anew():
    home = ROOT / "hopfield" / "_arrays.py"
    shared = aliases(home)
    assert ("State", "Float[Array, 'N']") in shared
    again = {path.relative_to(ROOT).as_posix(): aliases(path) & shared for path in LIBRARY if path != home}
    assert not {path: found for path, found in again.items() if found}
