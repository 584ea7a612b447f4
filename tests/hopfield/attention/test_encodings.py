"""Encodings as objects are the functions of positions, for any queries of a sequence."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield import attention
from hopfield.attention._angles import whole_angles
from hopfield.attention.encodings import T5, Absolute, Alibi, Relative, Rotary, Sinusoidal

RNG = np.random.default_rng(0)
QUERY = jnp.asarray(RNG.normal(size=(2, 3, 5, 8)))
BETA = jnp.asarray(0.7)
PLACES = 4 + jnp.arange(5)


def test_biases_are_those_of_the_functions():
    table = jnp.asarray(RNG.normal(size=(8, 3)))
    for both in (True, False):
        found = T5(table, both, 20).score_bias(QUERY, BETA, PLACES, 30)
        np.testing.assert_array_equal(
            found, attention.t5_bias(table, 5, 30, bidirectional=both, max_distance=20, offset=4)
        )
    slopes = attention.alibi_slopes(3)
    np.testing.assert_allclose(
        Alibi(3).score_bias(QUERY, BETA, PLACES, 30), attention.alibi_bias(slopes, 5, 30, offset=4), rtol=1e-12
    )
    rows = jnp.asarray(RNG.normal(size=(3, 7, 8)))
    expected = attention.relative_bias(QUERY, rows, 30, beta=0.7, offset=4)
    np.testing.assert_allclose(Relative(rows).score_bias(QUERY, BETA, PLACES, 30), expected, rtol=1e-12)


@pytest.mark.parametrize("pairing", ["half", "interleaved"])
def test_rotary_turns_as_the_function_does_and_leaves_the_rest(pairing):
    found = Rotary(6, base=100.0, pairing=pairing).rotate(QUERY, PLACES)
    expected = attention.rotary(QUERY, PLACES, pairing=pairing, base=100.0, width=6)
    np.testing.assert_allclose(found, expected, atol=1e-12)
    np.testing.assert_array_equal(found[..., 6:], QUERY[..., 6:])


def test_scaled_rotations():
    """Linear: every place divided. NTK: the fastest rate as it was, the slowest as in linear scaling."""
    plain, linear, ntk = (Rotary(8, scaling=s, factor=f).rates for s, f in (("none", 1), ("linear", 4), ("ntk", 4)))
    np.testing.assert_allclose(linear, plain / 4, rtol=1e-12)
    assert ntk[0] == plain[0]
    np.testing.assert_allclose(ntk[-1], plain[-1] / 4, rtol=1e-12)


def test_additions_to_tokens():
    x = QUERY[:, 0]
    found = Sinusoidal().add_to_inputs(x, PLACES) - x
    np.testing.assert_allclose(found[1], attention.sinusoidal(9, 8)[4:], atol=1e-12)
    table = jnp.asarray(RNG.normal(size=(7, 8)))
    found = Absolute(table).add_to_inputs(x, PLACES)
    np.testing.assert_array_equal(found[:, :3], x[:, :3] + table[None, 4:])
    assert np.isnan(found[:, 3:]).all()  # places 7 and 8 are beyond the table


def test_angles_are_right_at_every_whole_place_in_single_precision():
    """Angles of 32-bit places against products of 64 bits; 2^24 and 2^24 + 1 are one number in float32."""
    places = np.concatenate([np.arange(9), 2**24 + np.arange(4), [-5, -(2**31), 2**31 - 1, 10**6 + 1, 10**9 + 7]])
    rates = np.append(10000.0 ** -np.linspace(0, 1, 6), [2.5, -0.2, 0.0]).astype(np.float32)
    found = np.asarray(whole_angles(jnp.asarray(places, jnp.int32)[:, None], jnp.asarray(rates)[None]))
    turns = (found - np.longdouble(places)[:, None] * np.longdouble(rates)) / (2 * np.longdouble(np.pi))
    assert np.abs(turns - np.round(turns)).max() < 3e-7
    slope = jax.grad(lambda r: whole_angles(jnp.arange(3), r).sum())(jnp.float32(0.5))
    assert slope == 3.0
    assert np.isnan(whole_angles(jnp.arange(2), jnp.float32(np.inf))).all()


def test_rotated_products_depend_on_the_distance_alone_however_far_out():
    with jax.enable_x64(False):
        rows, near = jnp.asarray(RNG.normal(size=(4, 8)), jnp.float32), jnp.arange(4)
        for turned in (Rotary(8).rotate, attention.rotary):
            products = [(found := turned(rows, near + start)) @ found.T for start in (0, 2**24, 2**31 - 4)]
            np.testing.assert_allclose(products[1], products[0], atol=2e-5)
            np.testing.assert_allclose(products[2], products[0], atol=2e-5)
        token = Sinusoidal().add_to_inputs(jnp.zeros((4, 8)), near + 2**24)
        np.testing.assert_allclose(token[:, 0], np.sin(np.arange(2.0**24, 2.0**24 + 4)), atol=1e-6)
