"""Scales, norms, windows, caps and sinks that models have between their projections and their weights.

Mistral, Mixtral     a window in every layer             Gemma 2      a soft cap, windows in every second layer
Qwen 3, OLMo 2, 3    RMS norms of queries and keys       gpt-oss      sinks, windows in every second layer
GLM 4.5              the same, where use_qk_norm says so Granite, MPT a β of its own
Gemma 3              norms, windows in five layers of six, with a rotation of their own
OLMo 3, Cohere 2     windows in three layers of four     Cohere       layer norms of each head, if use_qk_norm says so
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from hopfield._arguments import integer, real_scalar, shown
from hopfield.layers.imports.layouts import slides, tensor

NORMED = ("cohere", "glm4_moe", "olmo2", "olmo3", "qwen3", "qwen3_moe", "gemma3_text")
"""Model types whose q_norm and k_norm are known."""
NORMS = ("q_norm.weight", "k_norm.weight")


@dataclass(frozen=True)
class Reading:
    """How a layer reads beside its projections and β; nothing of it in most models.

    Example:
        >>> from hopfield.layers.imports import Reading
        >>> Reading(window=3).sinks is None
        True
    """

    window: int | None = None
    cap: float | None = None
    sinks: Float[np.ndarray, "H"] | None = None
    query_norm: Float[np.ndarray, "*h R"] | None = None
    """Scale of the RMS norm of each head's queries [R], or of all heads' together [H R]; of layer norms [H, R]."""
    key_norm: Float[np.ndarray, "*h R"] | None = None
    epsilon: float = 1e-6


PLAIN = Reading()


def reading_of(config: Mapping[str, Any], tensors: Mapping[str, np.ndarray], stem: str, layer: int) -> Reading:
    """Reading of a layer by its configuration and tensors. ValueError for norms of an unknown model."""
    model = str(config.get("model_type"))
    axes, epsilon = (2, "layer_norm_eps") if model == "cohere" else (1, "rms_norm_eps")
    get = lambda name, axes=axes: tensor(tensors, stem + name, axes) if stem + name in tensors else None
    query_norm, key_norm = (None if x is None else x + float(model == "gemma3_text") for x in map(get, NORMS))
    if query_norm is not None and model not in NORMED:
        known = ", ".join(NORMED)
        raise ValueError(f"model_type must be one of {known} with q_norm, got {shown(config.get('model_type'))}")
    cap = config.get("attn_logit_softcapping")
    epsilon = float(config.get(epsilon, 1e-6))
    return Reading(_window(config, layer), cap, get("sinks", 1), query_norm, key_norm, epsilon)


def _window(config: Mapping[str, Any], layer: int) -> int | None:
    """Keys that a layer's query reads, itself among them. None for all before it."""
    window = config.get("sliding_window")
    if window is None or not config.get("use_sliding_window", True):
        return None
    return integer("sliding_window", window) if slides(config, layer) else None


def beta_of(kind: str, config: Mapping[str, Any], layer: int, width: int) -> float:
    """Inverse temperature β of a layer, whose heads have this width."""
    stated = config.get("attention_multiplier") or (config.get("attn_config") or {}).get("softmax_scale")
    if stated:
        return float(real_scalar("attention_multiplier", stated, "positive and finite", 1e-30))
    scaled = config.get("scale_attn_weights", True) and not kind.startswith("t5")
    beta = float(config.get("query_pre_attn_scalar") or width) ** -0.5 if scaled else 1.0
    return beta / (layer + 1) if config.get("scale_attn_by_inverse_layer_idx") else beta
