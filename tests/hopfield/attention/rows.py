"""Rows of queries, keys and values, and the functions that read by head, as tests of arguments share them."""

from functools import partial

import jax
import numpy as np

from hopfield import attention
from hopfield.attention import core

RNG = np.random.default_rng(0)
B = H = 2
"""As many sequences as heads, so that one cannot stand for the other unnoticed."""
LENGTHS = np.asarray([2, 5])
QUERY, KEY, VALUE = (RNG.normal(size=(B, H, n, 3)) for n in (4, 5, 5))
X = RNG.normal(size=(B, 5, 4))
DRAWN = RNG.normal(size=(3, H, 4, 3))
WEIGHTS = attention.Projections(DRAWN[0], DRAWN[1], DRAWN[2], np.ones((H, 3, 4)))
MIXES = RNG.integers(-2, 3, size=(2, 5))
BY_HEAD = {
    "attend": jax.jit(core.attend),
    "decompose": jax.jit(lambda *rows, mask: core.decompose(*rows, mask=mask).output),
    "blockwise": jax.jit(partial(attention.attend_blockwise, blocks=(2, 3))),
    "heads": jax.jit(attention.attend_heads),
    "kernel": jax.jit(attention.kernel_regression),
}
"""Compiled whole, as others are in the tests: a program for every operation would cost ten times the seconds."""
