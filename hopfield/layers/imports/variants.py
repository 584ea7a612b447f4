"""Variants of checkpoints whose tensors have known names and that attend otherwise: refused, each in a sentence."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from hopfield._arguments import shown

SCALES = ("attention_multiplier", "key_multiplier", "clip_qkv")
"""Entries of config.json by which models with LLaMA's names of tensors scale scores otherwise."""
PADDED = (
    *("camembert", "data2vec-text", "esm", "markuplm", "roberta", "roberta-prelayernorm", "xlm-roberta"),
    *("xlm-roberta-xl", "xmod"),
)
"""Model types with BERT's names of tensors whose first positions are of padding."""
TYPES = {
    "gpt2": ("gpt2",),
    "bert": ("bert", "electra", "ernie", *PADDED),
    "llama": (
        *(
            "gemma",
            "gemma2",
            "glm4_moe",
            "gpt_oss",
            "llama",
            "mistral",
            "mixtral",
            "olmo",
            "olmo2",
            "qwen2",
            "qwen2_moe",
        ),
        *("qwen3", "qwen3_moe", "stablelm", "starcoder2"),
    ),
}
"""Model types that attend as their layout is read; others have the same names and attend otherwise."""
DEFAULTS: dict[Any, dict[str, Any]] = {
    "gemma2": {"sliding_window": 4096, "attn_logit_softcapping": 50.0, "query_pre_attn_scalar": 256},
    "glm4_moe": {"partial_rotary_factor": 0.5},
    "gpt_oss": {"sliding_window": 128, "rope_theta": 1.5e5},
    "mistral": {"sliding_window": 4096},
    "mixtral": {"rope_theta": 1e6},
    "stablelm": {"partial_rotary_factor": 0.25},
}
"""Entries that a model type has where its config.json leaves them out, unlike LLaMA's (transformers' own classes)."""
UNREAD = re.compile("rel_pos_bias|relative_attention_bias|embed_positions|positions_embed")
"""Parts of the names of positions that are not read."""
PARTS = re.compile(
    r"(c_attn|c_proj|self\.(query|key|value)|output\.dense|[qkvo]_proj)\.(weight|bias)"
    r"|(masked_)?bias|rotary_emb\.inv_freq|((output\.)?LayerNorm|self_attn_layer_norm)\.\w+"
)
"""Names in an attention: what is read, buffers, and norms before and after it."""
BETWEEN = {"llama": re.compile(r"[qk]_norm\.weight"), "gpt_oss": re.compile("sinks")}
"""Names that are read beside them in a layout or of a model type, by `readings`."""


def refuse(kind: str, config: Mapping[str, Any], names: Iterable[str], stems: Iterable[str]) -> None:
    """Check that config.json and names of tensors describe the attention that `kind` has. ValueError otherwise."""
    model = config.get("model_type")
    if model is not None and model not in TYPES[kind]:
        allowed = ", ".join(TYPES[kind])
        raise ValueError(f"model_type must be one of {allowed} with the tensors of {kind}, got {shown(model)}")
    other = next((name for name in names if UNREAD.search(name)), None)
    if other is not None:
        raise ValueError(f"checkpoint must have no positions but a table added to tokens or rotations, got {other}")
    inside = ((name, len(stem)) for stem in stems for name in names if name.startswith(stem))
    names_read = [PARTS, *(BETWEEN[name] for name in (kind, str(model)) if name in BETWEEN)]
    other = next((name for name, start in inside if not any(x.fullmatch(name, start) for x in names_read)), None)
    if other is not None:
        raise ValueError(f"checkpoint must have no more than its projections in an attention, got {other}")
    if config.get("attention_type") not in (None, "original_full"):
        got = f"attention_type={shown(config['attention_type'])}"
        raise ValueError(f"checkpoint must read every token that a mask allows, got {got}")
    if config.get("has_relative_attention_bias"):
        raise ValueError("checkpoint must add nothing to scores, got has_relative_attention_bias=true")
    other = next((name for name in SCALES if config.get(name) is not None), None)
    if other is not None:
        raise ValueError(
            f"checkpoint must scale scores by the width of heads alone, got {other}={shown(config[other])}"
        )
    rotated = config.get("no_rope_layers")  # 1 where a layer rotates
    if isinstance(rotated, list) and not all(rotated):
        raise ValueError(f"checkpoint must rotate in every layer or none, got no_rope_layers={shown(rotated)}")
    places = config.get("position_embedding_type")
    if places not in (None, "absolute", "rope"):
        got = f"position_embedding_type={shown(places)}"
        raise ValueError(f"checkpoint must have absolute positions or rotate, got {got}")


def completed(config: Mapping[str, Any]) -> dict[str, Any]:
    """A config.json with the defaults of its model type filled in."""
    model = config.get("model_type")
    return {**(DEFAULTS.get(model, {}) if isinstance(model, str) else {}), **config}


def check_widths(config: Mapping[str, Any], width: int, shared: int) -> None:
    """Check that config.json, if it says so, has the tensors' width and number of heads. ValueError otherwise."""
    for name, found in (("head_dim", width), ("num_key_value_heads", shared)):
        if config.get(name) not in (None, found):
            raise ValueError(f"{name} must be the {found} of the tensors in config.json, got {shown(config[name])}")


def first_position(config: Mapping[str, Any], name: str) -> int:
    """Row of the first token in a table of positions: 0, or the row after padding in tables of RoBERTa's kind."""
    if config.get("model_type") not in PADDED and not name.startswith("roberta."):
        return 0
    padding = config.get("pad_token_id")
    return 1 + (1 if padding is None else int(padding))
