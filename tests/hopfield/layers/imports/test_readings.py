"""Parts beside the projections in LLaMA's layout: windows by layer, norms, caps, sinks, and yarn's rotation.

Against `transformers` itself it is held in `test_peers.py`, where that is installed; here by the formulas.
"""

import json
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

from hopfield.layers import AssociationOptions, from_attention_weights
from hopfield.layers.imports import checkpoints
from hopfield.layers.imports.readings import beta_of, reading_of
from hopfield.layers.imports.rotations import rope_of_layer, rotary_of
from hopfield.layers.imports.variants import completed
from tests.hopfield.layers.imports.written import LAYERS, D, H, R, random_tensors, save_checkpoint

X = np.random.default_rng(0).normal(size=(1, 6, D))


def loaded(folder: Path, config: dict, more: dict[str, np.ndarray]) -> checkpoints.Checkpoint:
    """A LLaMA-type checkpoint with further tensors in every layer's attention and entries of config.json."""
    tensors = random_tensors("llama", np.random.default_rng(1))
    tensors |= {f"model.layers.{i}.self_attn.{name}": x for i in range(LAYERS) for name, x in more.items()}
    folder.mkdir(exist_ok=True)
    place = save_checkpoint(folder, "llama", tensors)
    stated = json.loads((place / "config.json").read_text())
    (place / "config.json").write_text(json.dumps(stated | config))
    return checkpoints.load(place)


def by_hand(weights, bend=lambda s: s, norms=lambda q, k: (q, k), sinks=None, window=99):
    query, key, value = (np.einsum("btd,hdr->bhtr", X, w) for w in (weights.w_query, weights.w_key, weights.w_value))
    query, key = norms(query, key)
    key, value = (np.repeat(x, H // x.shape[1], axis=1) for x in (key, value))
    scores = bend(weights.beta * query @ key.swapaxes(2, 3))
    gap = np.arange(6)[:, None] - np.arange(6)[None, :]
    size = np.exp(scores) * ((gap >= 0) & (gap < window))
    below = 0 if sinks is None else np.exp(sinks)[:, None, None]
    read = size / (size.sum(-1, keepdims=True) + below) @ value
    return np.einsum("bhtr,hro->bto", read, weights.w_output)


def check(weights, **how) -> None:
    layer = from_attention_weights(weights, positions=False, param_dtype=jnp.float64)
    np.testing.assert_allclose(layer(jnp.asarray(X), is_causal=True), by_hand(weights, **how), rtol=1e-9, atol=1e-9)


def test_caps_scales_and_every_second_window_of_gemma_2(tmp_path: Path) -> None:
    config = {"model_type": "gemma2", "attn_logit_softcapping": 0.5, "query_pre_attn_scalar": 7, "sliding_window": 2}
    first, second = loaded(tmp_path, config, {}).layers[:2]
    assert first.beta == pytest.approx(7**-0.5)
    bend = lambda s: 0.5 * np.tanh(s / 0.5)
    check(first, bend=bend, window=2)
    check(second, bend=bend)


def test_sinks_of_gpt_oss(tmp_path: Path) -> None:
    sinks = np.linspace(-1, 2, H).astype(np.float32)
    config = {"model_type": "gpt_oss", "sliding_window": 3, "layer_types": ["full_attention", "sliding_attention"]}
    first, second = loaded(tmp_path, config, {"sinks": sinks}).layers[:2]
    check(first, sinks=sinks.astype(float))
    check(second, sinks=sinks.astype(float), window=3)
    with pytest.raises(ValueError, match="separation must be softmax for a checkpoint with sinks, got sparsemax"):
        from_attention_weights(first, AssociationOptions(separation="sparsemax"))
    for layer in (first, second):
        with pytest.raises(ValueError, match="projections must be left out for norms, windows, caps and sinks"):
            layer.projections()


def test_norms_of_heads_in_qwen_3_and_of_all_together_in_olmo_2(tmp_path: Path) -> None:
    def normed(x: np.ndarray, scale: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
        scale, epsilon = (scale.reshape(-1, 1, R), 1e-5) if len(axes) > 1 else (scale, 1e-6)
        return scale * x / np.sqrt((x**2).mean(axes, keepdims=True) + epsilon)

    shared = 2
    for model, sizes, axes in (("qwen3", (R, R), (-1,)), ("olmo2", (H * R, shared * R), (1, 3))):
        query, key = (np.linspace(0.5, 2, size).astype(np.float32) for size in sizes)
        weights = loaded(
            tmp_path / model, {"model_type": model}, {"q_norm.weight": query, "k_norm.weight": key}
        ).layers[0]
        norms = lambda q, k, query=query, key=key, axes=axes: (normed(q, query, axes), normed(k, key, axes))
        check(weights, norms=norms)
        with pytest.raises(ValueError, match="no bilinear form"):
            weights.metric()
    with pytest.raises(ValueError, match=r"model_type must be one of cohere, .*, gemma3_text with q_norm"):
        loaded(tmp_path / "other", {}, {"q_norm.weight": query, "k_norm.weight": key})


def test_norms_windows_and_rotations_of_gemma_3(tmp_path: Path) -> None:
    """Five layers of six have a window and turn faster; scales of norms stand for one more than they are."""
    scale = np.linspace(-0.5, 1, R).astype(np.float32)
    text = {"sliding_window": 3, "sliding_window_pattern": 2, "num_attention_heads": H}
    stated = {"model_type": "gemma3", "text_config": text}
    first, second = loaded(tmp_path, stated, {"q_norm.weight": scale, "k_norm.weight": scale}).layers
    normed = lambda x: (1 + scale) * x / np.sqrt((x**2).mean(-1, keepdims=True) + 1e-6)
    norms = lambda q, k: (normed(q), normed(k))
    check(first, norms=norms, window=3)
    check(second, norms=norms)
    assert first.beta == 256**-0.5
    turned = [rotary_of(layer.rope, 4).rates for layer in (first, second)]
    np.testing.assert_allclose(turned, [[1, 0.01], [1, 0.001]])


def test_windows_are_those_of_the_layer() -> None:
    window = lambda layer, **config: reading_of(completed(config), {}, "", layer).window
    assert window(0, model_type="mistral", sliding_window=5) == 5
    assert window(0, model_type="qwen2", sliding_window=5) is None
    assert [window(i, use_sliding_window=True, sliding_window=5, max_window_layers=1) for i in (0, 1)] == [None, 5]


def test_dynamic_rotations_slow_down_beyond_the_length_trained_on() -> None:
    """The base grows by (factor T/L − factor + 1)^(D/(D − 2)) for T > L tokens."""
    table = {"rope_type": "dynamic", "factor": 3.0}
    found = rotary_of({"rope_parameters": table, "max_position_embeddings": 8}, 6)
    plain = rotary_of({}, 6)
    np.testing.assert_array_equal(found.at_length(jnp.asarray(8)).rates, plain.rates)
    base = 1e4 * (3 * 20 / 8 - 2) ** (6 / 4)
    np.testing.assert_allclose(found.at_length(jnp.asarray(20)).rates, base ** (-np.arange(3) / 3), rtol=1e-6)
    rows, places = jnp.ones((20, 6)), jnp.arange(20)
    np.testing.assert_array_equal(found.rotate(rows, places), found.at_length(jnp.asarray(20)).rotate(rows, places))


def test_yarn_divides_slow_rotations_and_sharpens_scores() -> None:
    table = {"rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 4096}
    plain, found = rotary_of({}, 64).rates, rotary_of({"rope_parameters": table}, 64).rates
    np.testing.assert_allclose(found[0], plain[0])
    np.testing.assert_allclose(found[-1], plain[-1] / 8)
    row, places = jnp.arange(64.0)[None], jnp.zeros(1, int)
    sharper = rotary_of({"rope_parameters": table, "partial_rotary_factor": 0.5}, 64).rotate(row, places)
    np.testing.assert_allclose(sharper[:, :32], (0.1 * np.log(8) + 1) * row[:, :32], rtol=1e-12)
    np.testing.assert_array_equal(sharper[:, 32:], row[:, 32:])  # what is not turned is not scaled
    both = {"mscale": 2.0, "mscale_all_dim": 1.0}
    assert rotary_of({"rope_parameters": table | both}, 64).scale == (0.2 * np.log(8) + 1) / (0.1 * np.log(8) + 1)
    assert rotary_of({}, 64).scale == 1.0


def test_long_rope_has_other_rates_beyond_the_length_trained_on() -> None:
    table = {"rope_type": "longrope", "short_factor": [1.0, 2.0], "long_factor": [3.0, 5.0]}
    config = {"rope_parameters": table, "max_position_embeddings": 64, "original_max_position_embeddings": 16}
    found = rotary_of(config, 4)
    np.testing.assert_allclose(found.at_length(jnp.asarray(16)).rates, [1, 0.01 / 2], rtol=1e-12)
    np.testing.assert_allclose(found.at_length(jnp.asarray(17)).rates, [1 / 3, 0.01 / 5], rtol=1e-12)
    assert found.scale == pytest.approx(np.sqrt(1 + np.log(4) / np.log(16)))
    with pytest.raises(ValueError, match="long_factor must be the 2 numbers of all pairs, got 3"):
        rotary_of({"rope_parameters": table | {"long_factor": 3}, "max_position_embeddings": 64}, 4)


def test_layers_without_rotation_are_those_of_smollm_3_and_cohere_2() -> None:
    turns = lambda **config: [rope_of_layer(completed(config), i) is not None for i in range(5)]
    assert turns(model_type="smollm3") == [True, True, True, False, True]
    assert turns(model_type="smollm3", no_rope_layers=[0, 1, 0, 1, 1]) == [False, True, False, True, True]
    assert turns(model_type="cohere2") == [True, True, True, False, True]
    assert turns(model_type="llama") == [True] * 5
    slid = [reading_of(completed({"model_type": "olmo3"}), {}, "", i).window for i in range(5)]
    assert slid == [4096, 4096, 4096, None, 4096]


def test_norms_of_cohere_subtract_the_mean_of_each_head(tmp_path: Path) -> None:
    query, key = (np.linspace(0.5, 2, n * R).reshape(n, R).astype(np.float32) for n in (H, 2))
    config = {"model_type": "cohere", "use_qk_norm": True}
    weights = loaded(tmp_path, config, {"q_norm.weight": query, "k_norm.weight": key}).layers[0]
    norm = lambda x, scale: scale[:, None] * (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5)
    check(weights, norms=lambda q, k: (norm(q, query), norm(k, key)))
    rows = jnp.array([[0.0, 0.0, 0.0, 0.0], [1.0, 1.0, 0.0, 0.0]])
    turned = rotary_of({"model_type": "cohere"}, 4).rotate(rows, jnp.arange(2))  # components side by side
    np.testing.assert_allclose(turned[1], [np.cos(1) - np.sin(1), np.sin(1) + np.cos(1), 0, 0], atol=1e-12)


def test_granite_and_mpt_state_their_inverse_temperature(tmp_path: Path) -> None:
    assert loaded(tmp_path, {"model_type": "granite", "attention_multiplier": 0.2}, {}).layers[0].beta == 0.2
    assert beta_of("llama", completed({"model_type": "granite"}), 0, 64) == 1.0
    assert beta_of("mpt", {"attn_config": {"softmax_scale": 0.3}}, 0, 64) == 0.3
    assert beta_of("mpt", {"attn_config": {"softmax_scale": None}}, 0, 64) == 0.125


def test_slopes_of_bloom_and_mpt_are_those_of_alibi(tmp_path: Path) -> None:
    for kind in ("bloom", "mpt"):
        (tmp_path / kind).mkdir()
        place = save_checkpoint(tmp_path / kind, kind, random_tensors(kind, np.random.default_rng(2)))
        weights = checkpoints.load(place).layers[0]
        layer = from_attention_weights(weights, param_dtype=jnp.float64)
        slopes = 2.0 ** (-8 * np.arange(1, H + 1) / H)
        gap = np.arange(6)[:, None] - np.arange(6)[None, :]
        biased = from_attention_weights(weights, positions=False, param_dtype=jnp.float64)
        bias = jnp.asarray(-slopes[:, None, None] * np.abs(gap))
        found, expected = layer(jnp.asarray(X), is_causal=True), biased(jnp.asarray(X), bias=bias, is_causal=True)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


def test_images_text_and_cross_attention_are_parts_of_one_checkpoint(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    tensors = random_tensors("clip_text", rng) | random_tensors("clip_vision", rng)
    table = rng.normal(size=(2, 7, D)).astype(np.float32)
    for side, places in zip(("text", "vision"), table, strict=True):
        tensors[f"{side}_model.embeddings.position_embedding.weight"] = places
    place = save_checkpoint(tmp_path, "clip", tensors, None)
    sides = {"text_config": {"num_attention_heads": H}, "vision_config": {"num_attention_heads": 2}}
    (place / "config.json").write_text(json.dumps({"model_type": "clip"} | sides))
    text, images = (checkpoints.load(place, kind=kind) for kind in (None, "clip_vision"))
    assert (text.kind, len(text.layers[0].w_query), len(images.layers[0].w_query)) == ("clip_text", H, 2)
    np.testing.assert_array_equal([text.positions, images.positions], table)
    patches = {"vit.embeddings.position_embeddings": table[:1]} | random_tensors("vit", rng)
    seen = checkpoints.load(save_checkpoint(tmp_path, "vit", patches))
    assert seen.kind == "vit"
    np.testing.assert_array_equal(seen.positions, table[0])
    unread = {"decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight": table[0]}
    cross = checkpoints.load(save_checkpoint(tmp_path, "t5", random_tensors("t5_cross", rng) | unread)).layers[0]
    assert (cross.beta, cross.distances) == (1.0, None)
