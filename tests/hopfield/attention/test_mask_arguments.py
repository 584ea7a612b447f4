"""Masks given to attention: masks of sequences among several heads, refused ones, and rows that nobody may read."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield import attention, layers
from hopfield.attention import core, masks
from tests.hopfield.attention.rows import BY_HEAD, KEY, LENGTHS, QUERY, VALUE, B, H

ALONE = {
    "padding": (masks.padding(LENGTHS), lambda b: masks.padding(LENGTHS[b])),
    "padding and causal": (
        masks.causal() & masks.padding(LENGTHS),
        lambda b: masks.causal() & masks.padding(LENGTHS[b]),
    ),
    "keys": (masks.key_padding(np.arange(5)[None] < LENGTHS[:, None]), lambda b: masks.padding(LENGTHS[b])),
    "with an axis for heads": (masks.padding(LENGTHS[:, None]), lambda b: masks.padding(LENGTHS[b])),
    "prefix": (masks.prefix(LENGTHS), lambda b: masks.prefix(LENGTHS[b])),
}


@pytest.mark.parametrize("mask", ALONE)
@pytest.mark.parametrize("function", BY_HEAD)
def test_a_mask_is_one_of_sequences_also_with_as_many_heads(function, mask):
    whole, one = ALONE[mask]
    found = BY_HEAD[function](QUERY, KEY, VALUE, mask=whole)
    for b in range(B):
        expected = BY_HEAD[function](QUERY[b], KEY[b], VALUE[b], mask=one(b))
        np.testing.assert_allclose(found[b], expected, atol=1e-12)


PADDED = np.asarray([[1, 1, 0, 0, 0], [1, 1, 1, 1, 0]], bool)
UNREAD = {
    "attend": BY_HEAD["attend"],
    "sparse": partial(core.attend, separation="sparsemax"),
    "a metric per head": partial(core.attend, metric=np.stack([np.eye(3), 2 * np.eye(3)])),
    "decompose": BY_HEAD["decompose"],
    "blockwise": BY_HEAD["blockwise"],
    "one block": attention.attend_blockwise,
    "heads": attention.attend_heads,
    "kernel": attention.kernel_regression,
    "local": lambda *rows, mask: attention.attend_locally(*rows, left=3, right=3, valid=mask.valid[:, None]),
    "linear": lambda *rows, mask: attention.linear_attention(*rows, valid=mask.valid[:, None]),
    "favor": lambda *rows, mask: attention.linear_attention(
        *rows, features=attention.PositiveFeatures(jax.random.key(0), 3, 4), valid=mask.valid[:, None]
    ),
    "fourier": lambda *rows, mask: attention.linear_attention(
        *rows, features=attention.RandomFourier(jax.random.key(0), 3, 4), valid=mask.valid[:, None]
    ),
    "by hand": lambda *rows, mask: attention.attention_gradients(*rows, np.ones((B, H, 4, 3)), mask=mask),
    "layer": lambda *rows, mask: layers.HopfieldAssociation(H, 3)(*(jnp.swapaxes(x, 1, 2) for x in rows), mask=mask),
    "layer of steps": lambda *rows, mask: layers.HopfieldAssociation(
        H, 3, layers.AssociationOptions(update_steps=3, memory_slots=1)
    )(*(jnp.swapaxes(x, 1, 2) for x in rows), mask=mask),
}


@pytest.mark.parametrize("name", UNREAD)
def test_keys_and_values_that_no_query_may_read_change_nothing_whatever_they_are(name):
    """0 · NaN is NaN: padding of NaN, or of numbers whose features overflow, would reach every query."""
    function, mask = partial(UNREAD[name], mask=masks.key_padding(PADDED)), ~PADDED[:, None, :, None]

    def slopes(query, key, value):
        return jax.grad(lambda *rows: jnp.sum(jax.tree.leaves(function(*rows))[0] ** 2), (0, 1, 2))(query, key, value)

    verbs = (function,) if name == "decompose" else (function, slopes)
    read = jax.jit(lambda *rows: [verb(*rows) for verb in verbs])
    expected = jax.tree.leaves(read(QUERY, *(np.where(mask, 0.0, x) for x in (KEY, VALUE))))
    for bad in (np.nan, np.inf, 1e3):
        found = jax.tree.leaves(read(QUERY, *(np.where(mask, bad, x) for x in (KEY, VALUE))))
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, atol=1e-12)
