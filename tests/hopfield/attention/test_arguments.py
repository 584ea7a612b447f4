"""What attention makes of its arguments: masks of sequences, whole numbers, the default β, numbers beyond float32."""

import inspect
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

from hopfield import attention, layers, metrics
from hopfield.attention import core, masks

RNG = np.random.default_rng(0)
B = H = 2
"""As many sequences as heads, so that one cannot stand for the other unnoticed."""
LENGTHS = np.asarray([2, 5])
QUERY, KEY, VALUE = (RNG.normal(size=(B, H, n, 3)) for n in (4, 5, 5))
X = RNG.normal(size=(B, 5, 4))
DRAWN = RNG.normal(size=(3, H, 4, 3))
WEIGHTS = attention.Projections(DRAWN[0], DRAWN[1], DRAWN[2], np.ones((H, 3, 4)))
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
BY_HEAD = {
    "attend": jax.jit(core.attend),
    "decompose": jax.jit(lambda *rows, mask: core.decompose(*rows, mask=mask).output),
    "blockwise": jax.jit(partial(attention.attend_blockwise, blocks=(2, 3))),
    "heads": jax.jit(attention.attend_heads),
    "kernel": jax.jit(attention.kernel_regression),
}
"""Compiled whole, as are others below: of every operation a program of its own would cost ten times the seconds."""


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


def test_a_mask_of_heads_is_refused():
    with pytest.raises(ValueError, match=r"^mask must be one of sequences, with at most 0 leading axes, got"):
        attention.attend_heads(QUERY[0], KEY[0], VALUE[0], mask=masks.padding(LENGTHS))


@pytest.mark.parametrize("function", [attention.linear_attention, partial(attention.attend_locally, left=2, right=1)])
def test_valid_keys_have_all_leading_axes_or_none(function):
    function, valid = jax.jit(function), np.arange(5)[None] < LENGTHS[:, None]
    found = function(QUERY, KEY, VALUE, valid=valid[:, None])
    for b in range(B):
        np.testing.assert_allclose(found[b], function(QUERY[b], KEY[b], VALUE[b], valid=valid[b]), atol=1e-12)
    with pytest.raises(ValueError, match=r"^valid must have the 2 leading axes of the rows or none, got shape"):
        function(QUERY, KEY, VALUE, valid=valid)


WHOLE = [RNG.integers(-2, 3, size=(3, n, 4)) for n in (4, 5, 5)]
MIXES = RNG.integers(-2, 3, size=(2, 5))
ROWS = {
    "attend": core.attend,
    "decompose": core.decompose,
    "scores": lambda q, k, v: core.scores(q, k),
    "read": lambda q, k, v: core.read(core.weights(core.scores(q, k)), v),
    "blockwise": partial(attention.attend_blockwise, blocks=(2, 3)),
    "heads": attention.attend_heads,
    "low rank": lambda q, k, v: attention.attend_low_rank(q, k, v, MIXES.astype(v.dtype)),
    "linear": attention.linear_attention,
    "random features": partial(
        attention.linear_attention, features=attention.positive_random_features(jax.random.key(0), 4, 8)
    ),
    "causal linear": lambda q, k, v: attention.linear_attention(k, k, v, causal=True, chunk=2),
    "local": partial(attention.attend_locally, left=1),
    "kernel": attention.kernel_regression,
    "gradients": lambda q, k, v: attention.attention_gradients(q, k, v, np.ones((3, 4, 4)))[:3],
    "rotary": lambda q, k, v: attention.rotary(q),
    "relative": lambda q, k, v: attention.relative_bias(q[0], k[0], 6),
    "weights": lambda q, k, v: core.weights(q, temperature=1.5),
}


@pytest.mark.parametrize("function", ROWS)
def test_whole_numbers_are_floats(function):
    floats = [x.astype(float) for x in WHOLE]
    call = jax.jit(ROWS[function])
    expected = call(*floats)
    for kinds in (WHOLE, [floats[0], floats[1], WHOLE[2]], [WHOLE[0], floats[1], floats[2]]):
        jax.tree.map(partial(np.testing.assert_allclose, atol=1e-12), call(*kinds), expected)


def test_lists_are_arrays_and_words_are_refused():
    rows: Any = [[1, 2], [3, 4]]
    np.testing.assert_allclose(core.attend(rows, rows, rows), core.attend(*[np.asarray(rows, float)] * 3))
    with pytest.raises(ValueError, match=r"^value must be real numbers, got complex128"):
        core.attend(rows, rows, np.ones((2, 2), complex))


IDENTITIES = {"identity": metrics.euclidean(4), "matrix": np.eye(4), "scaled": metrics.scaled(4, 1.0)}


@pytest.mark.parametrize("metric", IDENTITIES)
def test_an_identity_metric_changes_nothing(metric):
    g = IDENTITIES[metric]
    query, key, value = (x.astype(float) for x in WHOLE)
    functions = {
        "attend": core.attend,
        "blockwise": partial(attention.attend_blockwise, blocks=(2, 3)),
        "heads": attention.attend_heads,
        "local": partial(attention.attend_locally, left=1),
        "kernel": attention.kernel_regression,
        "decompose": core.decompose,
        "low rank": lambda q, k, v, metric=None: attention.attend_low_rank(q, k, v, MIXES.astype(float), metric=metric),
        "gradients": lambda q, k, v, metric=None: attention.attention_gradients(q, k, v, q, metric=metric)[:3],
    }
    for function in functions.values():
        plain, found = jax.jit(lambda g, f=function: (f(query, key, value), f(query, key, value, metric=g)))(g)
        jax.tree.map(partial(np.testing.assert_allclose, atol=1e-12), found, plain)


@pytest.mark.parametrize("beta", [1e39, 1e-50, np.nan, 0.0], ids=str)
def test_an_inverse_temperature_is_a_number_of_the_scores_type(beta):
    rows = np.ones((2, 3), np.float32)
    for function in (core.attend, attention.attend_blockwise, partial(attention.attend_locally, left=1)):
        with pytest.raises(ValueError, match=r"^beta must be positive and finite, got"):
            function(rows, rows, rows, beta=beta)


@pytest.mark.parametrize("differentiate", [jax.jacfwd, jax.jacrev])
def test_a_score_of_minus_infinity_has_a_derivative_in_the_temperature(differentiate):
    """p = softmax(s / T) of s = (1, 2): dp_1/dT = p_1 p_2 (s_2 − s_1)/T²."""
    scores = np.asarray([[1.0, 2.0, -np.inf]])
    p = np.exp(scores[0] / 1.5) / np.sum(np.exp(scores[0] / 1.5))
    slope = jax.jit(differentiate(lambda t: core.weights(scores, temperature=t)))(1.5)[0]
    np.testing.assert_allclose(slope, np.asarray([1.0, -1.0, 0.0]) * p[0] * p[1] / 1.5**2, atol=1e-12)


def test_scores_of_one_query_have_weights_of_one_query():
    scores, used = np.asarray([1.0, 2.0, 0.5]), np.asarray([True, False, True])
    warm = np.exp(scores / 2.0)
    np.testing.assert_allclose(jax.jit(core.weights)(scores, temperature=2.0), warm / warm.sum())
    found = jax.jit(core.weights)(scores, mask=used)
    np.testing.assert_allclose(found, np.asarray([1.0, 0.0, np.exp(-0.5)]) / (1.0 + np.exp(-0.5)), atol=1e-12)


@pytest.mark.parametrize("shape", [(5,), (36, 106), (1, 2, 36, 106)], ids=str)
def test_scores_that_are_not_numbers_have_no_weights(shape):
    for function in (core.softmax, jax.jit(core.softmax), jax.jit(core.weights)):
        found = function(np.full(shape, np.nan, np.float32))
        assert found.shape == shape
        assert np.isnan(found).all()
    np.testing.assert_array_equal(jax.jit(core.softmax)(np.full(shape, -np.inf)), 0.0)


BIASED = {
    "attend": lambda bias: core.attend(QUERY, KEY, VALUE, bias=bias),
    "decompose": lambda bias: core.decompose(QUERY, KEY, VALUE, bias=bias).output,
    "scores": lambda bias: core.scores(QUERY, KEY, bias=bias),
    "heads": lambda bias: attention.attend_heads(QUERY, KEY, VALUE, bias=bias),
    "shared keys": lambda bias: attention.attend_heads(QUERY, KEY[:, :1], VALUE[:, :1], bias=bias),
    "gradients": lambda bias: attention.attention_gradients(QUERY, KEY, VALUE, QUERY, bias=bias).query,
    "verification": lambda bias: attention.verify_gradients(QUERY, KEY, VALUE, bias=bias).passed,
}
REFUSED = {
    "truth values": (np.tri(4, 5, dtype=bool), r"^bias must be real numbers, got bool"),
    "complex numbers": (np.ones((4, 5), complex), r"^bias must be real numbers, got complex"),
    "a word": ("alibi", r"^bias must be an array of real numbers, got str"),
    "too many keys": (np.ones(7), r"^bias must broadcast to the scores \[.*4, 5\], got shape \(7,\)"),
    "too many queries": (np.ones((3, 1)), r"^bias must broadcast to the scores \[.*4, 5\], got shape \(3, 1\)"),
}


@pytest.mark.parametrize("bias", REFUSED)
@pytest.mark.parametrize("function", BIASED)
def test_a_bias_is_real_numbers_that_broadcast_to_the_scores(function, bias):
    given, message = REFUSED[bias]
    with pytest.raises(ValueError, match=message):
        BIASED[function](given)


def test_one_query_has_no_bias_of_several():
    with pytest.raises(ValueError, match=r"^bias must broadcast to the scores \[2, 2, 1, 5\], got shape \(4, 5\)"):
        core.attend(QUERY[..., :1, :], KEY, VALUE, bias=np.zeros((4, 5)))


@pytest.mark.parametrize("function", BIASED)
def test_a_bias_of_whole_numbers_is_one_of_floats(function):
    given = RNG.integers(-2, 3, size=(2, 4, 5))
    np.testing.assert_allclose(BIASED[function](given.tolist()), BIASED[function](given.astype(float)), atol=1e-12)


THREE = [RNG.normal(size=(3, n, 2)) for n in (4, 5, 5)]
TEMPERED = {
    "attend": core.attend,
    "scores": lambda q, k, v, beta: core.scores(q, k, beta=beta),
    "blockwise": attention.attend_blockwise,
    "heads": attention.attend_heads,
    "shared keys": lambda q, k, v, beta: attention.attend_heads(q, k[:1], v[:1], beta=beta),
    "local": partial(attention.attend_locally, left=1),
    "kernel features": lambda q, k, v, beta: attention.random_fourier(jax.random.key(0), 2, 4, beta=beta)(q),
    "gradients": lambda q, k, v, beta: attention.attention_gradients(q, k, v, q, beta=beta),
    "relative": lambda q, k, v, beta: attention.relative_bias(q, np.ones((3, 2)), 5, beta=beta),
}


@pytest.mark.parametrize("function", TEMPERED)
def test_as_many_inverse_temperatures_as_heads(function):
    with pytest.raises(ValueError, match=r"^beta must (broadcast to the leading axes \[3\]|have length 1 or 3)"):
        TEMPERED[function](*THREE, beta=np.asarray([0.1, 0.2]))


def test_what_turns_scores_into_weights_takes_a_temperature():
    names = [name for name in attention.__all__ if inspect.isfunction(getattr(attention, name))]
    takes = {name: set(inspect.signature(getattr(attention, name)).parameters) for name in names}
    assert {name for name in names if "separation" in takes[name]} == {n for n in names if "temperature" in takes[n]}


ATTENDED = {
    "attend": core.attend,
    "decompose": lambda *rows, **given: core.decompose(*rows, **given)[1:],
    "blockwise": partial(attention.attend_blockwise, blocks=(2, 3), return_potential=True),
    "blockwise heads": partial(attention.attend_heads, attention=attention.attend_blockwise),
    "shared keys": lambda q, k, v, **given: attention.attend_heads(q, k[:, :1], v[:, :1], **given),
    "local": partial(attention.attend_locally, left=1),
    "low rank": lambda q, k, v, **given: attention.attend_low_rank(q, k, v, MIXES.astype(v.dtype), **given),
    "multi head": lambda q, k, v, **given: attention.multi_head(WEIGHTS, X, **given),
    "parts": lambda q, k, v, **given: attention.multi_head_parts(WEIGHTS, X, **given).heads[1:],
    "gradients": lambda q, k, v, **given: attention.attention_gradients(q, k, v, q, **given)[:3],
}


@pytest.mark.parametrize("function", ATTENDED)
def test_a_temperature_divides_beta(function):
    """Of no bias, which it would divide as well; numbers, and one of each head."""
    beta, temperature = jnp.asarray([0.8, 1.5]), jnp.asarray([2.0, 0.5])
    for given in ((beta, temperature), (beta[0], temperature[0])):
        found = ATTENDED[function](QUERY, KEY, VALUE, beta=given[0], temperature=given[1])
        expected = ATTENDED[function](QUERY, KEY, VALUE, beta=given[0] / given[1])
        jax.tree.map(partial(np.testing.assert_allclose, atol=1e-12), found, expected)


def test_a_temperature_divides_the_bias_too():
    bias = jnp.asarray(RNG.normal(size=(1, 1, 4, 5)))
    scores = (core.scores(QUERY, KEY) + bias) / 0.5
    expected = jax.nn.log_softmax(scores)
    found = core.decompose(QUERY, KEY, VALUE, bias=bias, temperature=0.5)
    np.testing.assert_allclose(found.weights, jnp.exp(expected), atol=1e-12)
    np.testing.assert_allclose(found.potential, jax.nn.logsumexp(scores, axis=-1), atol=1e-12)
    np.testing.assert_allclose(attention.log_weights(0.5 * scores, temperature=0.5), expected, atol=1e-12)


@pytest.mark.parametrize("function", [name for name in ATTENDED if name not in ("gradients", "multi head", "parts")])
def test_temperatures_are_positive_and_as_many_as_heads(function):
    with pytest.raises(ValueError, match=r"^temperature must be positive, got -1"):
        ATTENDED[function](QUERY, KEY, VALUE, temperature=-1.0)
    with pytest.raises(
        ValueError, match=r"^temperature must (broadcast to the leading axes \[2, 2\]|have length 1 or 2)"
    ):
        ATTENDED[function](QUERY, KEY, VALUE, temperature=np.ones(3))


def test_as_many_temperatures_as_heads():
    with pytest.raises(ValueError, match=r"^temperature must broadcast to the leading axes \[3\], got shape \(2,\)"):
        core.weights(np.ones((3, 4, 5)), temperature=np.ones(2))


@pytest.mark.parametrize("name", ["beta", "bias"])
def test_heads_that_share_keys_are_all_counted(name):
    """Two groups of two heads: what is given per group is no more of each head than three would be."""
    query, given = np.ones((4, 4, 3)), {"beta": np.ones(2), "bias": np.ones((2, 4, 5))}
    with pytest.raises(ValueError, match=rf"^{name} must have length 1 or 4, the heads, got 2"):
        attention.attend_heads(query, KEY[0], VALUE[0], **{name: given[name]})


@pytest.mark.parametrize("function", [core.attend, attention.attend_blockwise, attention.attend_heads])
def test_vectors_without_components_have_no_default_inverse_temperature(function):
    with pytest.raises(ValueError, match=r"^query must have a width of at least 1 for the default beta"):
        function(QUERY[..., :0], KEY[..., :0], VALUE)


ADDITIVE = {"vector": np.ones(3), "bias": np.asarray([1.0, -2.0, 3.0])}
MISFITS = {
    "number": ("vector", 2.0, r"^vector must have shape \[N\]"),
    "matrix": ("vector", np.ones((3, 1)), r"^vector must have shape \[N\]"),
    "another width": ("bias", np.ones(4), r"^bias must have shape \[3\]"),
    "bias of truth values": ("bias", np.ones(3, bool), r"^bias must be real numbers, got bool"),
    "one query": ("query", np.ones(3), r"^query must be rows of vectors"),
}


@pytest.mark.parametrize("misfit", MISFITS)
def test_additive_scores_have_one_vector_and_one_bias_of_its_length(misfit):
    name, value, message = MISFITS[misfit]
    given = {"query": QUERY, "key": KEY, "w_query": np.eye(3), "w_key": np.eye(3)} | ADDITIVE
    with pytest.raises(ValueError, match=message):
        attention.additive_scores(**given | {name: value})


def test_additive_scores_take_a_list_for_an_array():
    given = [QUERY, KEY, np.eye(3), np.eye(3), ADDITIVE["vector"]]
    listed: Any = ADDITIVE["bias"].tolist()
    np.testing.assert_array_equal(
        attention.additive_scores(*given, bias=listed), attention.additive_scores(*given, bias=ADDITIVE["bias"])
    )


INDEFINITE = {
    "negative": -np.eye(3),
    "of both signs": np.diag([1.0, -0.5, 1.0]),
    "diagonal": metrics.diagonal(np.asarray([1.0, -0.5, 1.0])),
    "one of the heads": np.stack([np.eye(3), -np.eye(3)]),
}


@pytest.mark.parametrize("metric", INDEFINITE)
def test_kernel_regression_needs_a_metric_of_lengths(metric):
    g = INDEFINITE[metric]
    with pytest.raises(ValueError, match=r"^metric must be positive semidefinite, got one with the eigenvalue -"):
        attention.kernel_regression(QUERY, KEY, VALUE, metric=g)
    query, key = np.zeros((2, 1, 3)), np.asarray([[0.0, 1.0, 0.0], [0.0, 0.5, 0.1]])
    found = jax.jit(lambda g: attention.kernel_regression(query, key, key, metric=g))(g)
    assert np.isnan(found[-1]).all()
    assert np.isnan(found[0]).all() == (metric != "one of the heads")


def test_kernel_regression_takes_a_semidefinite_metric_for_what_it_is_despite_rounding():
    """Gaps in the null space of g = u uᵀ have squares of either sign in rounding, and are of length zero."""
    u = RNG.normal(size=(3, 1))
    away = RNG.normal(size=(50, 3))
    null = away - (away @ u) @ u.T / (u.T @ u)
    value = RNG.normal(size=(50, 2))
    for call in (attention.kernel_regression, BY_HEAD["kernel"]):
        found = call(np.zeros((1, 3)), null, value, metric=u @ u.T)
        np.testing.assert_allclose(found[0], value.mean(0), atol=1e-12)


def test_kernel_regression_has_a_metric_for_each_head():
    factors = RNG.normal(size=(H, 3, 3))
    matrices = factors @ np.swapaxes(factors, -1, -2)
    regression = BY_HEAD["kernel"]
    found = regression(QUERY, KEY, VALUE, metric=matrices)
    for h in range(H):
        one = regression(QUERY[:, h], KEY[:, h], VALUE[:, h], metric=matrices[h])
        np.testing.assert_allclose(found[:, h], one, atol=1e-12)


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
        *rows, features=attention.positive_random_features(jax.random.key(0), 3, 4), valid=mask.valid[:, None]
    ),
    "fourier": lambda *rows, mask: attention.linear_attention(
        *rows, features=attention.random_fourier(jax.random.key(0), 3, 4), valid=mask.valid[:, None]
    ),
    "by hand": lambda *rows, mask: attention.attention_gradients(*rows, np.ones((B, H, 4, 3)), mask=mask),
    "layer": lambda *rows, mask: layers.attention_fn(H, 3)(*(jnp.swapaxes(x, 1, 2) for x in rows), mask=mask),
    "layer of steps": lambda *rows, mask: layers.attention_fn(
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
