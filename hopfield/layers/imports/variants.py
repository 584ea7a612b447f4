"""Variants of checkpoints whose tensors have known names and that attend otherwise: refused, each in a sentence."""

import re
from collections.abc import Iterable, Mapping
from typing import Any

from hopfield.arguments import shown

SCALES = ("query_pre_attn_scalar", "attention_multiplier", "attn_logit_softcapping", "clip_qkv")
"""Entries of config.json by which models with LLaMA's names of tensors scale scores otherwise."""
PAIRS = re.compile("cohere|ernie4_5|glm(?!4_moe)|helium|llama4|moonshine")
"""What the model types with LLaMA's names of tensors begin with that rotate components 2i and 2i + 1 together."""
PADDED = ("roberta", "xlm-roberta", "camembert")
"""Models with BERT's names of tensors whose first positions are of padding."""


def refuse(config: Mapping[str, Any], names: Iterable[str]) -> None:
    """ValueError where config.json or the names of tensors tell of attention other than that of the known layouts."""
    normed = next((name for name in names if re.search(r"\.[qk]_norm\.", name)), None)
    if normed is not None:
        raise ValueError(f"checkpoint must compare queries and keys as they are, got the norm {normed}")
    if PAIRS.match(str(config.get("model_type", ""))):
        raise ValueError(
            f"checkpoint must rotate halves of heads, not pairs, got model_type {shown(config['model_type'])}"
        )
    other = next((name for name in SCALES if config.get(name) is not None), None)
    if other is not None:
        raise ValueError(
            f"checkpoint must scale scores by the width of heads alone, got {other}={shown(config[other])}"
        )
    if config.get("sliding_window") is not None and config.get("use_sliding_window", True):
        raise ValueError(
            f"checkpoint must read all tokens before each, got sliding_window={shown(config['sliding_window'])}: "
            "set it to null in config.json for sequences that are no longer"
        )
    rotated = config.get("no_rope_layers")  # 1 where a layer rotates
    if isinstance(rotated, list) and not all(rotated):
        raise ValueError(f"checkpoint must rotate in every layer or none, got no_rope_layers={shown(rotated)}")
    kind = config.get("position_embedding_type")
    if kind not in (None, "absolute", "rope"):
        told = f"position_embedding_type={shown(kind)}"
        raise ValueError(f"checkpoint must have absolute positions or rotate, got {told}")


def first_position(config: Mapping[str, Any], name: str) -> int:
    """Row of a table of positions that the first token has: in RoBERTa's, whose name it is, that after padding."""
    if config.get("model_type") not in PADDED and not name.startswith("roberta."):
        return 0
    padding = config.get("pad_token_id")
    return 1 + (1 if padding is None else int(padding))
