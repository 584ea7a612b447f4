"""Models that attend otherwise than their tensors' names say are refused, and nothing else is."""

import json
from pathlib import Path

import numpy as np
import pytest

from hopfield.layers.imports import checkpoints, variants
from hopfield.layers.imports.rotations import rotary_of
from tests.hopfield.layers.imports.written import D, R, random_tensors, save_checkpoint


@pytest.mark.parametrize(
    ("kind", "entry", "sentence"),
    [
        *(
            ("llama", {"model_type": name}, f"model_type must be one of cohere, .*, starcoder2 .*, got '{name}'$")
            for name in ("ernie4_5", "ernie4_5_moe", "glm", "glm4", "helium", "llama4_text", "moonshine")
        ),
        *(
            ("bert", {"model_type": name}, f"model_type must be one of bert, .*, xmod .*, got '{name}'$")
            for name in ("roformer", "layoutlmv3", "big_bird", "mra", "canine", "yoso", "nystromformer", "gpt2")
        ),
        ("llama", {"model_type": "nanochat"}, "model_type must be one of cohere, .*, got 'nanochat'$"),
        ("llama", {"model_type": 3}, "model_type must be one of cohere, .*, got 3$"),
        ("llama", {"model_type": []}, r"model_type must be one of cohere, .*, got \[\]$"),
        ("gpt2", {"model_type": "openai-gpt"}, "model_type must be one of gpt2 with .*, got 'openai-gpt'$"),
        (
            "bert",
            {"attention_type": "block_sparse"},
            "every token that a mask allows, got attention_type='block_sparse'",
        ),
        (
            *("bert", {"has_relative_attention_bias": True}),
            "add nothing to scores, got has_relative_attention_bias=true$",
        ),
        ("mpt", {"attn_config": {"alibi": False}}, "must be of plain ALiBi in config.json, got alibi=False$"),
        ("mpt", {"attn_config": {"clip_qkv": 6}}, "must be of plain ALiBi in config.json, got clip_qkv=6$"),
        ("mpt", {"attn_config": {"alibi_bias_max": 16}}, "plain ALiBi in config.json, got alibi_bias_max=16$"),
        ("bert", {"position_embedding_type": "relative_key"}, "got position_embedding_type='?relative_key"),
        ("llama", {"key_multiplier": 0.4}, "scale scores by the width of heads alone, got key_multiplier=0.4"),
    ],
)
def test_variants_that_attend_otherwise_are_refused(kind: str, entry: dict, sentence: str, tmp_path: Path) -> None:
    place = save_checkpoint(tmp_path, kind, random_tensors(kind, np.random.default_rng(5)))
    config = json.loads((place / "config.json").read_text())
    (place / "config.json").write_text(json.dumps(config | entry))
    with pytest.raises(ValueError, match=sentence):
        checkpoints.load(place)
    held = {
        "sliding_window": 3,
        "use_sliding_window": False,
        "no_rope_layers": [],
        "attention_type": "original_full",
        "position_embedding_type": "absolute",
    }
    (place / "config.json").write_text(json.dumps(config | held))
    assert checkpoints.load(place).kind == kind


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("bert", "roformer.encoder.embed_positions.weight"),
        ("bert", "layoutlmv3.encoder.rel_pos_bias.weight"),
        ("bert", "encoder.relative_attention_bias.weight"),
        ("gpt2", "positions_embed.weight"),
    ],
)
def test_positions_that_are_not_read_are_refused(kind: str, name: str, tmp_path: Path) -> None:
    tensors = random_tensors(kind, np.random.default_rng(8)) | {name: np.ones((9, D), np.float32)}
    with pytest.raises(ValueError, match=f"no positions but a table added to tokens or rotations, got {name}$"):
        checkpoints.load(save_checkpoint(tmp_path, kind, tensors))


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("gpt2", "transformer.h.0.attn.bias"),
        ("gpt2", "transformer.h.0.attn.masked_bias"),
        ("llama", "model.layers.0.self_attn.rotary_emb.inv_freq"),
        ("bert", "bert.encoder.layer.0.attention.output.LayerNorm.gamma"),
        ("bert", "bert.encoder.layer.0.attention.LayerNorm.weight"),
    ],
)
def test_buffers_and_what_stands_before_or_after_an_attention_are_passed_over(kind, name, tmp_path: Path) -> None:
    tensors = random_tensors(kind, np.random.default_rng(8)) | {name: np.ones(1, np.float32)}
    assert checkpoints.load(save_checkpoint(tmp_path, kind, tensors)).kind == kind


@pytest.mark.parametrize(
    ("model", "first"), [("roberta", 2), ("data2vec-text", 2), ("roberta-prelayernorm", 2), ("xmod", 2), ("bert", 0)]
)
def test_positions_of_roberta_begin_after_those_of_padding(model: str, first: int, tmp_path: Path) -> None:
    table = np.random.default_rng(6).normal(size=(9, D)).astype(np.float32)
    tensors = random_tensors("bert", np.random.default_rng(6)) | {
        f"{model}.embeddings.position_embeddings.weight": table
    }
    place = save_checkpoint(tmp_path, "bert", tensors)
    config = json.loads((place / "config.json").read_text()) | {"model_type": model, "pad_token_id": 1}
    (place / "config.json").write_text(json.dumps(config))
    np.testing.assert_array_equal(checkpoints.load(place).positions, table[first:])


@pytest.mark.parametrize(
    ("model", "entry"),
    [
        ("stablelm", {"partial_rotary_factor": 0.25}),
        ("glm4_moe", {"partial_rotary_factor": 0.5}),
        ("mixtral", {"rope_theta": 1e6}),
        ("llama", {"rope_theta": 1e4, "partial_rotary_factor": 1.0}),
    ],
)
def test_what_a_configuration_leaves_out_is_what_its_model_type_has(model: str, entry: dict) -> None:
    found = rotary_of(variants.completed({"model_type": model}), 32)
    np.testing.assert_array_equal(found.rates, rotary_of(entry, 32).rates)
    stated = {"model_type": model, "partial_rotary_factor": 0.75, "rope_theta": 123.0}
    np.testing.assert_array_equal(rotary_of(variants.completed(stated), 32).rates, rotary_of(stated, 32).rates)


@pytest.mark.parametrize(
    ("entry", "sentence"),
    [
        ({"head_dim": R + 1}, f"head_dim must be the {R} of the tensors in config.json, got {R + 1}$"),
        ({"num_key_value_heads": 4}, "num_key_value_heads must be the 2 of the tensors in config.json, got 4$"),
    ],
)
def test_a_configuration_of_other_tensors_is_refused(entry: dict, sentence: str, tmp_path: Path) -> None:
    place = save_checkpoint(tmp_path, "llama", random_tensors("llama", np.random.default_rng(5)))
    config = json.loads((place / "config.json").read_text())
    (place / "config.json").write_text(json.dumps(config | entry))
    with pytest.raises(ValueError, match=sentence):
        checkpoints.load(place)
    right = {"model_type": "mistral", "sliding_window": None, "head_dim": R, "num_key_value_heads": 2}
    (place / "config.json").write_text(json.dumps(config | right))
    assert checkpoints.load(place).kind == "llama"
