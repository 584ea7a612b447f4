"""Masks against their definitions position by position, their algebra, and the promise of their band."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield.attention import masks

VALID = np.asarray([[1, 0, 1, 1, 0, 1, 1], [0, 0, 1, 0, 0, 0, 1]], bool)
CASES = {
    "everything": (masks.everything(), lambda i, j: True),
    "causal": (masks.causal(), lambda i, j: j <= i),
    "sliding_window": (masks.sliding_window(2, 1), lambda i, j: i - 2 <= j <= i + 1),
    "symmetric_window": (masks.sliding_window(2), lambda i, j: abs(i - j) <= 2),
    "strided": (masks.strided(3), lambda i, j: (i - j) % 3 == 0),
    "block": (masks.block(3), lambda i, j: i // 3 == j // 3),
    "global_local": (masks.global_local(2, 1, 1), lambda i, j: i < 2 or j < 2 or abs(i - j) <= 1),
    "prefix": (masks.prefix(3), lambda i, j: j < 3 or j <= i),
    "padding": (masks.padding(4), lambda i, j: j < 4),
    "key_padding": (masks.key_padding(VALID[0]), lambda i, j: bool(VALID[0, j])),
    "both": (masks.causal() & masks.strided(2), lambda i, j: j <= i and (i - j) % 2 == 0),
    "either": (masks.block(2) | masks.causal(), lambda i, j: i // 2 == j // 2 or j <= i),
    "inverse": (~masks.causal(), lambda i, j: j > i),
    "nested": (~(masks.block(2) | masks.padding(3)) & masks.causal(), lambda i, j: i // 2 != j // 2 and 3 <= j <= i),
}


def test_masks_are_their_definition():
    for name, (mask, rule) in CASES.items():
        expected = [[rule(i, j) for j in range(7)] for i in range(5)]
        np.testing.assert_array_equal(mask.dense(5, 7), expected, name)


@pytest.mark.parametrize("name", CASES)
def test_an_offset_moves_the_queries(name):
    """Decoding: the last query alone is the last row of the whole table, also for a traced position."""
    mask, _ = CASES[name]
    found = jax.jit(lambda offset: mask.dense(2, 7, offset))(5)
    np.testing.assert_array_equal(found, mask.dense(7, 7)[5:])


@pytest.mark.parametrize("name", CASES)
def test_any_block_of_a_mask_is_cut_from_the_whole(name):
    mask, _ = CASES[name]
    rows, columns = jnp.arange(3, 6)[:, None], jnp.arange(2, 6)[None, :]
    np.testing.assert_array_equal(mask.allows(rows, columns), mask.dense(7, 7)[3:6, 2:6])


@pytest.mark.parametrize("name", CASES)
def test_nothing_outside_the_band_is_allowed(name):
    mask, _ = CASES[name]
    left, right = mask.band
    for i, j in zip(*np.nonzero(np.asarray(mask.dense(7, 7))), strict=True):
        assert left is None or j >= i - left
        assert right is None or j <= i + right


def test_bands_of_combinations_are_the_tightest_that_hold():
    window, past = masks.sliding_window(4, 2), masks.causal()
    assert (window & past).band == (4, 0)
    assert (window | masks.block(3)).band == (4, 2)
    assert (window | past).band == (None, 2)
    assert (~window).band == (None, None)
    assert (masks.everything() & past).band == (None, 0)


def test_lengths_and_marks_have_one_table_per_sequence():
    """For heads between batch and positions the lengths are [B, 1]: the tables are [B, 1, T, S]."""
    lengths = jnp.asarray([2, 7])
    np.testing.assert_array_equal(masks.padding(lengths).dense(3, 7)[:, 2], [np.arange(7) < 2, np.arange(7) < 7])
    assert masks.padding(lengths[:, None]).dense(3, 7).shape == (2, 1, 3, 7)
    np.testing.assert_array_equal(masks.key_padding(VALID).dense(3, 7)[:, 1], VALID)
    both = masks.padding(lengths[:, None]) & masks.causal() & masks.key_padding(VALID[:, None])
    assert both.dense(3, 7).shape == (2, 1, 3, 7)
    expected = (np.arange(7) < 7) & (np.arange(7) <= 2) & VALID[1]
    np.testing.assert_array_equal(both.dense(3, 7)[1, 0, 2], expected)
    prefixes = masks.prefix(lengths).dense(4, 7)
    np.testing.assert_array_equal(prefixes[0, 0], np.arange(7) < 2)


def test_positions_beyond_the_marks_may_not_be_read():
    mask = masks.key_padding(jnp.ones(3, bool))
    np.testing.assert_array_equal(mask.allows(jnp.arange(2)[:, None], jnp.arange(2, 5)[None, :])[0], [1, 0, 0])
