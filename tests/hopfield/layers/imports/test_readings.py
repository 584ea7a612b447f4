"""What stands beside the projections in LLaMA's layout: windows by layer, norms, caps, sinks, and yarn's rotation.

Against `transformers` itself it is held in `test_peers.py`, where that is installed; here by the formulas.
"""

import json
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

from hopfield.layers import AssociationOptions, from_attention_weights
from hopfield.layers.imports import checkpoints
from hopfield.layers.imports.readings import reading_of
from hopfield.layers.imports.rotations import rotary_of, scale_of_scores
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
    with pytest.raises(ValueError, match=r"model_type must be one of glm4_moe, olmo2, .*, gemma3_text with q_norm"):
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
    assert scale_of_scores({"rope_parameters": table}) == pytest.approx((0.1 * np.log(8) + 1) ** 2)
    assert scale_of_scores({}) == 1.0
