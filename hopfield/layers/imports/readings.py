"""What models have between their projections and their weights: scales, norms, windows, caps and sinks.

Mistral, Mixtral     a window in every layer             Gemma 2      a soft cap, windows in every second layer
Qwen 3, OLMo 2       RMS norms of queries and keys       gpt-oss      sinks, windows in every second layer
GLM 4.5              the same, where use_qk_norm says so
Gemma 3              norms, windows in five layers of six, with a rotation of their own
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from hopfield._arguments import integer, shown
from hopfield.layers.imports.layouts import slides, tensor
from hopfield.layers.imports.rotations import scale_of_scores

NORMED = {"glm4_moe": 0.0, "olmo2": 0.0, "qwen3": 0.0, "qwen3_moe": 0.0, "gemma3_text": 1.0}
"""Model types whose q_norm and k_norm are RMS norms, and what is added to their scale."""
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
    query_norm: Float[np.ndarray, "R"] | None = None
    """Scale of the RMS norm of each head's queries [R], or of all heads' together [H R]."""
    key_norm: Float[np.ndarray, "R"] | None = None
    epsilon: float = 1e-6


PLAIN = Reading()


def reading_of(config: Mapping[str, Any], tensors: Mapping[str, np.ndarray], stem: str, layer: int) -> Reading:
    """What the configuration and the tensors say of a layer. ValueError for norms of a model that is not known."""
    model = str(config.get("model_type"))
    get = lambda name: tensor(tensors, stem + name, 1) if stem + name in tensors else None
    query_norm, key_norm = (None if x is None else x + NORMED.get(model, 0.0) for x in map(get, NORMS))
    if query_norm is not None and model not in NORMED:
        known = ", ".join(NORMED)
        raise ValueError(f"model_type must be one of {known} with q_norm, got {shown(config.get('model_type'))}")
    cap = config.get("attn_logit_softcapping")
    epsilon = float(config.get("rms_norm_eps", 1e-6))
    return Reading(_window(config, layer), cap, get("sinks"), query_norm, key_norm, epsilon)


def _window(config: Mapping[str, Any], layer: int) -> int | None:
    """Keys that a layer's query reads, itself among them. None for all before it."""
    window = config.get("sliding_window")
    if window is None or not config.get("use_sliding_window", True):
        return None
    return integer("sliding_window", window) if slides(config, layer) else None


def beta_of(kind: str, config: Mapping[str, Any], rope: Mapping[str, Any] | None, layer: int, width: int) -> float:
    """Inverse temperature β of a layer, whose heads have this width."""
    scaled = config.get("scale_attn_weights", True) and not kind.startswith("t5")
    beta = float(config.get("query_pre_attn_scalar") or width) ** -0.5 if scaled else 1.0
    beta = beta / (layer + 1) if config.get("scale_attn_by_inverse_layer_idx") else beta
    return beta if rope is None else beta * scale_of_scores(rope)
