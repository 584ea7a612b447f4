"""Multi-query associative recall: sequences as published, contradictions counted, and a head that needs no training."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

from experiments.mqar import model
from experiments.mqar.experiment import FILLERS

LENGTH, PAIRS, VOCABULARY = 32, 4, 24


def drawn(filler: str, count: int = 300) -> Any:
    return jax.tree.map(np.asarray, model.draw_sequences(jax.random.key(0), count, LENGTH, PAIRS, VOCABULARY, filler))


@pytest.mark.parametrize("filler", FILLERS)
def test_every_key_is_stored_once_and_asked_for_once_and_the_rest_is_filler(filler):
    recall = drawn(filler)
    keys, values = recall.tokens[:, : 2 * PAIRS : 2], recall.tokens[:, 1 : 2 * PAIRS : 2]
    assert ((keys >= 1) & (keys < VOCABULARY // 2)).all()
    assert ((values >= VOCABULARY // 2) & (values < VOCABULARY)).all()
    assert all(len(set(row)) == PAIRS for row in keys)
    np.testing.assert_array_equal(values, recall.values)
    np.testing.assert_array_equal(np.take_along_axis(recall.tokens, recall.asked, axis=1), keys)
    assert (recall.asked >= 2 * PAIRS).all()
    assert (recall.asked % 2 == 0).all()
    assert all(len(set(row)) == PAIRS for row in recall.asked)
    rest = np.ones(recall.tokens.shape, bool)
    rest[:, : 2 * PAIRS] = False
    np.put_along_axis(rest, recall.asked, False, axis=1)
    if filler == "zero":
        assert not recall.tokens[rest].any()
    else:
        assert len(np.unique(recall.tokens[rest])) == VOCABULARY


def test_gaps_follow_a_power_law():
    """With one pair a gap of g pairs of places has p(g) ∝ g^(a−1)."""
    recall = jax.tree.map(np.asarray, model.draw_sequences(jax.random.key(1), 20000, 16, 1, VOCABULARY, "zero"))
    share = np.bincount((recall.asked[:, 0] - 2) // 2, minlength=7) / 20000
    law = np.arange(1.0, 8.0) ** (model.POWER - 1.0)
    np.testing.assert_allclose(share, law / law.sum(), atol=4 * 0.5 / 20000**0.5)


def test_contradictions_are_counted_in_random_filler_alone():
    """The first key again at place 8, followed by 0, is a contradiction if asked for at 12, not at 8."""
    tokens = jnp.array([[1, 13, 2, 14, 3, 15, 4, 16, 1, 0, 2, 14, 1, 0, 2, 0, 3, 0, 4, 0]])
    asked, values = jnp.array([[12, 14, 16, 18]]), jnp.array([[13, 14, 15, 16]])
    found = model.contradicted(model.Recall(tokens, asked, values), 4)
    np.testing.assert_array_equal(found, [[True, False, False, False]])
    assert not model.contradicted(model.Recall(tokens, asked.at[0, 0].set(8), values), 4).any()
    share = {name: model.contradicted(drawn(name), PAIRS).mean() for name in FILLERS}
    assert share["zero"] == share["clean"] == 0.0 < share["random"]


@pytest.mark.parametrize("filler", FILLERS)
def test_the_head_set_by_hand_is_right_on_all(filler):
    recall = drawn(filler, 100)
    answers = jax.jit(jax.vmap(lambda tokens, asked: model.by_hand(tokens, asked, VOCABULARY)))
    np.testing.assert_array_equal(answers(recall.tokens, recall.asked), recall.values)


@pytest.mark.parametrize("mixer", ["softmax", "hopfield", "linear", "gated_delta"])
def test_an_answer_does_not_depend_on_later_tokens(mixer):
    kind = model.Structure(mixer, 8, LENGTH, VOCABULARY, 2, 0.0)
    recall, keep = drawn("random", 2), jnp.ones((2, 8))
    made, read = model.Model(kind, nnx.Rngs(0)), nnx.jit(model.Model.__call__)
    asked = np.full_like(recall.asked, 12)
    changed = recall.tokens.copy()
    changed[:, 13:] = 0
    expected = read(made, recall.tokens, asked, keep)
    np.testing.assert_allclose(expected, read(made, changed, asked, keep), atol=1e-5)
    changed[:, 3] = 0
    assert not np.allclose(expected, read(made, changed, asked, keep), atol=1e-3)
