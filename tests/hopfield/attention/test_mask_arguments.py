"""Masks given to attention: those of sequences among several heads, refused ones, and rows that nobody may read."""

from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

from hopfield import attention, layers
from hopfield.attention import core, masks
from tests.hopfield.attention.rows import BY_HEAD, KEY, LENGTHS, QUERY, VALUE, WEIGHTS, B, H, X

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


def test_a_mask_of_sequences_goes_through_several_heads_and_shared_keys():
    multi_head, heads = jax.jit(attention.multi_head), BY_HEAD["heads"]
    found = multi_head(WEIGHTS, X, mask=masks.padding(LENGTHS))
    shared = heads(QUERY, KEY[:, :1], VALUE[:, :1], mask=masks.padding(LENGTHS))
    for b in range(B):
        alone = masks.padding(LENGTHS[b])
        np.testing.assert_allclose(found[b], multi_head(WEIGHTS, X[b], mask=alone), atol=1e-12)
        np.testing.assert_allclose(shared[b], heads(QUERY[b], KEY[b, :1], VALUE[b, :1], mask=alone), atol=1e-12)


def test_a_mask_belongs_to_the_sequences_that_only_values_have():
    attend = BY_HEAD["attend"]
    found = attend(QUERY[0], KEY[0], VALUE, mask=masks.padding(LENGTHS))
    for b in range(B):
        expected = attend(QUERY[0], KEY[0], VALUE[b], mask=masks.padding(LENGTHS[b]))
        np.testing.assert_allclose(found[b], expected, atol=1e-12)


@pytest.mark.parametrize("function", BY_HEAD)
def test_an_array_without_an_axis_of_the_scores_is_refused(function):
    short = masks.padding(LENGTHS).dense(4, 5)
    with pytest.raises(ValueError, match=r"^mask must have all 4 axes of the scores or the last two, got shape"):
        BY_HEAD[function](QUERY, KEY, VALUE, mask=short)


@pytest.mark.parametrize("function", BY_HEAD)
def test_a_mask_of_numbers_is_refused(function):
    added = np.where(np.tri(4, 5, dtype=bool), 0.0, -np.inf)
    with pytest.raises(ValueError, match=r"^mask must be boolean, True where a key may be read, got float64"):
        BY_HEAD[function](QUERY, KEY, VALUE, mask=added)


@pytest.mark.parametrize("function", [attention.linear_attention, partial(attention.attend_locally, left=2, right=1)])
def test_valid_keys_have_all_leading_axes_or_none(function):
    function, valid = jax.jit(function), np.arange(5)[None] < LENGTHS[:, None]
    found = function(QUERY, KEY, VALUE, valid=valid[:, None])
    for b in range(B):
        np.testing.assert_allclose(found[b], function(QUERY[b], KEY[b], VALUE[b], valid=valid[b]), atol=1e-12)
    with pytest.raises(ValueError, match=r"^valid must have the 2 leading axes of the rows or none, got shape"):
        function(QUERY, KEY, VALUE, valid=valid)


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


def test_marks_of_another_number_of_keys_are_refused():
    """Marks of 3 of 5 keys would leave two of them unread without a word."""
    layer = layers.HopfieldAttention(2, 4, rngs=nnx.Rngs(0))
    for length in (3, 7):
        mask = masks.causal() & ~masks.key_padding(np.ones((B, length), bool))
        for read in (core.attend, attention.attend_blockwise, attention.attend_heads):
            with pytest.raises(ValueError, match=f"valid must have one entry per key, 5, got {length}"):
                read(QUERY, KEY, VALUE, mask=mask)
        with pytest.raises(ValueError, match=f"valid must have one entry per key, 5, got {length}"):
            layer(X, mask=mask)
