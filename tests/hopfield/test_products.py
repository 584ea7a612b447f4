"""Products with derivatives of their own: equal to the plain ones in value and in every derivative."""

import jax
import jax.numpy as jnp
import numpy as np

from hopfield._arrays import row_products, softmax_read, weighted_rows

RNG = np.random.default_rng(7)
QUERY, KEY, VALUE = (RNG.normal(size=(2, 3, n, 4)) for n in (5, 6, 6))
SHARED = KEY[:, :1]
SCORES = RNG.normal(size=(2, 3, 5, 6))


def plain_products(query, key):
    return query @ jnp.swapaxes(key, -1, -2)


def plain_read(scores, value):
    size = jnp.exp(scores - jnp.max(scores, axis=-1, keepdims=True))
    return (size / jnp.sum(size, axis=-1, keepdims=True)) @ value


def derivatives(function, *given):
    """Value, change along the inputs, gradients, and how these change, of every element of a batch alone as of all."""

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


def test_a_score_that_is_no_number_makes_its_row_none():
    scores = np.where(np.arange(5)[:, None] == 2, np.nan, SCORES)
    found = np.isnan(np.asarray(softmax_read(scores, VALUE, None)))
    np.testing.assert_array_equal(found, np.broadcast_to(np.arange(5)[:, None] == 2, found.shape))
