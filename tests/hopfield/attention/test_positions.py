"""Positions against hand-worked cases of the papers, and against what they promise."""

import math

import jax.numpy as jnp
import numpy as np
import pytest

from hopfield.attention import core, positions

RNG = np.random.default_rng(5)


def normal(*shape):
    return jnp.asarray(RNG.normal(size=shape))


def test_relative_scores_are_the_sum_over_the_table():
    """Seed formula S_ij = (1/√D) Q_i · (K_j + R_(i−j)), R beyond its end clipped."""
    query, key, table = normal(2, 5, 4), normal(2, 7, 4), normal(2, 5, 4)
    found = core.scores(query, key, bias=positions.relative_bias(query, table, 7))
    for h, i, j in np.ndindex(2, 5, 7):
        r = table[h, min(max(i - j, -2), 2) + 2]
        np.testing.assert_allclose(found[h, i, j], query[h, i] @ (key[h, j] + r) / 2.0, atol=1e-14)


@pytest.mark.parametrize(("bidirectional", "buckets", "longest"), [(True, 32, 128), (False, 32, 128), (True, 20, 100)])
def test_t5_buckets_are_those_of_the_published_formula(bidirectional, buckets, longest):
    """exact + ⌊ln(n/exact) / ln(longest/exact) · rest⌋ in long doubles, nudged where the quotient is whole."""
    one_way = buckets // 2 if bidirectional else buckets
    exact, rest = one_way // 2, one_way - one_way // 2
    n = np.arange(exact, 400, dtype=np.longdouble)
    steps = np.log(n / exact) / np.log(np.longdouble(longest) / exact) * rest
    expected = np.minimum(exact + np.floor(steps + 1e-15), one_way - 1).astype(int)
    found = positions.t5_buckets(
        -jnp.arange(exact, 400), bidirectional=bidirectional, buckets=buckets, max_distance=longest
    )
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("heads", "exponents"),
    [
        (1, [8]),
        (8, [1, 2, 3, 4, 5, 6, 7, 8]),
        (12, [1, 2, 3, 4, 5, 6, 7, 8, 0.5, 1.5, 2.5, 3.5]),
        (3, [4, 8, 2]),
    ],
)
def test_alibi_slopes_worked_by_hand(heads, exponents):
    np.testing.assert_allclose(positions.alibi_slopes(heads), [2.0**-e for e in exponents], rtol=1e-15)


def test_rotary_worked_by_hand():
    """Width 4, base 100: rates 1 and 1/10; the vector (1, 0, 0, 2) at position 3."""
    x = jnp.asarray([[1.0, 0.0, 0.0, 2.0]])
    c, s, c2, s2 = math.cos(3), math.sin(3), math.cos(0.3), math.sin(0.3)
    place = jnp.asarray([3])
    found = positions.rotary(x, place, base=100.0)
    np.testing.assert_allclose(found[0], [c, s, -2 * s2, 2 * c2], atol=1e-15)
    found = positions.rotary(x, place, base=100.0, pairing="half")  # pairs (x0, x2) and (x1, x3)
    np.testing.assert_allclose(found[0], [c, -2 * s2, s, 2 * c2], atol=1e-15)


def test_sinusoids_worked_by_hand():
    """Width 4: rates 1 and 1/100."""
    found = positions.sinusoidal(3, 4)
    expected = [[math.sin(t), math.cos(t), math.sin(t / 100), math.cos(t / 100)] for t in range(3)]
    np.testing.assert_allclose(found, expected, atol=1e-7)
    np.testing.assert_allclose(positions.sinusoidal(jnp.asarray([2.0]), 4)[0], expected[2], atol=1e-15)
