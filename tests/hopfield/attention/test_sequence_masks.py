"""Segments of one sequence read what separate ones read, whatever the separation, and blocks of others are skipped."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield import attention
from hopfield.attention._blocks import Blocks, key_blocks

LENGTHS = (3, 6, 1, 4)
IDS = jnp.repeat(jnp.arange(4), jnp.array(LENGTHS), total_repeat_length=14)
ROWS = tuple(jax.random.normal(jax.random.key(i), (2, 14, 4), jnp.float32) for i in range(3))
SEPARATIONS = ("softmax", "softmax1", "sparsemax", "entmax:1.3", "normmax:2", "top_k:2", "polynomial:3")


def separately(read, *rows):
    """Read-outs of every segment by itself."""
    cuts = np.cumsum(LENGTHS)[:-1]
    parts = zip(*(jnp.split(x, cuts, axis=-2) for x in rows), strict=True)
    return jnp.concatenate([read(*part) for part in parts], axis=-2)


@pytest.mark.parametrize("separation", SEPARATIONS)
def test_segments_are_separate_sequences_forwards_and_backwards(separation):
    mask = attention.segments(IDS) & attention.causal()
    read = lambda mask, *rows: attention.attend(*rows, separation=separation, mask=mask)
    together = lambda *rows: read(mask, *rows)
    apart = lambda *rows: separately(lambda *part: read(attention.causal(), *part), *rows)
    for one, other in zip(*(pulled(form) for form in (together, apart)), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-5)


def pulled(read):
    """Read-outs and the slopes of the sum of their squares."""
    output, back = jax.vjp(jax.jit(read), *ROWS)
    return output, *back(2 * output)


@pytest.mark.slow
@pytest.mark.parametrize("separation", ["softmax", "softmax1"])
def test_segments_in_blocks_are_separate_sequences_forwards_and_backwards(separation):
    for blocks in ((3, 4), (14, 4)):
        mask = attention.segments(jnp.stack([IDS, IDS])) & attention.causal()
        in_blocks = lambda *rows, mask=mask, blocks=blocks: attention.attend_blockwise(
            *rows, separation=separation, mask=mask, blocks=blocks
        )
        apart = lambda *rows: separately(
            lambda *part: attention.attend(*part, separation=separation, mask=attention.causal()), *rows
        )
        for one, other in zip(pulled(in_blocks), pulled(apart), strict=True):
            np.testing.assert_allclose(one, other, atol=1e-5)


def test_only_blocks_that_hold_a_segment_of_the_queries_are_visited():
    """Segments are at 0 – 2, 3 – 8, 9 and 10 – 13; blocks of two keys."""
    mask = attention.segments(IDS)
    found = [tuple(map(int, key_blocks(mask, row, Blocks(2, 2), 14))) for row in range(0, 14, 2)]
    assert found == [(0, 2), (0, 5), (1, 5), (1, 5), (1, 5), (5, 7), (5, 7)]
    causal = mask & attention.causal()
    assert [int(key_blocks(causal, row, Blocks(2, 2), 14)[1]) for row in range(0, 14, 2)] == [1, 2, 3, 4, 5, 6, 7]
