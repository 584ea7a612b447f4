"""Rotary positions as a checkpoint's config.json states them, older and newer spellings alike."""

import math
from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np

from hopfield._arguments import integer, shown
from hopfield._pytrees import changed
from hopfield.attention.encodings import Rotary
from hopfield.layers.imports.layouts import slides

KINDS = ("default", "linear", "dynamic", "llama3", "yarn")


def rope_of_layer(config: Mapping[str, Any], layer: int) -> Mapping[str, Any]:
    """The config with the rotation of one layer, where those with a window have one of their own (Gemma 3)."""
    table, slid = config.get("rope_parameters"), slides(config, layer)
    if isinstance(table, Mapping) and any(isinstance(entry, Mapping) for entry in table.values()):
        return {**config, "rope_parameters": table.get("sliding_attention" if slid else "full_attention")}
    if slid and "rope_local_base_freq" in config:
        return {**config, "rope_theta": config["rope_local_base_freq"], "rope_scaling": None}
    return config


def rotary_of(config: Mapping[str, Any], width: int) -> Rotary:
    """The rotation of heads of this width.

    Raises:
        ValueError: a kind of scaling other than those of KINDS, or one for each kind of layer.
    Source: transformers, `modeling_rope_utils`, for the names; Dubey et al. 2024, §3.4 (arXiv:2407.21783), for llama3;
        Peng et al. 2023 (arXiv:2309.00071) for yarn.
    """
    table, kind = _table(config)
    both = {**config, **table}
    base, share = _number(both, "rope_theta", 1e4), _number(both, "partial_rotary_factor", 1.0)
    if share > 1:
        raise ValueError(f"partial_rotary_factor must be at most 1, got {share:g}")
    if config.get("rotary_dim") is not None:  # of GPT-J
        return Rotary(integer("rotary_dim", config["rotary_dim"]), pairing="interleaved")
    turned = int(width * share)
    if kind in ("linear", "dynamic"):
        length = int(_number(config, "max_position_embeddings")) if kind == "dynamic" else None
        return Rotary(turned, base=base, scaling=kind, factor=_number(table, "factor"), length=length)
    plain = Rotary(turned, base=base)
    rates = {"default": lambda *_: plain.rates, "llama3": _llama3, "yarn": _yarn}[kind](plain.rates, both)
    return changed(plain, rates=rates)


def scale_of_scores(config: Mapping[str, Any]) -> float:
    """Factor of scores that comes with a rotation: (0.1 ln factor + 1)² of yarn, or as stated; 1 for others."""
    table, kind = _table(config)
    if kind != "yarn":
        return 1.0
    if table.get("mscale") or table.get("mscale_all_dim"):
        raise ValueError("rope_parameters must have no mscale with yarn, got one")
    if _number({**config, **table}, "partial_rotary_factor", 1.0) != 1.0:
        raise ValueError("partial_rotary_factor must be 1 with yarn, whose factor is one of all scores")
    return _number(table, "attention_factor", 0.1 * math.log(_number(table, "factor")) + 1.0) ** 2


def _table(config: Mapping[str, Any]) -> tuple[Mapping[str, Any], str]:
    """Options of the rotation and their kind."""
    table: Any = config.get("rope_parameters") or config.get("rope_scaling") or {}
    if not isinstance(table, Mapping):
        raise ValueError(f"rope_scaling must be a table of its options, got {shown(table)}")
    if any(isinstance(entry, Mapping) for entry in table.values()):
        raise ValueError(f"rope_parameters must be one table for all layers, got {shown(table)}")
    kind = table.get("rope_type", table.get("type", "default"))
    if kind not in KINDS:
        raise ValueError(f"rope_type must be one of {', '.join(KINDS)}, got {kind!r}")
    return table, kind


def _number(table: Mapping[str, Any], name: str, default: float | None = None) -> float:
    """A positive, finite number of a configuration. ValueError, one sentence, for another or none."""
    value = table.get(name, default)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < math.inf:
        raise ValueError(f"{name} must be a positive number in config.json, got {shown(value)}")
    return float(value)


def _llama3(rates: Any, table: Mapping[str, Any]) -> Any:
    """Rates of LLaMA 3: slow rotations are divided by the factor, fast ones stay, and rotations between are mixed."""
    rates = np.asarray(rates, float)
    length, factor = (_number(table, name) for name in ("original_max_position_embeddings", "factor"))
    low, high = (_number(table, name) for name in ("low_freq_factor", "high_freq_factor"))
    if not low < high:
        raise ValueError(f"low_freq_factor must be below high_freq_factor, got {low:g} and {high:g}")
    turns = length * rates / (2.0 * math.pi)
    share = np.clip((turns - low) / (high - low), 0.0, 1.0)
    return jnp.asarray(share * rates + (1.0 - share) * rates / factor)


def _yarn(rates: Any, table: Mapping[str, Any]) -> Any:
    """Rates of yarn: of fewer than beta_slow turns in the original length divided, of more than beta_fast left."""
    rates = np.asarray(rates, float)
    length, factor = (_number(table, name) for name in ("original_max_position_embeddings", "factor"))
    base, pairs = _number(table, "rope_theta", 1e4), len(rates)
    at = lambda turns: pairs * math.log(length / (2 * math.pi * turns)) / math.log(base)
    first, last = at(_number(table, "beta_fast", 32.0)), at(_number(table, "beta_slow", 1.0))
    if table.get("truncate", True):
        first, last = math.floor(first), math.ceil(last)
    first, last = max(first, 0), min(last, 2 * pairs - 1)
    divided = np.clip((np.arange(pairs) - first) / max(last - first, 1e-3), 0.0, 1.0)
    return jnp.asarray(rates * (1.0 - divided) + rates / factor * divided)
