"""Rotary positions as a checkpoint's config.json states them, older and newer spellings alike."""

import math
from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np

from hopfield._arguments import integer, shown
from hopfield._pytrees import changed
from hopfield.attention.encodings import LongRotary, Rotary
from hopfield.layers.imports.layouts import slides, turns

KINDS = ("default", "linear", "dynamic", "llama3", "yarn", "longrope", "su")


def rope_of_layer(config: Mapping[str, Any], layer: int) -> Mapping[str, Any] | None:
    """The config with the rotation of one layer, which windows change in some models. None for a layer without one."""
    table, slid = config.get("rope_parameters"), slides(config, layer)
    if not turns(config, layer):
        return None
    if slid and config.get("model_type") == "olmo3":
        config = {**config, "rope_scaling": None}
    if isinstance(table, Mapping) and any(isinstance(entry, Mapping) for entry in table.values()):
        return {**config, "rope_parameters": table.get("sliding_attention" if slid else "full_attention")}
    if slid and "rope_local_base_freq" in config:
        return {**config, "rope_theta": config["rope_local_base_freq"], "rope_scaling": None}
    return config


def rotary_of(config: Mapping[str, Any], width: int) -> Rotary:
    """The rotation of heads of this width.

    Raises:
        ValueError: a kind of scaling outside KINDS, or one for each kind of layer.
    Source: transformers, `modeling_rope_utils`, for the names; Dubey et al. 2024, §3.4 (arXiv:2407.21783), for llama3;
        Peng et al. 2023 (arXiv:2309.00071) for yarn; Ding et al. 2024 (arXiv:2402.13753) for longrope.
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
        found = Rotary(turned, base=base, scaling=kind, factor=_number(table, "factor"), length=length)
    elif kind in ("longrope", "su"):
        found = _long(both, turned, base)
    else:
        found = Rotary(turned, base=base)
    if kind == "llama3":
        found = changed(found, rates=_llama3(found.rates, both))
    if kind == "yarn":
        found = changed(found, rates=_yarn(found.rates, both), scale=_number(both, "attention_factor", _sharper(both)))
    interleaved = str(config.get("model_type")).startswith("cohere")
    return changed(found, pairing="interleaved") if interleaved else found


def _long(table: Mapping[str, Any], turned: int, base: float) -> LongRotary:
    """Long rope, whose turned components are √(1 + ln factor / ln length) times as long unless that is stated."""
    known = int(_number(table, "original_max_position_embeddings", table.get("max_position_embeddings")))
    ratio = _number(table, "factor", table.get("max_position_embeddings", known) / known)
    usual = math.sqrt(1.0 + math.log(ratio) / math.log(known)) if ratio > 1.0 else 1.0
    short, long = (table.get(f"{name}_factor", ()) for name in ("short", "long"))
    for name, factors in (("short", short), ("long", long)):
        if not isinstance(factors, list) or len(factors) != turned // 2:
            raise ValueError(f"{name}_factor must be the {turned // 2} numbers of all pairs, got {shown(factors)}")
    return LongRotary(short, long, length=known, base=base, scale=_number(table, "attention_factor", usual))


def _sharper(table: Mapping[str, Any]) -> float:
    """Length of yarn's turned components, 0.1 ln factor + 1, or the ratio of two of these with a weight each."""
    growth = 0.1 * math.log(_number(table, "factor"))
    own, all_dims = (table.get(name) or 0.0 for name in ("mscale", "mscale_all_dim"))
    return (own * growth + 1.0) / (all_dims * growth + 1.0) if own and all_dims else growth + 1.0


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
