"""Low-rank adapters (LoRA) as peft saves them, added to the weights of the checkpoint that they were trained for.

    W ← W + α/r B A, or α/√r for rank-stabilised ones        A [r, inputs], B [outputs, r]

Source: Hu et al. 2021, §4.1 (arXiv:2106.09685); Kalajdzievski 2023 (arXiv:2312.03732).
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from hopfield._arguments import real_scalar
from hopfield.layers.imports.files import read_config, read_tensors
from hopfield.layers.imports.layouts import Tensors, tensor

NAME = re.compile(r"(?:base_model\.model\.)?(?P<module>.+)\.lora_(?P<side>[AB])(?:\.default)?\.weight")


def with_adapter(tensors: Tensors, place: Path) -> dict[str, np.ndarray]:
    """The tensors with an adapter's tensors added. ValueError for an adapter of another kind or of other tensors."""
    config, factors = read_config(place, "adapter_config.json"), read_tensors(place)
    found: dict[str, dict[str, np.ndarray]] = {}
    for name in factors:
        match = NAME.fullmatch(name)
        if match is None or config.get("peft_type", "LORA") != "LORA" or config.get("use_dora"):
            raise ValueError(f"adapter must be low-rank factors lora_A and lora_B alone, got {name}")
        found.setdefault(match["module"], {})[match["side"]] = tensor(factors, name, 2)
    merged = dict(tensors)
    for module, sides in found.items():
        name = _weight_of(module, tensors)
        if sorted(sides) != ["A", "B"]:
            raise ValueError(f"adapter must have lora_A and lora_B of {module}, got {', '.join(sides)}")
        change = _scale(config, module, len(sides["A"])) * sides["B"] @ sides["A"]
        weight = tensor(tensors, name, 2)
        change = change.T if config.get("fan_in_fan_out") else change
        if weight.shape != change.shape:
            raise ValueError(f"adapter must fit {name} of shape {weight.shape}, got {change.shape}")
        merged[name] = weight + change.astype(weight.dtype)
    return merged


def _weight_of(module: str, tensors: Tensors) -> str:
    """Name of the weight that a module of the adapter changes; either may begin with the name of a head's model."""
    end = f".{module}.weight"
    names = [name for name in tensors if end.endswith(f".{name}") or f".{name}".endswith(end)]
    if len(names) != 1:
        raise ValueError(f"adapter must name one weight of the checkpoint in each factor, got {module}")
    return names[0]


def _scale(config: Mapping[str, Any], module: str, rank: int) -> float:
    own = config.get("alpha_pattern") or {}
    alpha = next((a for name, a in own.items() if re.fullmatch(rf"(.*\.)?({name})", module)), config.get("lora_alpha"))
    alpha = float(real_scalar("lora_alpha", alpha, "a number in adapter_config.json"))
    return alpha / (rank**0.5 if config.get("use_rslora") else rank)
