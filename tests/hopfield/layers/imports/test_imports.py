"""Imported weights compute what they computed: against Flax, and against hopfield-layers' forward pass in numpy."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import nnx

from hopfield.layers import (
    AdditiveAssociation,
    Hopfield,
    HopfieldAttention,
    HopfieldLayer,
    HopfieldPooling,
    from_flax,
    from_hopfield_layers,
)
from tests.hopfield.layers.building import layer as built

RUN = nnx.jit(lambda module, *inputs: module(*inputs))
X = np.random.default_rng(0).normal(size=(2, 5, 8))


@pytest.mark.parametrize(
    "options",
    [{}, {"num_kv_heads": 2, "normalize_qk": True}, {"use_bias": False, "in_kv_features": 8, "qkv_features": 16}],
    ids=["plain", "grouped", "no bias"],
)
def test_flax_weights_are_taken_exactly(options):
    source = nnx.MultiHeadAttention(4, 8, **options, decode=False, rngs=nnx.Rngs(3))
    x = jnp.asarray(X, jnp.float32)
    np.testing.assert_allclose(from_flax(source)(x), source(x), atol=1e-6)


def test_flax_weights_fill_a_layer_with_its_own_choices_or_are_refused():
    source = nnx.MultiHeadAttention(4, 8, decode=False, rngs=nnx.Rngs(3))
    layer = built(4, 8, separation="sparsemax", update_steps=2, metric="diagonal")
    assert from_flax(source, layer) is layer
    np.testing.assert_array_equal(layer.query.kernel[...], source.query.kernel[...])
    with pytest.raises(ValueError, match="layer must have the source's query weights"):
        from_flax(source, HopfieldAttention(2, 8, rngs=nnx.Rngs(0)))


def layer_norm(x, weight=None, bias=None):
    scaled = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
    return scaled if weight is None else scaled * weight + bias


def published(state, heads, stored, query, projection, *, steps=0, scaling=None, connected=False, zero=False, plain=()):
    """Association of hopfield-layers 1.0.2 for batched inputs [B, length, width], head by head, in float64."""
    core = {name.removeprefix("association_core."): array for name, array in state.items()}
    inputs = []
    for kind, x in (("state_pattern", query), ("stored_pattern", stored), ("pattern_projection", projection)):
        if f"norm_{kind}.weight" in core:
            x = layer_norm(x, core[f"norm_{kind}.weight"], core[f"norm_{kind}.bias"])
        elif kind in plain:
            x = layer_norm(x)
        inputs.append(x)
    weights = [core.get(f"{letter}_proj_weight") for letter in "qkv"]
    if "in_proj_weight" in core:
        weights = np.split(core["in_proj_weight"], 3)
    sizes = np.cumsum([len(weight) for weight in weights])
    biases = np.split(core.get("in_proj_bias", np.zeros(sizes[-1])), sizes[:-1])
    if connected:
        inputs[2] = inputs[2] @ weights[1].T + biases[1]
    out = []
    projected = [x @ w.T + b for x, w, b in zip(inputs, weights, biases, strict=True)]
    for q, k, v in zip(*(np.split(rows, heads, axis=-1) for rows in projected), strict=True):
        if "p_norm_weight" in core:
            q, k = (layer_norm(x, core["p_norm_weight"], core["p_norm_bias"]) for x in (q, k))
        if zero:
            k, v = (np.concatenate([x, np.zeros_like(x[:, :1])], axis=1) for x in (k, v))
        for _ in range(steps + 1):
            scores = (1.0 / np.sqrt(q.shape[-1]) if scaling is None else scaling) * q @ k.swapaxes(-1, -2)
            xi = np.exp(scores - scores.max(-1, keepdims=True))
            xi /= xi.sum(-1, keepdims=True)
            q = xi @ k
        out.append(xi @ v)
    joined = np.concatenate(out, axis=-1)
    if "out_proj.weight" in core:
        joined = joined @ core["out_proj.weight"].T + core.get("out_proj.bias", 0.0)
    return joined


def state_dict(seed=0, *, heads=2, inputs=8, hidden=4, pattern=None, stored=None, projection=None, out=8, **options):
    """Contents of `Hopfield(...).state_dict()`, random entries; options switch its parts."""
    rng = np.random.default_rng(seed)
    pattern, kdim, vdim = hidden if pattern is None else pattern, stored or inputs, projection or inputs
    joint = kdim == vdim == inputs and pattern == hidden and not options.get("separate")
    core = {}
    if joint:
        core["in_proj_weight"] = rng.normal(size=(3 * heads * hidden, inputs))
    else:
        vdim_ = heads * hidden if options.get("connected") else vdim
        for letter, size, width in (("q", hidden, inputs), ("k", hidden, kdim), ("v", pattern, vdim_)):
            core[f"{letter}_proj_weight"] = rng.normal(size=(heads * size, width))
    if options.get("bias", True):
        core["in_proj_bias"] = rng.normal(size=heads * (2 * hidden + pattern))
        core["out_proj.bias"] = rng.normal(size=out)
    core["out_proj.weight"] = rng.normal(size=(out, heads * pattern))
    if options.get("space"):
        core["p_norm_weight"], core["p_norm_bias"] = rng.normal(size=(2, hidden))
    state = {f"association_core.{name}": array for name, array in core.items()}
    for kind, width in (("state_pattern", inputs), ("stored_pattern", kdim), ("pattern_projection", vdim)):
        if options.get("norms", True):
            state[f"norm_{kind}.weight"], state[f"norm_{kind}.bias"] = rng.normal(size=(2, width))
    return state


CASES = {
    "joint weights": ({}, {}),
    "no norms, no bias": ({"norms": False, "bias": False}, {}),
    "three steps, scaling": ({}, {"update_steps_max": 3, "scaling": 0.2}),
    "other widths": ({"stored": 5, "projection": 3, "out": 6}, {}),
    "wide patterns": ({"pattern": 7, "out": 3}, {"update_steps_max": 1}),
    "narrow patterns": ({"pattern": 2}, {}),
    "hopfield space": ({"space": True, "norms": False}, {}),
    "connected": ({"separate": True, "connected": True}, {"connected": True}),
    "zero association": ({"norms": False}, {"add_zero_association": True, "update_steps_max": 2}),
    "plain norms": ({"norms": False}, {"plain_norms": ("state", "stored", "projection")}),
}


@pytest.mark.parametrize("name", CASES)
def test_hopfield_layers_weights_compute_the_published_forward_pass(name):
    build, options = CASES[name]
    state = state_dict(**build)
    layer = from_hopfield_layers(state, 2, **options)
    assert isinstance(layer, Hopfield)
    rng = np.random.default_rng(1)
    stored = rng.normal(size=(2, 6, build.get("stored") or 8))
    projection = rng.normal(size=(2, 6, build.get("projection") or 8))
    expected = published(
        state,
        2,
        stored,
        X,
        projection,
        steps=options.get("update_steps_max", 0),
        scaling=options.get("scaling"),
        connected="connected" in options,
        zero="add_zero_association" in options,
        plain=("state_pattern", "stored_pattern", "pattern_projection") if "plain_norms" in options else (),
    )
    found = RUN(layer, *(jnp.asarray(x, jnp.float32) for x in (X, stored, projection)))
    np.testing.assert_allclose(found, expected, rtol=2e-5, atol=1e-5 * np.abs(expected).max())


def test_pooling_weights_become_learned_queries():
    inner, queries = state_dict(), np.random.default_rng(2).normal(size=(1, 3, 8))
    state = {f"hopfield.{name}": array for name, array in inner.items()} | {"pooling_weights": queries}
    layer = from_hopfield_layers(state, 2, update_steps_max=1)
    assert isinstance(layer, HopfieldPooling)
    expected = published(inner, 2, X, np.broadcast_to(queries, (2, 3, 8)), X, steps=1).reshape(2, -1)
    np.testing.assert_allclose(RUN(layer, jnp.asarray(X, jnp.float32)), expected, rtol=2e-5, atol=2e-4)


@pytest.mark.parametrize("separate", [False, True], ids=["one table", "targets apart"])
def test_lookup_weights_become_learned_patterns(separate):
    inner, rng = state_dict(), np.random.default_rng(2)
    tables = [rng.normal(size=(1, 4, 8)) for _ in range(2)]
    state = {f"hopfield.{name}": array for name, array in inner.items()} | {"lookup_weights": tables[0]}
    if separate:
        state["target_weights"] = tables[1]
    layer = from_hopfield_layers(state, 2)
    assert isinstance(layer, HopfieldLayer)
    stored, targets = (np.broadcast_to(tables[i], (2, 4, 8)) for i in (0, int(separate)))
    expected = published(inner, 2, stored, X, targets)
    np.testing.assert_allclose(RUN(layer, jnp.asarray(X, jnp.float32)), expected, rtol=2e-5, atol=2e-4)


def test_imported_layers_train():
    layer = from_hopfield_layers(state_dict(space=True), 2, update_steps_max=1, dropout=0.2)
    slope = nnx.jit(nnx.grad(lambda m, x: jnp.mean(m(x, deterministic=False) ** 2)))
    slopes = slope(layer, jnp.asarray(X, jnp.float32))
    sizes = [float(jnp.abs(leaf).max()) for leaf in jax.tree.leaves(slopes)]
    assert np.all(np.isfinite(sizes))
    assert min(sizes) > 0


def test_what_a_source_associates_with_is_taken_over_or_refused():
    x = jnp.asarray(X, jnp.float32)
    source = built(2, 8, beta=3.0, separation="sparsemax", update_steps=2)
    taken = from_flax(source)
    np.testing.assert_array_equal(taken(x), source(x))
    assert taken.attention_fn is not source.attention_fn
    other = nnx.MultiHeadAttention(
        2, 8, decode=False, attention_fn=AdditiveAssociation(2, 4, rngs=nnx.Rngs(0)), rngs=nnx.Rngs(1)
    )
    with pytest.raises(ValueError, match=r"^source must associate as nnx.dot_product_attention or .*, got Additive"):
        from_flax(other)
    assert from_flax(other, HopfieldAttention(2, 8, rngs=nnx.Rngs(0))).num_heads == 2
