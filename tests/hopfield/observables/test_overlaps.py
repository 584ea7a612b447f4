import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield import patterns
from hopfield.observables import overlaps, thermodynamics
from hopfield.observables import weights as weights_

KEY = jax.random.key(7)
RNG = np.random.default_rng(11)
DTYPES = pytest.mark.parametrize("dtype", [jnp.float32, jnp.float64], ids=lambda dtype: dtype.__name__)


@DTYPES
@pytest.mark.parametrize("fraction", [0.0, 0.1, 0.5, 1.0])
def test_overlap_and_bit_error_of_flipped_spins(fraction, dtype):
    pattern = patterns.spins(KEY, 1, 40, dtype=dtype)[0]
    state = patterns.flip(KEY, pattern, fraction)
    # k = fraction·N wrong spins: m = 1 − 2k/N, error k/N, and ‖x‖ = ‖ξ‖ = √N.
    tolerance = 8 * float(jnp.finfo(dtype).eps)
    for measured, expected in [
        (overlaps.overlap(state, pattern), 1 - 2 * fraction),
        (overlaps.cosine_overlap(state, pattern), 1 - 2 * fraction),
        (overlaps.bit_error(state, pattern), fraction),
    ]:
        assert measured.dtype == dtype
        assert float(measured) == pytest.approx(expected, abs=tolerance)


def test_sparse_overlap_is_the_difference_of_the_shares_that_are_on():
    """2 of 3 that should be and 1 of 5 that should not; a state that is all off knows nothing of the pattern."""
    pattern = jnp.array([1.0, 1, 1, -1, -1, -1, -1, -1])
    state = jnp.array([1.0, 1, -1, 1, -1, -1, -1, -1])
    assert float(overlaps.sparse_overlap(state, pattern)) == pytest.approx(2 / 3 - 1 / 5, rel=1e-12)
    assert overlaps.sparse_overlap(pattern, pattern) == 1
    assert overlaps.sparse_overlap(-jnp.ones(8), pattern) == 0
    assert overlaps.sparse_overlap(-jnp.ones(8), -jnp.ones(8)) == 1


def test_retained_means_an_overlap_above_the_threshold():
    pattern = jnp.ones(20)
    wrong = [pattern.at[:k].set(-1.0) for k in (1, 2, 3)]  # overlaps 0.9, 0.8, 0.7
    assert [bool(overlaps.retained(state, pattern)) for state in wrong] == [True, False, False]
    assert [bool(overlaps.retained(state, pattern, 0.65)) for state in wrong] == [True, True, True]
    assert not overlaps.retained(-pattern, pattern)


def test_exact_means_equal_or_closer_than_a_share_of_the_patterns_norm():
    pattern = jnp.asarray([2.0, -2.0, 2.0, -2.0])  # ‖ξ‖ = 4
    assert overlaps.exact(pattern, pattern)
    assert not overlaps.exact(pattern.at[2].add(1e-9), pattern)
    assert not overlaps.exact(jnp.asarray([1e-200]), jnp.asarray([0.0]))  # its square is 0
    assert overlaps.exact(pattern.at[2].add(0.039), pattern, 0.01)
    assert not overlaps.exact(pattern.at[2].add(0.041), pattern, 0.01)
    assert not overlaps.exact(-pattern, pattern, 1.9)


@DTYPES
@pytest.mark.parametrize("held", [1, 2, 7])
def test_uniform_weights_count_the_patterns_that_hold_them(held, dtype):
    weights = jnp.zeros(7, dtype).at[:held].set(1 / held)
    for number in (thermodynamics.effective_number(weights), weights_.participation_ratio(weights)):
        assert number.dtype == dtype
        assert float(number) == pytest.approx(held, rel=8 * float(jnp.finfo(dtype).eps))


def test_effective_number_is_the_exponential_of_the_entropy():
    # softmax of [2, 1, 0]: entropy 0.832395 nats; 1/Σp² from the same weights.
    weights = np.exp([2.0, 1.0, 0.0]) / np.sum(np.exp([2.0, 1.0, 0.0]))
    entropy = -np.sum(weights * np.log(weights))
    assert entropy == pytest.approx(0.8324, abs=5e-5)
    assert float(thermodynamics.effective_number(jnp.asarray(weights))) == pytest.approx(math.exp(entropy), rel=1e-13)
    ratio = float(weights_.participation_ratio(jnp.asarray(weights)))
    assert ratio == pytest.approx(1 / np.sum(weights**2), rel=1e-13)


def brute_force_separation(rows, mask=None):
    used = np.ones(len(rows), bool) if mask is None else mask
    gaps = np.full(len(rows), np.inf)
    for own in np.flatnonzero(used):
        for other in np.flatnonzero(used):
            if other != own:
                gaps[own] = min(gaps[own], rows[own] @ rows[own] - rows[own] @ rows[other])
    return gaps


@DTYPES
@pytest.mark.parametrize("block", [1, 3, 4, 13, 100])
def test_separation_is_the_smallest_gap_whatever_the_block(block, dtype):
    rows = RNG.normal(size=(13, 6))
    gaps = jax.jit(overlaps.pattern_gap, static_argnames="block")(jnp.asarray(rows, dtype), block=block)
    assert gaps.dtype == dtype
    np.testing.assert_allclose(gaps, brute_force_separation(rows), rtol=0, atol=50 * float(jnp.finfo(dtype).eps))


def test_nearest_pattern_is_the_one_that_was_corrupted():
    stored = patterns.spins(KEY, 30, 200)
    keys = jax.random.split(KEY, 30)
    states = jax.vmap(lambda key, row: patterns.flip(key, row, 0.2))(keys, stored)
    nearest = jax.jit(jax.vmap(overlaps.nearest_pattern, (0, None)))(states, stored)
    np.testing.assert_array_equal(nearest.index, np.arange(30))
    np.testing.assert_allclose(nearest.overlap, 0.6, atol=1e-14)


@pytest.mark.parametrize("jit", [False, True], ids=["eager", "jit"])
def test_nearest_pattern_skips_masked_patterns_and_takes_the_first_of_equals(jit):
    nearest = jax.jit(overlaps.nearest_pattern) if jit else overlaps.nearest_pattern
    stored = jnp.asarray([[jnp.nan, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, 1.0]])
    state = jnp.asarray([-1.0, 1.0])
    index, overlap = nearest(state, stored, jnp.asarray([False, True, True, True]))
    assert (int(index), float(overlap)) == (2, 1.0)
    index, overlap = nearest(state, stored, jnp.asarray([False, True, False, False]))
    assert (int(index), float(overlap)) == (1, -1.0)
    index, overlap = nearest(state, stored, jnp.zeros(4, bool))
    assert (int(index), float(overlap)) == (-1, 0.0)
    index, overlap = nearest(state, stored[1:])
    assert (int(index), float(overlap)) == (1, 1.0)


def test_least_distances_are_those_of_all_pairs():
    patterns = np.random.default_rng(3).normal(size=(7, 5))
    mask = np.arange(7) != 4
    apart = np.linalg.norm(patterns[:, None] - patterns[None], axis=-1) + np.where(np.eye(7), np.inf, 0.0)
    apart = np.where(mask[:, None] & mask[None], apart, np.inf).min(axis=1)
    found = overlaps.least_distance(jnp.asarray(patterns), jnp.asarray(mask), block=3)
    np.testing.assert_allclose(found, apart, rtol=1e-5)
    assert overlaps.least_distance(jnp.ones((2, 3))).tolist() == [0.0, 0.0]
