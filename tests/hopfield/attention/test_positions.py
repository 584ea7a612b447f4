"""Positions against hand-worked cases of the papers, and against what they promise."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield.attention import core, positions

RNG = np.random.default_rng(5)
START = RNG.bit_generator.state


@pytest.fixture(autouse=True)
def the_same_numbers_in_any_order():
    RNG.bit_generator.state = START


def normal(*shape):
    return jnp.asarray(RNG.normal(size=shape))


def test_relative_scores_are_the_sum_over_the_table():
    """Seed formula S_ij = (1/√D) Q_i · (K_j + R_(i−j)), R beyond its end clipped."""
    query, key, table = normal(2, 5, 4), normal(2, 7, 4), normal(2, 5, 4)
    found = core.scores(query, key, bias=positions.relative_bias(query, table, 7))
    for h, i, j in np.ndindex(2, 5, 7):
        r = table[h, min(max(i - j, -2), 2) + 2]
        np.testing.assert_allclose(found[h, i, j], query[h, i] @ (key[h, j] + r) / 2.0, atol=1e-14)


def test_relative_scores_of_a_decoded_query_are_the_last_row():
    query, table = normal(6, 4), normal(5, 4)
    whole = positions.relative_bias(query, table, 6, beta=0.7)
    last = positions.relative_bias(query[5:], table, 6, beta=0.7, offset=5)
    np.testing.assert_allclose(last, whole[5:], atol=1e-15)


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


def test_t5_bias_looks_up_the_bucket_of_each_pair():
    table = normal(8, 3)
    found = positions.t5_bias(table, 4, 5, max_distance=10, offset=1)
    for h, i, j in np.ndindex(3, 4, 5):
        bucket = int(positions.t5_buckets(jnp.asarray(j - (i + 1)), buckets=8, max_distance=10))
        assert found[h, i, j] == table[bucket, h]


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


def test_alibi_bias_falls_with_distance():
    found = positions.alibi_bias(positions.alibi_slopes(8), 2, 4, offset=2)
    np.testing.assert_allclose(found[0], [[-1.0, -0.5, 0, -0.5], [-1.5, -1.0, -0.5, 0]])
    np.testing.assert_allclose(found[7], found[0] / 128)


def test_rotary_worked_by_hand():
    """Width 4, base 100: rates 1 and 1/10; the vector (1, 0, 0, 2) at position 3."""
    x = jnp.asarray([[1.0, 0.0, 0.0, 2.0]])
    c, s, c2, s2 = math.cos(3), math.sin(3), math.cos(0.3), math.sin(0.3)
    place = jnp.asarray([3])
    found = positions.rotary(x, place, base=100.0)
    np.testing.assert_allclose(found[0], [c, s, -2 * s2, 2 * c2], atol=1e-15)
    found = positions.rotary(x, place, base=100.0, pairing="half")  # pairs (x0, x2) and (x1, x3)
    np.testing.assert_allclose(found[0], [c, -2 * s2, s, 2 * c2], atol=1e-15)


@pytest.mark.parametrize("pairing", positions.PAIRINGS)
def test_rotary_products_depend_on_the_distance_only(pairing):
    """q_i · k_j is unchanged when both move, and lengths are kept; position 0 turns nothing."""
    query, key = normal(1, 6), normal(1, 6)

    def product(i, j):
        turned = (positions.rotary(x, jnp.asarray([t]), pairing=pairing) for x, t in ((query, i), (key, j)))
        return float(jnp.sum(jnp.multiply(*turned)))

    assert product(7, 3) == pytest.approx(product(104, 100), abs=1e-13)
    assert abs(product(7, 3) - product(7, 4)) > 1e-3
    x = normal(2, 5, 6)
    found = positions.rotary(x, pairing=pairing)
    np.testing.assert_allclose(jnp.sum(found**2, -1), jnp.sum(x**2, -1), rtol=1e-14)
    np.testing.assert_array_equal(found[:, 0], x[:, 0])


def test_rotary_pairings_are_one_up_to_the_order_of_components():
    x = normal(3, 6)
    order = jnp.asarray([0, 2, 4, 1, 3, 5])
    half = positions.rotary(x[:, order], pairing="half")
    np.testing.assert_allclose(half, positions.rotary(x)[:, order], atol=1e-15)


def test_partial_rotary_leaves_the_rest_alone():
    x, places = normal(2, 3, 8), jnp.asarray([[0, 1, 2], [4, 5, 6]])
    found = positions.rotary(x, places, width=4)
    np.testing.assert_array_equal(found[..., 4:], x[..., 4:])
    np.testing.assert_allclose(found[1, :, :4], positions.rotary(x[1, :, :4], places[1]), atol=1e-15)
    assert positions.rotary(x.astype(jnp.bfloat16)).dtype == jnp.bfloat16


def test_sinusoids_worked_by_hand():
    """Width 4: rates 1 and 1/100."""
    found = positions.sinusoidal(3, 4)
    expected = [[math.sin(t), math.cos(t), math.sin(t / 100), math.cos(t / 100)] for t in range(3)]
    np.testing.assert_allclose(found, expected, atol=1e-7)
    np.testing.assert_allclose(positions.sinusoidal(jnp.asarray([2.0]), 4)[0], expected[2], atol=1e-15)


def test_a_shift_of_sinusoids_is_a_rotation():
    """PE(t + s) is PE(t), its pairs turned by s times their rates: linear in PE(t), as the paper says."""
    t, shift = jnp.arange(4.0, dtype=jnp.float64), 2.5
    here, there = positions.sinusoidal(t, 6), positions.sinusoidal(t + shift, 6)
    for pair, rate in enumerate(10000.0 ** (-np.arange(3) / 3)):
        sine, cosine = here[:, 2 * pair], here[:, 2 * pair + 1]
        turned = sine * math.cos(rate * shift) + cosine * math.sin(rate * shift)
        np.testing.assert_allclose(there[:, 2 * pair], turned, atol=1e-14)


def test_positions_are_traceable():
    offset_bias = jax.jit(lambda offset: positions.t5_bias(jnp.eye(8), 1, 6, offset=offset))
    np.testing.assert_array_equal(offset_bias(4), positions.t5_bias(jnp.eye(8), 1, 6, offset=4))


def test_positions_of_sequences_are_not_taken_for_those_of_heads():
    """As many sequences as heads: positions [B, T] would be read as [H, T]."""
    x, places = normal(2, 2, 3, 4), jnp.asarray([[0, 1, 2], [4, 5, 6]])
    found = positions.rotary(x, places[:, None])
    for b in range(2):
        np.testing.assert_allclose(found[b], positions.rotary(x[b], places[b]), atol=1e-15)
    for bad in (places, jnp.arange(2), jnp.zeros((3, 1, 3))):
        with pytest.raises(ValueError, match=r"positions must be \[3\] or have all axes of \[2, 2, 3\], got shape"):
            positions.rotary(x, bad)


def test_buckets_do_not_depend_on_the_type_of_the_distances():
    near = np.array([-128, -100, 0, 127])
    wide = positions.t5_buckets(jnp.asarray(near), max_distance=1000)
    np.testing.assert_array_equal(positions.t5_buckets(jnp.asarray(near, jnp.int8), max_distance=1000), wide)
    assert positions.t5_buckets(jnp.asarray([-(2**31)], jnp.int32)).tolist() == [15]
    assert positions.t5_buckets(jnp.asarray([-5, 2**30], jnp.int32), max_distance=10**12).tolist() == [5, 29]


def test_distances_of_alibi_are_not_rounded_to_16_bits():
    slopes = jnp.asarray([0.5, 1.0], jnp.bfloat16)
    found = positions.alibi_bias(slopes, 302, 302)
    np.testing.assert_array_equal(found, positions.alibi_bias(slopes.astype(jnp.float32), 302, 302))


@pytest.mark.parametrize("width", [64, 80, 96])
def test_rates_are_those_of_double_precision_to_rounding_at_any_width(width):
    """An exponent 2i/D that is rounded first costs seven times as much, and 0.04 radians at place 100,000."""
    place = jnp.asarray([100_000])
    x = jnp.asarray(np.random.default_rng(0).normal(size=(1, width)), jnp.float32)
    found = positions.rotary(x, place, pairing="half")
    rates = np.asarray(10_000.0 ** (-np.arange(0, width, 2) / width), np.float32).astype(float)
    left, right = np.split(np.asarray(x, float), 2, axis=1)
    cos, sin = np.cos(1e5 * rates), np.sin(1e5 * rates)
    expected = np.concatenate([left * cos - right * sin, right * cos + left * sin], axis=1)
    np.testing.assert_allclose(found, expected, atol=1e-5)
