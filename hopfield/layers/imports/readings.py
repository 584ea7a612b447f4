"""What models of LLaMA's layout have between their projections and their weights: norms, windows, caps and sinks.

Mistral, Mixtral     a window in every layer             Gemma 2      a soft cap, windows in every second layer
Qwen 3, OLMo 2       RMS norms of queries and keys       gpt-oss      sinks, windows in every second layer
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from hopfield._arguments import integer, shown

NORMED = ("olmo2", "qwen3", "qwen3_moe")
"""Model types whose q_norm and k_norm are RMS norms with their scale as it stands."""
ALTERNATING = ("gemma2", "gpt_oss")
"""Model types in which every second layer has a window, from the first on."""


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
    get = lambda name: tensors[stem + name].astype(np.float32) if stem + name in tensors else None
    query_norm, key_norm = get("q_norm.weight"), get("k_norm.weight")
    if query_norm is not None and config.get("model_type") not in NORMED:
        known = ", ".join(NORMED)
        raise ValueError(f"model_type must be one of {known} with q_norm, got {shown(config.get('model_type'))}")
    cap = config.get("attn_logit_softcapping")
    epsilon = float(config.get("rms_norm_eps", 1e-6))
    return Reading(_window(config, layer), cap, get("sinks"), query_norm, key_norm, epsilon)


def _window(config: Mapping[str, Any], layer: int) -> int | None:
    """Keys that a layer's query reads, itself among them. None for all before it."""
    window, kinds, model = config.get("sliding_window"), config.get("layer_types"), config.get("model_type")
    if window is None or not config.get("use_sliding_window", not str(model).startswith("qwen")):
        return None
    if isinstance(kinds, list) and layer < len(kinds):
        sliding = kinds[layer] == "sliding_attention"
    else:
        sliding = layer % 2 == 0 if model in ALTERNATING else layer >= config.get("max_window_layers", 0)
    return integer("sliding_window", window) if sliding else None
