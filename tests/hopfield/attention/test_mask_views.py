"""Masks as numbers and as text, random blocks, and padding of queries."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield.attention import (
    attend,
    attend_blockwise,
    causal,
    mask_bias,
    mask_text,
    padding,
    random_blocks,
    sliding_window,
)

RNG = np.random.default_rng(0)


def test_a_mask_as_bias_reads_the_same():
    query, key, value = (jnp.asarray(RNG.normal(size=(2, 5, 4))) for _ in range(3))
    mask = causal() & padding(jnp.array([3, 5]))
    np.testing.assert_allclose(
        attend(query, key, value, bias=mask_bias(mask, 5, 5)), attend(query, key, value, mask=mask), atol=1e-6
    )
    assert not mask_bias(None, 2, 3).any()


def test_text_shows_which_keys_are_read():
    assert mask_text(sliding_window(1, 0), 3, 3) == "■··\n■■·\n·■■"
    assert mask_text(None, 1, 2) == "■■"
    assert mask_text(jnp.array([[True, False]]), 1, 2) == "■·"


def test_random_blocks_are_whole_blocks_and_the_own_one():
    mask = random_blocks(jax.random.key(0), 24, 4, 2)
    dense = np.asarray(mask.dense(24, 24)).reshape(6, 4, 6, 4)
    whole = dense.any(axis=(1, 3))
    np.testing.assert_array_equal(dense, np.broadcast_to(whole[:, None, :, None], dense.shape))
    assert whole.diagonal().all()
    assert set(whole.sum(axis=1)) == {3}
    x = jnp.asarray(RNG.normal(size=(24, 4)))
    np.testing.assert_allclose(attend_blockwise(x, x, x, mask=mask), attend(x, x, x, mask=mask), atol=1e-6)
    with pytest.raises(ValueError, match="count must be at most the 5 other blocks"):
        random_blocks(jax.random.key(0), 24, 4, 6)
