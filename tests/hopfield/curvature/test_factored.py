"""Block-diagonal and Kronecker forms: what they keep of the Fisher information, and that their inverses are exact."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from hopfield.curvature import block_diagonal, fisher, kronecker

HEADS = {
    "metric": 0.3 * jax.random.normal(jax.random.key(0), (2, 3, 4)),
    "bias": jnp.array([0.1, -0.1, 0.2]),
}
QUERIES = jax.random.normal(jax.random.key(1), (6, 3))
KEYS = jax.random.normal(jax.random.key(2), (5, 4))
V = jax.tree.map(lambda x: jax.random.normal(jax.random.key(3), x.shape), HEADS)


def scores(params, queries):
    """Two heads with a learned bilinear form each, their scores added."""
    moved = queries + params["bias"][None]
    return jnp.einsum("bi,hij,kj->bk", moved, params["metric"], KEYS)


FISHER = fisher(scores, HEADS, likelihood="categorical", inputs=QUERIES)
DENSE = np.asarray(FISHER.to_dense())  # bias first, then the metric


def test_blocks_are_those_of_the_whole_matrix():
    found = np.asarray(block_diagonal(FISHER, heads=False).to_dense())
    expected = np.zeros_like(DENSE)
    for part in (slice(0, 3), slice(3, 27)):
        expected[part, part] = DENSE[part, part]
    np.testing.assert_allclose(found, expected, atol=1e-13)
    apart = np.asarray(block_diagonal(FISHER).to_dense())
    for part in (slice(0, 3), slice(3, 15), slice(15, 27)):
        np.testing.assert_allclose(apart[part, part], DENSE[part, part], atol=1e-13)
    assert np.all(apart[3:15, 15:] == 0)


@pytest.mark.parametrize("form", [block_diagonal, kronecker], ids=lambda f: f.__name__)
def test_products_and_damped_inverses_are_those_of_the_dense_form(form):
    operator = form(FISHER)
    dense, v = np.asarray(operator.to_dense()), np.asarray(ravel_pytree(V)[0])
    np.testing.assert_allclose(ravel_pytree(operator @ V)[0], dense @ v, atol=1e-12)
    found, info = operator.solve(V, 0.1)
    np.testing.assert_allclose(ravel_pytree(found)[0], np.linalg.solve(dense + 0.1 * np.eye(len(v)), v), rtol=1e-9)
    assert info.residual < 1e-12


def test_the_kronecker_form_keeps_the_trace_and_is_exact_for_products():
    """For one bilinear form and one output the rows are x yᵀ: with y fixed, L ⊗ R / tr L is F itself."""
    np.testing.assert_allclose(np.trace(kronecker(FISHER).to_dense()), np.trace(DENSE), rtol=1e-12)
    one = fisher(lambda m, x: x @ m @ KEYS[:1].T, HEADS["metric"][0], likelihood="gaussian", inputs=QUERIES)
    np.testing.assert_allclose(kronecker(one).to_dense(), one.to_dense(), atol=1e-12)


def test_vectors_keep_their_whole_block():
    np.testing.assert_allclose(kronecker(FISHER).to_dense()[:3, :3], DENSE[:3, :3], atol=1e-13)


def test_null_directions_without_damping_stay_where_they_are():
    flat = fisher(lambda m, x: x @ m, jnp.ones((3, 2)), likelihood="gaussian", inputs=QUERIES.at[:, 2].set(0.0))
    for form in (kronecker, block_diagonal):
        found, _ = form(flat).solve(jnp.ones((3, 2)), 0.0)
        assert np.all(np.isfinite(found))
        np.testing.assert_allclose(found[2], 0.0, atol=1e-10)
