"""Forward mode and second derivatives of block-wise attention: the dense one's, in memory linear in length."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield import separations
from hopfield.attention import attend, attend_blockwise, decompose, masks

RNG = np.random.default_rng(0)
MASKS = {
    "none": None,
    "causal": masks.causal(),
    "window": masks.sliding_window(2, 1),
    "some rows empty": masks.sliding_window(1) & ~masks.causal(),
    "array": jnp.asarray(np.random.default_rng(3).random((9, 11)) < 0.3),
}


def rows(*shapes):
    return tuple(jnp.asarray(RNG.standard_normal(shape)) for shape in shapes)


def product_with_hessian(function, at, along):
    places = tuple(range(len(at)))
    return jax.jvp(jax.grad(lambda *x: jnp.sin(function(*x)).sum(), argnums=places), at, along)[1]


def product_with_fisher(function, at, along):
    return jax.vjp(function, *at)[1](jax.jvp(function, at, along)[1])


def slope_along(function, at, along):
    return jax.jvp(function, at, along)[1]


PRODUCTS = {"forward": slope_along, "Fisher": product_with_fisher, "Hessian": product_with_hessian}


@pytest.mark.slow
@pytest.mark.parametrize("product", PRODUCTS)
@pytest.mark.parametrize("mask", MASKS)
def test_derivatives_of_every_order_are_those_of_dense_attention(product, mask):
    shapes = (2, 9, 4), (1, 11, 4), (2, 11, 3), (2,)
    at, along = rows(*shapes), rows(*shapes)
    at = (*at[:3], jnp.exp(at[3]))
    dense = lambda q, k, v, b: attend(q, k, v, beta=b, mask=MASKS[mask])
    blocks = lambda q, k, v, b: attend_blockwise(q, k, v, beta=b, mask=MASKS[mask], blocks=(4, 5))
    expected, found = (jax.jit(partial(PRODUCTS[product], f))(at, along) for f in (dense, blocks))
    for ours, theirs in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-11, atol=1e-12)


FORMS = {
    "sparsemax": lambda alpha: "sparsemax",
    "entmax": separations.Entmax,
    "steep": separations.SteepEntmax,
    "normmax": separations.Normmax,
    "epanechnikov": lambda alpha: "epanechnikov",
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "alpha"),
    [("sparsemax", 2), ("entmax", 1.5), ("entmax", 1.3), ("steep", 2.5), ("normmax", 3), ("epanechnikov", 2)],
)
def test_rows_with_a_threshold_have_dense_values_and_derivatives_in_alpha_too(name, alpha):
    """Queries of two heads that share keys, some without any key; F with its derivatives beside the read-out."""
    shapes, mask = ((2, 9, 4), (1, 11, 4), (2, 11, 3), (2,)), MASKS["some rows empty"]
    at, along = rows(*shapes), rows(*shapes)
    at, along = (*at[:3], 1.5 * jnp.exp(at[3]), jnp.asarray(float(alpha))), (*along, jnp.asarray(0.7))
    given = lambda b, a: {"beta": b, "mask": mask, "separation": FORMS[name](a)}
    finite = lambda potential: jnp.where(jnp.isfinite(potential), potential, 0.0)

    def dense(q, k, v, b, a):
        parts = decompose(q, jnp.broadcast_to(k, (2, 11, 4)), v, **given(b, a))
        return parts.output, finite(parts.potential)

    def blocks(q, k, v, b, a):
        output, potential = attend_blockwise(q, k, v, **given(b, a), blocks=(4, 5), return_potential=True)
        return output, finite(potential)

    def found(function, at, along):
        output, pull = jax.vjp(function, *at)
        return jax.jvp(function, at, along), pull(jax.tree.map(jnp.cos, output))

    expected, ours = (jax.jit(partial(found, function))(at, along) for function in (dense, blocks))
    for one, other in zip(jax.tree.leaves(ours), jax.tree.leaves(expected), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-10)


@pytest.mark.slow
def test_the_potential_moves_as_its_gradient_says():
    at, along = rows((9, 4), (11, 4), (11, 3)), rows((9, 4), (11, 4), (11, 3))
    potential = lambda *x: attend_blockwise(*x, blocks=(4, 5), return_potential=True)[1]
    forwards = jax.jvp(potential, at, along)[1]
    jacobians = jax.jacrev(potential, argnums=(0, 1, 2))(*at)
    backwards = sum(jnp.tensordot(jac, d, 2) for jac, d in zip(jacobians, along, strict=True))
    np.testing.assert_allclose(forwards, backwards, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("product", PRODUCTS)
def test_memory_grows_with_length_and_not_with_its_square(product):
    def scratch(length):
        x = jax.ShapeDtypeStruct((length, 64), jnp.float32)
        function = lambda *x: PRODUCTS[product](attend_blockwise, x, x[::-1])
        return jax.jit(function).lower(x, x, x).compile().memory_analysis().temp_size_in_bytes

    short, long = scratch(8192), scratch(32768)
    assert long < 64e6 + 4 * short  # all scores at once would be 4.3 GB
