"""Rotary positions as a checkpoint's config.json states them, older and newer spellings alike."""

import math
from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np

from hopfield.attention.encodings import Rotary

KINDS = ("default", "linear", "llama3")


def rotary_of(config: Mapping[str, Any], width: int) -> Rotary:
    """The rotation of heads of this width.

    Raises:
        ValueError: a kind of scaling other than default, linear and llama3.
    Source: transformers, `modeling_rope_utils`, for the names; Dubey et al. 2024, §3.4 (arXiv:2407.21783), for llama3.
    """
    given: dict[str, Any] = dict(config.get("rope_parameters") or config.get("rope_scaling") or {})
    kind = given.get("rope_type", given.get("type", "default"))
    if kind not in KINDS:
        raise ValueError(f"rope_type must be one of {', '.join(KINDS)}, got {kind!r}")
    base = float(given.get("rope_theta", config.get("rope_theta", 10000.0)))
    share = float(given.get("partial_rotary_factor", config.get("partial_rotary_factor", 1.0)))
    turned = int(width * share)
    if kind == "linear":
        return Rotary.create(turned, base=base, scaling="linear", factor=float(given["factor"]))
    plain = Rotary.create(turned, base=base)
    return plain if kind == "default" else plain.replace(rates=_llama3(plain.rates, given))


def _llama3(rates: Any, given: Mapping[str, Any]) -> Any:
    """Slow rotations divided by the factor, fast ones as they are, and those between in part."""
    rates = np.asarray(rates, float)
    length, factor = float(given["original_max_position_embeddings"]), float(given["factor"])
    low, high = float(given["low_freq_factor"]), float(given["high_freq_factor"])
    turns = length * rates / (2.0 * math.pi)
    share = np.clip((turns - low) / (high - low), 0.0, 1.0)
    return jnp.asarray(share * rates + (1.0 - share) * rates / factor)
