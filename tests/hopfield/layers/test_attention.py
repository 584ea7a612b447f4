"""HopfieldAttention is nnx.MultiHeadAttention where they share their options, and a memory beyond that."""

from itertools import pairwise
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

from hopfield.layers import AssociationOptions, HopfieldAssociation, HopfieldAttention
from tests.hopfield.layers.building import layer

X = jax.random.normal(jax.random.key(0), (2, 5, 8), jnp.float32)
Y = jax.random.normal(jax.random.key(1), (2, 7, 6), jnp.float32)
MASK = jax.random.bernoulli(jax.random.key(2), 0.6, (2, 4, 5, 5)) | jnp.eye(5, dtype=bool)[None, None]
TALL = jax.random.bernoulli(jax.random.key(3), 0.6, (2, 1, 5, 7)).at[..., 0].set(True)

SHARED = {
    "defaults": ({}, {}, "self"),
    "cross": ({"in_kv_features": 6}, {}, "cross"),
    "widths and values": ({"qkv_features": 16, "out_features": 3}, {}, "values"),
    "grouped": ({"num_kv_heads": 2}, {}, "self"),
    "one key head": ({"num_kv_heads": 1, "in_kv_features": 6}, {"mask": TALL}, "cross"),
    "mask": ({}, {"mask": MASK}, "self"),
    "causal": ({}, {"is_causal": True}, "self"),
    "mask and causal": ({}, {"mask": MASK, "is_causal": True}, "self"),
    "normalised": ({"normalize_qk": True}, {}, "self"),
    "precision, no bias": ({"precision": "highest", "use_bias": False}, {}, "self"),
    "dropout": ({"dropout_rate": 0.4}, {"deterministic": False}, "self"),
    "dropout by weight": ({"dropout_rate": 0.4, "broadcast_dropout": False}, {"deterministic": False}, "self"),
    "dropout rngs": ({"dropout_rate": 0.4, "keep_rngs": False}, {"deterministic": False, "rngs": 7}, "self"),
    "bfloat16": ({"dtype": jnp.bfloat16}, {"is_causal": True}, "self"),
}


RUN = nnx.jit(lambda module, *inputs: module(*inputs))


@pytest.mark.parametrize("name", SHARED)
def test_one_step_is_flax_attention(name):
    """Same weights from the same seed, same result, under every option the two share."""
    options, call, kind = SHARED[name]
    inputs = {"self": (X,), "cross": (X, Y), "values": (X, 2.0 * X, X - 1.0)}[kind]
    outputs = []
    for build in (nnx.MultiHeadAttention, HopfieldAttention):
        module = build(4, 8, **options, decode=False, rngs=nnx.Rngs(0))
        rngs = {"rngs": nnx.Rngs(call["rngs"])} if "rngs" in call else {}
        run = nnx.jit(lambda module, rngs, *inputs: module(*inputs, **(call | rngs)))
        outputs.append(run(module, rngs, *inputs))
    assert outputs[0].dtype == outputs[1].dtype
    np.testing.assert_allclose(outputs[1], outputs[0], rtol=0, atol=1e-2 if name == "bfloat16" else 1e-6)


def test_it_has_flax_parameters_and_sows_its_weights():
    ours, theirs = layer(4, 8), nnx.MultiHeadAttention(4, 8, decode=False, rngs=nnx.Rngs(0))
    jax.tree.map(np.testing.assert_array_equal, nnx.state(ours, nnx.Param), nnx.state(theirs, nnx.Param))
    sown = []
    for module in (ours, theirs):
        _, found = nnx.capture(lambda m: m(X, mask=MASK, sow_weights=True), nnx.Intermediate)(module)
        (weights,) = jax.tree.leaves(found["attention_weights"])
        sown.append(weights)
    np.testing.assert_allclose(*sown, atol=1e-6)
    np.testing.assert_allclose(ours.inspect(X, mask=MASK).weights, sown[0], atol=1e-6)


def test_decoding_token_by_token_is_causal_attention():
    module = layer(4, 8, decode=True)
    module.init_cache(X.shape)
    decode = nnx.jit(lambda module, token: module(token))
    tokens = [decode(module, X[:, i : i + 1]) for i in range(5)]
    np.testing.assert_allclose(jnp.concatenate(tokens, 1), module(X, decode=False, is_causal=True), atol=1e-6)


@pytest.mark.parametrize("heads", [4, 2, 1])
def test_a_layer_decodes_as_flax_does(heads):
    modules = [
        build(4, 8, num_kv_heads=heads, decode=True, rngs=nnx.Rngs(0))
        for build in (HopfieldAttention, nnx.MultiHeadAttention)
    ]
    outputs = []
    for module in modules:
        module.init_cache(X.shape)
        outputs.append(jnp.concatenate([RUN(module, X[:, i : i + 1]) for i in range(5)], axis=1))
    np.testing.assert_allclose(*outputs, atol=1e-6)


def test_n_steps_are_n_applications_by_hand():
    """Three steps with β per head and a metric: two of ξ ← softmax(β ξ g kᵀ) k, then one that reads v, in numpy."""
    beta = np.array([0.5, 1.0, 2.0, 4.0])
    half = np.random.default_rng(0).normal(size=(4, 2, 2))
    metric = half @ half.transpose(0, 2, 1)
    module = layer(4, 8, update_steps=3, beta=beta, metric=jnp.asarray(metric, jnp.float32), rtol=0.0)
    query, key, value = (np.asarray(f(X), np.float64).swapaxes(1, 2) for f in (module.query, module.key, module.value))
    for target in (key, key, value):
        scores = beta[None, :, None, None] * (query @ metric[None] @ key.swapaxes(-1, -2))
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        query = weights / weights.sum(-1, keepdims=True) @ target
    np.testing.assert_allclose(module(X), module.out(jnp.asarray(query.swapaxes(1, 2), jnp.float32)), atol=2e-6)


@pytest.mark.parametrize("metric", [None, "definite"])
def test_energy_never_rises_and_the_status_says_when_it_stopped(metric):
    module, energies = layer(2, 8, beta=1.0, metric=metric), []
    for module.attention_fn.update_steps in (1, 2, 3, 6, 60):
        energies.append(module.energy(X))
    for before, after in pairwise(energies):
        assert np.all(np.asarray(after) <= np.asarray(before) + 1e-5 * np.abs(before))
    assert np.all(energies[1] < energies[0] - 1e-3)
    found = layer(2, 8, update_steps=200, beta=0.1, metric=metric).inspect(X)
    assert np.all(found.status == 0)
    assert np.all((found.steps > 0) & (found.steps < 199))
    np.testing.assert_allclose(found.weights.sum(-1), 1.0, atol=1e-6)


def test_implicit_gradient_is_that_of_the_unrolled_fixed_point():
    """At β = 0.3 the update contracts: 60 steps reach the fixed point, whose gradient both ways must be the same."""

    def gradient(kind):
        options = {"learn_beta": True, "metric": "diagonal", "param_dtype": jnp.float64}
        module = layer(2, 8, update_steps=60, beta=0.3, gradient=kind, rtol=0.0, **options)
        return nnx.jit(nnx.grad(lambda m, x: jnp.sum(jnp.sin(m(x)))))(module, X.astype(jnp.float64))

    unrolled, implicit = gradient("unrolled"), gradient("implicit")
    for path, slope in nnx.to_flat_state(unrolled):
        if path[0] != "query":  # where the query started is forgotten, but for what 60 steps have left of it
            np.testing.assert_allclose(dict(nnx.to_flat_state(implicit))[path][...], slope[...], atol=1e-8)
    assert float(jnp.abs(unrolled["attention_fn"]["beta"]["log_beta"][...]).min()) > 1e-4


def test_a_query_that_may_read_nothing_gets_zeros_and_no_gradient():
    module = layer(2, 8, use_bias=False, update_steps=2)
    mask = np.ones((1, 1, 5, 5), bool)
    mask[:, :, 2] = False
    assert np.all(np.asarray(jax.jit(lambda x: module(x, mask=mask))(X))[:, 2] == 0)
    slope = jax.jit(jax.grad(lambda x: jnp.sum(module(x, X, mask=mask) ** 2)))(X)
    assert np.all(np.asarray(slope)[:, 2] == 0)
    assert np.all(np.isfinite(slope))
    assert np.any(np.asarray(slope)[:, 1] != 0)


def test_memory_slots_add_one_to_the_partition_function():
    """A slot scores zero and its value starts as zero: weights e^s / (1 + Σ e^s), whatever is masked."""
    module, plain = layer(2, 8, memory_slots=1), layer(2, 8)
    mask = np.asarray(MASK[:, :2])
    report, output = nnx.jit(lambda module: (module.inspect(X, mask=mask), module(X, mask=mask)))(module)
    rows = nnx.jit(lambda plain: [project(X) for project in (plain.query, plain.key, plain.value)])(plain)
    query, key, value = (np.swapaxes(np.asarray(x), 1, 2) for x in rows)
    scores = np.where(mask, query @ key.swapaxes(-1, -2) / 2.0, -np.inf)
    np.testing.assert_allclose(report.weights[..., -1], 1.0 / (1.0 + np.exp(scores).sum(-1)), atol=1e-6)
    weights = np.exp(scores) / (1.0 + np.exp(scores).sum(-1, keepdims=True))
    np.testing.assert_allclose(output, plain.out((weights @ value).swapaxes(1, 2)), atol=1e-6)


def test_beta_is_per_head_and_positive_whatever_is_learned():
    module = layer(4, 8, learn_beta=True)
    np.testing.assert_allclose(module.attention_fn.beta(), np.full(4, 1 / np.sqrt(2)), rtol=1e-6)
    module.attention_fn.beta.log_beta[...] = jnp.array([-9.0, -0.1, 0.0, 3.0], jnp.float32)
    assert np.all(module.attention_fn.beta() > 0)
    entropy = module.inspect(X).entropy.mean((0, 2))
    assert entropy[0] == pytest.approx(np.log(5), abs=1e-3)
    assert entropy[3] < entropy[0] - 0.2


def test_layers_stack_by_scan_over_depth():
    @nnx.split_rngs(splits=3)
    @nnx.vmap(in_axes=0, out_axes=0)
    def build(rngs):
        own = AssociationOptions(metric="low_rank", learn_beta=True, update_steps=2)
        return HopfieldAttention(2, 8, options=own, rngs=rngs)

    @nnx.jit
    @nnx.scan(in_axes=(0, nnx.Carry), out_axes=nnx.Carry)
    def run(module, x):
        return x + module(x)

    stack, by_hand = build(nnx.Rngs(0)), X
    graph, state = nnx.split(stack)
    for i in range(3):
        by_hand = by_hand + RUN(nnx.merge(graph, jax.tree.map(lambda leaf, i=i: leaf[i], state)), by_hand)
    np.testing.assert_allclose(run(stack, X), by_hand, atol=1e-5)


def test_sharding_annotations_pass_through():
    mesh = jax.make_mesh((1,), ("model",), axis_types=(jax.sharding.AxisType.Auto,))
    with jax.set_mesh(mesh):
        module: Any = layer(2, 8, kernel_metadata={"out_sharding": (None, "model", None)})
        assert module.query.kernel.get_metadata()["out_sharding"] == (None, "model", None)
        assert module.key.kernel[...].sharding.spec == jax.sharding.PartitionSpec(None, "model", None)
        assert module(X).shape == X.shape
    bias: Any = layer(2, 8, out_bias_metadata={"note": "kept"}).out.bias
    assert bias.get_metadata()["note"] == "kept"


def test_flax_attention_with_our_attention_fn_is_the_layer():
    options = {"separation": "sparsemax", "update_steps": 2, "learn_beta": True, "metric": "full"}
    inside = nnx.MultiHeadAttention(
        2, 8, decode=False, attention_fn=HopfieldAssociation(2, 4, AssociationOptions(**options)), rngs=nnx.Rngs(0)
    )
    np.testing.assert_array_equal(RUN(inside, X), RUN(layer(2, 8, **options), X))
    slopes = nnx.jit(nnx.grad(lambda m: jnp.sum(m(X) ** 2)))(inside)
    assert float(np.abs(slopes["attention_fn"]["metric"]["matrix"][...]).max()) > 0
