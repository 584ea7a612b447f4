"""Gradients worked out by hand: equal to automatic differentiation to 1e-12, and not it in disguise."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import scipy.special

from hopfield import metrics, separations
from hopfield.attention import core, masks
from hopfield.attention.gradients import attention_gradients
from hopfield.separations import jacobians

RNG = np.random.default_rng(11)
HEADS = 3
SEPARATIONS = {
    "softmax": separations.LogSumExp(),
    "sparsemax": separations.Sparsemax(),
    "entmax": separations.Entmax(1.5),
    "normmax": separations.Normmax(2.0),
    "top_k": separations.TopK(2),
    "softmax1": separations.SoftmaxOne(),
    "exponential": separations.Exponential(),
}


def normal(*shape):
    return jnp.asarray(RNG.normal(size=shape))


METRICS = {
    "none": None,
    "identity": metrics.Euclidean(4),
    "scaled": metrics.Scaled(4, jnp.asarray([0.3, 0.5, 1.0])),
    "diagonal": metrics.Diagonal(normal(4)),
    "full": metrics.Full(0.3 * normal(HEADS, 4, 5)),
    "array": 0.3 * normal(4, 5),
    "low_rank": metrics.LowRank(0.5 * normal(HEADS, 2, 4)),
    "projected": metrics.Projected(0.5 * normal(4, 3), 0.5 * normal(HEADS, 5, 3)),
    "biased": metrics.Projected(0.5 * normal(HEADS, 4, 3), 0.5 * normal(5, 3), normal(3), normal(HEADS, 3)),
    "block": metrics.BlockDiagonal(metrics.Scaled(1), metrics.LowRank(normal(2, 2)), metrics.Full(normal(HEADS, 1, 2))),
}
WIDER = ("full", "array", "projected", "biased", "block")


def case(metric, mask=None, dtype=jnp.float64, leading=(2, HEADS), key_leading=(2, 1)):
    """Inputs of one attention, keys and values shared by the heads."""
    width = 5 if metric in WIDER else 4
    drawn = normal(*leading, 3, 4), normal(*key_leading, 6, width), normal(*key_leading, 6, 2), normal(*leading, 3, 2)
    given = dict(zip(("query", "key", "value"), drawn[:3], strict=True))
    given |= {"metric": METRICS[metric], "beta": jnp.exp(0.3 * normal(*leading[-1:])), "bias": normal(3, 6)}
    given |= {"temperature": jnp.asarray(0.8)}
    return jax.tree.map(lambda leaf: leaf.astype(dtype), (given, drawn[3])), mask


def automatic(given, upstream, separation, mask):
    def output(given):
        scores = core.scores(
            *(given[name] for name in ("query", "key")), **{name: given[name] for name in ("metric", "beta", "bias")}
        )
        return core.read(
            core.weights(scores, separation=separation, mask=mask, temperature=given["temperature"]), given["value"]
        )

    return jax.jit(lambda given, upstream: jax.vjp(output, given)[1](upstream)[0])(given, upstream)


def by_hand(given, upstream, separation, mask):
    def parts(given, upstream):
        options = {name: given[name] for name in ("metric", "beta", "bias", "temperature")}
        found = attention_gradients(
            given["query"], given["key"], given["value"], upstream, separation=separation, mask=mask, **options
        )
        return {name: part for name, part in found._asdict().items() if name != "weights"}

    return jax.jit(parts)(given, upstream)


def assert_same(hand, auto, tolerance):
    assert jax.tree.structure(hand) == jax.tree.structure(auto)
    for (path, left), right in zip(jax.tree_util.tree_leaves_with_path(hand), jax.tree.leaves(auto), strict=True):
        assert (left.shape, left.dtype) == (right.shape, right.dtype), path
        scale = max(1.0, float(jnp.max(jnp.abs(right))))
        np.testing.assert_allclose(left, right, rtol=0, atol=tolerance * scale, err_msg=str(path))


EMPTY_ROW = jnp.asarray(RNG.random((3, 6)) < 0.6).at[1].set(False)


@pytest.mark.parametrize(
    ("metric", "separation"),
    [*((metric, "softmax") for metric in METRICS), ("none", "sparsemax"), ("full", "sparsemax")],
)
def test_gradients_by_hand_equal_automatic_differentiation_in_every_input(metric, separation):
    (given, upstream), mask = case(metric, EMPTY_ROW)
    chosen = SEPARATIONS[separation]
    assert_same(by_hand(given, upstream, chosen, mask), automatic(given, upstream, chosen, mask), 1e-12)


@pytest.mark.parametrize("separation", ["entmax", "normmax", "top_k", "softmax1", "exponential"])
def test_gradients_by_hand_hold_for_the_other_weights(separation):
    (given, upstream), mask = case("low_rank", EMPTY_ROW)
    chosen = SEPARATIONS[separation]
    assert_same(by_hand(given, upstream, chosen, mask), automatic(given, upstream, chosen, mask), 1e-12)


@pytest.mark.parametrize(
    "mask",
    [None, masks.causal(), masks.sliding_window(1, 1), masks.padding(jnp.asarray([[2], [6]]))],
    ids=["none", "causal", "window", "padding"],
)
def test_gradients_by_hand_hold_under_every_kind_of_mask(mask):
    (given, upstream), _ = case("full")
    softmax = SEPARATIONS["softmax"]
    assert_same(by_hand(given, upstream, softmax, mask), automatic(given, upstream, softmax, mask), 1e-12)


def test_softmax_jacobian_of_the_worked_example():
    """s = [1, 2]: a = [0.269, 0.731] and a_1 a_2 = 0.197."""
    p = jnp.asarray(scipy.special.softmax([1.0, 2.0]))
    jacobian = jacobians.softmax_jacobian(p)
    np.testing.assert_allclose(jacobian, [[0.19661193, -0.19661193], [-0.19661193, 0.19661193]], atol=1e-8)
    np.testing.assert_allclose(jacobians.sparse_jacobian(p, 1.0), jacobian, atol=1e-16)


@pytest.mark.parametrize("name", ["softmax", "entmax", "sparsemax"])
def test_jacobians_are_symmetric_with_rows_that_sum_to_zero_and_have_their_product_form(name):
    alpha = {"softmax": 1.0, "entmax": 1.5, "sparsemax": 2.0}[name]
    z, v = 0.7 * normal(6), normal(6)
    p = SEPARATIONS[name].weights(z)
    jacobian = jacobians.sparse_jacobian(p, alpha)
    np.testing.assert_allclose(jacobian, jacobian.T, atol=1e-16)
    np.testing.assert_allclose(jnp.sum(jacobian, axis=1), 0, atol=1e-15)
    assert np.linalg.eigvalsh(jacobian).min() > -1e-15
    np.testing.assert_allclose(jacobians.sparse_jacobian_product(p, v, alpha), jacobian @ v, atol=1e-15)
    np.testing.assert_allclose(SEPARATIONS[name].jacobian_product(p, v), jacobian @ v, atol=1e-15)
    step = 1e-6
    slope = (SEPARATIONS[name].weights(z + step * v) - SEPARATIONS[name].weights(z - step * v)) / (2 * step)
    np.testing.assert_allclose(jacobian @ v, slope, atol=1e-9)
