"""Variants of checkpoints whose tensors have known names and that attend otherwise: refused, each in a sentence."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from hopfield._arguments import shown
from hopfield.layers.imports.layouts import LAYOUTS, PADDED, read_names

SCALES = ("attention_multiplier", "key_multiplier", "clip_qkv")  # the first one Granite's, which is read
"""Entries of config.json by which models with LLaMA's names of tensors scale scores otherwise."""
FIVE = {"rms_norm_eps": 1e-5}
QWEN = {"use_sliding_window": False, "sliding_window": 4096}
DEFAULTS: dict[Any, dict[str, Any]] = {
    "clip_text_model": {"num_attention_heads": 8},
    "clip_vision_model": {"num_attention_heads": 12},
    "cohere": {"rope_theta": 5e5, "layer_norm_eps": 1e-5},
    "cohere2": {"sliding_window": 4096, "sliding_window_pattern": 4},
    "gemma2": {"sliding_window": 4096, "sliding_window_pattern": 2, "attn_logit_softcapping": 50.0}
    | {"query_pre_attn_scalar": 256},
    "gemma3_text": {"sliding_window": 4096, "sliding_window_pattern": 6, "query_pre_attn_scalar": 256}
    | {"rope_theta": 1e6, "rope_local_base_freq": 1e4},
    "glm4_moe": {"partial_rotary_factor": 0.5} | FIVE,
    "gpt_neox": {"partial_rotary_factor": 0.25},
    "gpt_oss": {"sliding_window": 128, "sliding_window_pattern": 2, "rope_theta": 1.5e5}
    | {
        "rope_scaling": {"rope_type": "yarn", "factor": 32.0, "original_max_position_embeddings": 4096}
        | {"truncate": False}
    }
    | FIVE,
    "gptj": {"rotary_dim": 64},
    "granite": {"attention_multiplier": 1.0},
    "markuplm": {"pad_token_id": 0},
    "mistral": {"sliding_window": 4096},
    "mixtral": {"rope_theta": 1e6} | FIVE,
    "olmo2": FIVE,
    "olmo3": {"rope_theta": 5e5, "sliding_window": 4096, "sliding_window_pattern": 4} | FIVE,
    "phi3": {"original_max_position_embeddings": 4096, "max_position_embeddings": 4096} | FIVE,
    "qwen2": QWEN | {"max_window_layers": 28},
    "qwen2_moe": QWEN | {"max_window_layers": 28},
    "qwen3": QWEN | {"max_window_layers": 28},
    "qwen3_moe": QWEN,
    "smollm3": {"rope_theta": 2e6, "no_rope_layer_interval": 4, "use_sliding_window": False},
    "stablelm": {"partial_rotary_factor": 0.25},
}
"""Entries that a model type has where its config.json leaves them out, unlike LLaMA's (transformers' own classes)."""
FORMERLY = {"rotary_pct": "partial_rotary_factor", "rotary_emb_base": "rope_theta"}
"""Entries of GPT-NeoX's config.json by other names."""
PLAIN_MPT = {"attn_type": "multihead_attention", "alibi_bias_max": 8, "clip_qkv": None}
PLAIN_MPT |= {"prefix_lm": None, "qk_ln": None, "attn_uses_sequence_id": None}
"""Entries of MPT's attn_config and what they must be where they are given."""
SIDES = {"clip_text": "text_config", "clip_vision": "vision_config"}
"""Place in config.json of the part of a layout, for models that have two parts."""
UNREAD = re.compile("rel_pos_bias|relative_attention_bias|embed_positions|positions_embed")
"""Parts of the names of positions that are not read."""


def refuse(kind: str, config: Mapping[str, Any], names: Iterable[str], stems: Iterable[str]) -> None:
    """Check that config.json and names of tensors describe the attention that `kind` has. ValueError otherwise."""
    model, layout = config.get("model_type"), LAYOUTS[kind]
    if model is not None and model not in layout.types:
        allowed = ", ".join(layout.types)
        raise ValueError(f"model_type must be one of {allowed} with the tensors of {kind}, got {shown(model)}")
    known = re.compile(rf"{layout.positions or '(?!)'}|.*{layout.between}")
    other = next((name for name in names if UNREAD.search(name) and not known.fullmatch(name)), None)
    if other is not None:
        raise ValueError(f"checkpoint must have no positions but a table added to tokens or rotations, got {other}")
    inside = ((name, len(stem)) for stem in stems for name in names if name.startswith(stem))
    read = read_names(kind, model)
    other = next((name for name, start in inside if not read.fullmatch(name, start)), None)
    if other is not None:
        raise ValueError(f"checkpoint must have no more than its projections in an attention, got {other}")
    if config.get("attention_type") not in (None, "original_full"):
        got = f"attention_type={shown(config['attention_type'])}"
        raise ValueError(f"checkpoint must read every token that a mask allows, got {got}")
    if config.get("has_relative_attention_bias"):
        raise ValueError("checkpoint must add nothing to scores, got has_relative_attention_bias=true")
    scales = SCALES[1:] if model == "granite" else SCALES
    other = next((name for name in scales if config.get(name) is not None), None)
    if other is not None:
        raise ValueError(
            f"checkpoint must scale scores by the width of heads alone, got {other}={shown(config[other])}"
        )
    inner = config.get("attn_config") or {}
    other = next((name for name, value in PLAIN_MPT.items() if (inner.get(name) or value) != value), None)
    if layout.alibi and (other is not None or inner.get("alibi") is False):
        name = other or "alibi"
        raise ValueError(f"attn_config must be of plain ALiBi in config.json, got {name}={shown(inner[name])}")
    places = config.get("position_embedding_type")
    if places not in (None, "absolute", "rope"):
        got = f"position_embedding_type={shown(places)}"
        raise ValueError(f"checkpoint must have absolute positions or rotate, got {got}")


def completed(config: Mapping[str, Any], kind: str = "llama") -> dict[str, Any]:
    """A config.json with the defaults of its model type filled in, for the part that the layout describes."""
    model = config.get("model_type")
    if model == "gemma3" and isinstance(config.get("text_config"), Mapping):
        config = {"model_type": "gemma3_text"} | config["text_config"]  # beside the part that reads images
    if model == "clip" and isinstance(config.get(SIDES.get(kind, "")), Mapping):
        config = {"model_type": f"{kind}_model"} | config[SIDES[kind]]
    config = {FORMERLY.get(name, name): value for name, value in config.items()}
    model = config.get("model_type")
    return {**(DEFAULTS.get(model, {}) if isinstance(model, str) else {}), **config}


def check_widths(config: Mapping[str, Any], width: int, shared: int) -> None:
    """Check that config.json, if it says so, has the tensors' width and number of heads. ValueError otherwise."""
    for name, found in (("head_dim", width), ("num_key_value_heads", shared)):
        if config.get(name) not in (None, found):
            raise ValueError(f"{name} must be the {found} of the tensors in config.json, got {shown(config[name])}")


def first_position(config: Mapping[str, Any], name: str) -> int:
    """Row of the first token in a table of positions: 0, or after padding in tables of RoBERTa's kind and OPT's."""
    if "embed_positions" in name:
        return 2
    if config.get("model_type") not in PADDED and not name.startswith("roberta."):
        return 0
    padding = config.get("pad_token_id")
    return 1 + (1 if padding is None else int(padding))
