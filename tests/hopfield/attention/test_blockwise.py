"""Block-wise attention: the dense one to rounding, gradients included, in memory that does not grow with T × S."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from hopfield.attention import core, masks
from hopfield.attention.blockwise import attend_blockwise
from tests.hopfield.contracts.parts import quick

SHAPES = {
    "rows": ((10, 4), (13, 4), (13, 3)),
    "heads": ((2, 3, 10, 4), (2, 3, 13, 4), (2, 3, 13, 3)),
    "grouped": ((2, 3, 2, 10, 4), (2, 3, 1, 13, 4), (2, 3, 1, 13, 3)),
}
MASKS = {
    "none": None,
    "causal": masks.causal(),
    "window": masks.sliding_window(2, 1),
    "padding": masks.padding(7),
    "nothing": masks.causal() & masks.padding(0),
    "some rows empty": masks.sliding_window(1) & ~masks.causal(),
    "array": jnp.asarray(np.random.default_rng(3).random((10, 13)) < 0.3),
}


def drawn(shape: str, scale: float = 1.0):
    rng = np.random.default_rng(7)
    return [jnp.asarray(scale * rng.standard_normal(size)) for size in SHAPES[shape]]


def with_gradients(function, *inputs):
    @jax.jit
    def both(*inputs):
        output, pull = jax.vjp(function, *inputs)
        return output, *pull(jnp.asarray(np.random.default_rng(11).standard_normal(output.shape)))

    return both(*inputs)


FURTHER = ("window", "padding", "array")
"""Masks whose kinds the other cases have, too."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("shape", "mask"),
    [
        *(pytest.param("rows", mask, marks=[pytest.mark.exhaustive] * (mask in FURTHER)) for mask in MASKS),
        ("heads", "array"),
        ("grouped", "causal"),
    ],
)
def test_it_is_dense_attention_with_the_same_gradients_at_lengths_no_block_divides(shape, mask):
    inputs, mask = [*drawn(shape), jnp.asarray(0.7)], MASKS[mask]
    dense = with_gradients(lambda q, k, v, b: core.attend(q, k, v, beta=b, mask=mask), *inputs)
    blocks = with_gradients(lambda q, k, v, b: attend_blockwise(q, k, v, beta=b, mask=mask, blocks=(4, 5)), *inputs)
    for expected, found in zip(dense, blocks, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)


def test_metrics_and_temperatures_per_head_have_the_dense_gradients():
    query, key, value = drawn("heads")
    metric = jnp.asarray(np.random.default_rng(5).standard_normal((3, 4, 4)))
    inputs = [query, key, value, metric, jnp.asarray([0.3, 0.8, 1.5])]
    dense = with_gradients(lambda q, k, v, g, b: core.attend(q, k, v, metric=g, beta=b), *inputs)
    blocks = with_gradients(lambda q, k, v, g, b: attend_blockwise(q, k, v, metric=g, beta=b, blocks=(3, 4)), *inputs)
    for expected, found in zip(dense, blocks, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-13)


def test_the_choice_of_blocks_changes_nothing_but_rounding():
    query, key, value = drawn("rows")
    whole = attend_blockwise(query, key, value)
    for blocks in ((1, 1), (3, 13), (10, 4), (50, 50)):
        np.testing.assert_allclose(attend_blockwise(query, key, value, blocks=blocks), whole, rtol=1e-12)


def test_causal_attention_visits_half_of_the_blocks():
    """Keys beyond the band are never touched: NaN there reaches no block of queries before it."""
    query, key, value = drawn("rows")
    key, value = key.at[8:].set(jnp.nan), value.at[8:].set(jnp.nan)
    found = attend_blockwise(query, key, value, mask=masks.causal(), blocks=(4, 4))
    assert jnp.isfinite(found[:8]).all()


@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_memory_beyond_inputs_and_outputs_is_below_64_megabytes_at_16k_by_16k(direction):
    rows = jax.ShapeDtypeStruct((16384, 64), jnp.float32)

    def backward(query, key, value):
        return jax.vjp(attend_blockwise, query, key, value)[1](value)

    function = attend_blockwise if direction == "forward" else backward
    memory = jax.jit(function).lower(rows, rows, rows).compile().memory_analysis()
    if memory is None:
        pytest.skip("this backend does not tell how much memory a program needs")
    assert memory.temp_size_in_bytes < 64e6


def test_half_precision_accumulates_in_float32():
    query, key, value = (x.astype(jnp.bfloat16) for x in drawn("heads"))
    exact = core.attend(*(x.astype(jnp.float32) for x in (query, key, value)))
    found = attend_blockwise(query, key, value, blocks=(4, 5))
    assert found.dtype == jnp.bfloat16
    np.testing.assert_allclose(found.astype(jnp.float32), exact, atol=0.03)


@pytest.mark.parametrize("shape", ["heads", "grouped"])
def test_gradients_of_16_bits_are_those_of_float32_beta_per_head_included(shape):
    rows, beta = [x.astype(jnp.float16) for x in drawn(shape)], jnp.asarray([0.3, 1.1, 2.3], jnp.float32)
    beta = beta if shape == "heads" else beta[:, None]
    wide = [x.astype(jnp.float32) for x in rows]
    mask = masks.causal()
    dense = with_gradients(lambda q, k, v, b: core.attend(q, k, v, beta=b, mask=mask).astype(float), *wide, beta)
    attention = lambda q, k, v, b: attend_blockwise(q, k, v, beta=b, mask=mask, blocks=(4, 5)).astype(float)
    for expected, found in zip(dense, with_gradients(attention, *rows, beta), strict=True):
        np.testing.assert_allclose(np.asarray(found, float), expected, atol=6e-3)


BIASED = {"softmax": None, "softmax1": 0.7, "entmax:1.5": None}


@pytest.mark.parametrize("separation", BIASED)
def test_a_bias_and_a_null_score_are_read_as_all_at_once(separation):
    """Value, potential and every gradient; softmax1 of scores less n equals attend with the bias −n."""
    rng = np.random.default_rng(4)
    query, key, value = (jnp.asarray(rng.normal(size=(2, n, 3))) for n in (7, 9, 9))
    bias, null, warmth = jnp.asarray(rng.normal(size=(7, 9))), BIASED[separation], jnp.asarray([0.7, 1.3])
    given = {"separation": separation, "mask": masks.causal(), "temperature": warmth}

    def in_blocks(query, key, value, bias, null):
        own = {} if BIASED[separation] is None else {"null_score": null}
        return attend_blockwise(query, key, value, bias=bias, blocks=(3, 4), return_potential=True, **own, **given)

    def at_once(query, key, value, bias, null):
        whole = bias if BIASED[separation] is None else bias - null
        parts = core.decompose(query, key, value, bias=whole, **given)
        return parts.output, parts.potential

    inputs = query, key, value, bias, jnp.asarray(0.0 if null is None else null)
    for got, wanted in zip(in_blocks(*inputs), at_once(*inputs), strict=True):
        np.testing.assert_allclose(got, wanted, atol=1e-12)
    slopes = [
        quick(jax.grad(lambda *x, read=read: sum(jnp.sum(jnp.sin(y)) for y in read(*x)), argnums=(0, 1, 2, 3, 4)))(
            *inputs
        )
        for read in (in_blocks, at_once)
    ]
    for got, wanted in zip(*slopes, strict=True):
        np.testing.assert_allclose(got, wanted, atol=1e-10)
    with pytest.raises(ValueError, match=r"^bias must broadcast to the scores \[2, 7, 9\], got shape \(7, 8\)"):
        attend_blockwise(query, key, value, bias=bias[:, :8])
    with pytest.raises(ValueError, match=r"^null_score must be left out but with softmax1, got separation"):
        attend_blockwise(query, key, value, null_score=0.0)
