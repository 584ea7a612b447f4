"""Block-diagonal and Kronecker forms: what they keep of the Fisher information, and that their inverses are exact."""

import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.flatten_util import ravel_pytree

from hopfield.fisher import fisher

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


@functools.partial(jax.jit, static_argnames=("form", "heads", "dense_limit", "factored_damping"))
def form_of(found, form, heads=None, **options):
    """A structured form and its matrix, in one program."""
    operator = getattr(found, form)(heads, **options)
    return operator, operator.to_dense()


FISHER = fisher(scores, HEADS, likelihood="categorical", inputs=QUERIES)
DENSE = np.asarray(FISHER.to_dense())  # bias first, then the metric


def first_axis(path, leaf):
    """Heads of the metric apart."""
    return (0,) if "metric" in path else ()


def test_blocks_are_those_of_the_whole_matrix():
    found = np.asarray(form_of(FISHER, "block_diagonal")[1])
    expected = np.zeros_like(DENSE)
    for part in (slice(0, 3), slice(3, 27)):
        expected[part, part] = DENSE[part, part]
    np.testing.assert_allclose(found, expected, atol=1e-13)
    apart = np.asarray(form_of(FISHER, "block_diagonal", first_axis)[1])
    for part in (slice(0, 3), slice(3, 15), slice(15, 27)):
        np.testing.assert_allclose(apart[part, part], DENSE[part, part], atol=1e-13)
    assert np.all(apart[3:15, 15:] == 0)


FORMS = {"block_diagonal": {}, "kronecker": {"factored_damping": False}}


@pytest.mark.parametrize("form", FORMS)
def test_products_and_damped_inverses_are_those_of_the_dense_form(form):
    operator, dense = form_of(FISHER, form, **FORMS[form])
    dense, v = np.asarray(dense), np.asarray(ravel_pytree(V)[0])
    np.testing.assert_allclose(ravel_pytree(operator @ V)[0], dense @ v, atol=1e-12)
    found = ravel_pytree(operator.solve(V, 0.1))[0]
    np.testing.assert_allclose(found, np.linalg.solve(dense + 0.1 * np.eye(len(v)), v), rtol=1e-9)


def test_the_kronecker_form_keeps_the_trace_and_is_exact_for_products():
    """For one bilinear form and one output the rows are x yᵀ: with y fixed, L ⊗ R / tr L is F itself."""
    np.testing.assert_allclose(np.trace(form_of(FISHER, "kronecker")[1]), np.trace(DENSE), rtol=1e-12)
    one = fisher(lambda m, x: x @ m @ KEYS[:1].T, HEADS["metric"][0], likelihood="gaussian", inputs=QUERIES)
    np.testing.assert_allclose(form_of(one, "kronecker")[1], one.to_dense(), atol=1e-12)


def test_vectors_keep_their_whole_block_or_their_diagonal():
    np.testing.assert_allclose(form_of(FISHER, "kronecker")[1][:3, :3], DENSE[:3, :3], atol=1e-13)
    few = np.asarray(form_of(FISHER, "kronecker", dense_limit=2)[1])[:3, :3]
    np.testing.assert_allclose(few, np.diag(np.diag(DENSE[:3, :3])), atol=1e-13)


def test_a_structured_form_preconditions_conjugate_gradients():
    """The whole matrix as one block solves in one step; decoupled heads save some of them."""
    one = fisher(lambda m, x: x @ m @ KEYS.T, HEADS["metric"][0], likelihood="categorical", inputs=QUERIES)
    v = V["metric"][0]
    _, plain = one.solve(v, 1e-3, tolerance=1e-9)
    x, whole = one.solve(v, 1e-3, tolerance=1e-9, preconditioner=one.block_diagonal())
    assert int(whole.iterations) <= 2 < int(plain.iterations)
    expected = np.linalg.solve(np.asarray(one.to_dense()) + 1e-3 * np.eye(12), np.ravel(v))
    np.testing.assert_allclose(np.ravel(x), expected, rtol=1e-7)


def test_kernels_of_flax_are_blocks_by_head_and_by_the_inputs_of_a_convolution():
    """Blocks: heads of queries [E, H, D], heads of `out` [H, D, E], one (k in) ⊗ out of a convolution [k, in, out]."""
    shapes = {"query": (3, 2, 4), "out": (2, 4, 3), "conv": (3, 2, 5), "stacked": {"value": (7, 3, 2, 4)}}
    kernels = jax.tree.map(lambda n: {"kernel": jnp.ones(n)}, shapes, is_leaf=lambda x: isinstance(x, tuple))
    operator = fisher(lambda p: sum(map(jnp.sum, jax.tree.leaves(p))).reshape(1, 1), kernels, likelihood="gaussian")
    found = {
        x.shape: (b.left.shape, b.right.shape)
        for x, b in zip(jax.tree.leaves(kernels), operator.kronecker().blocks, strict=True)
    }
    assert found[3, 2, 4] == ((2, 3, 3), (2, 4, 4))
    assert found[2, 4, 3] == ((2, 4, 4), (2, 3, 3))
    assert found[3, 2, 5] == ((1, 6, 6), (1, 5, 5))
    assert found[7, 3, 2, 4] == ((14, 3, 3), (14, 4, 4))


def test_the_factors_of_a_convolution_are_those_of_the_product_that_it_is():
    """A convolution whose filter is as long as its input is one matrix."""
    w = {"conv": {"kernel": jnp.asarray(np.random.default_rng(1).normal(size=(2, 3, 4)))}}
    x = np.random.default_rng(2).normal(size=(6, 2, 3))
    convolved = fisher(
        lambda p, x: jnp.einsum("bki,kio->bo", x, p["conv"]["kernel"]), w, likelihood="categorical", inputs=x
    )
    flat = fisher(
        lambda p, x: x @ p, w["conv"]["kernel"].reshape(6, 4), likelihood="categorical", inputs=x.reshape(6, 6)
    )
    v = jnp.asarray(np.random.default_rng(3).normal(size=(2, 3, 4)))
    found = convolved.kronecker().solve({"conv": {"kernel": v}}, 0.1)["conv"]["kernel"]
    np.testing.assert_allclose(found.reshape(6, 4), flat.kronecker().solve(v.reshape(6, 4), 0.1), rtol=1e-9)
