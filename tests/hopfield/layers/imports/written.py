"""Checkpoints of random weights, written for the tests of their readers."""

import json
from pathlib import Path

import numpy as np
from safetensors import numpy as safetensors

D, H, K, R, LAYERS = 12, 4, 2, 3, 2
CLIP = ("q_proj", "k_proj", "v_proj", "out_proj")
OTHERS = {
    "bert": (("self.query", "self.key", "self.value", "output.dense"), "bert.encoder.layer.{}.attention."),
    "vit": (
        *(("attention.query", "attention.key", "attention.value", "output.dense"), "vit.encoder.layer.{}.attention."),
    ),
    "clip_text": (CLIP, "text_model.encoder.layers.{}.self_attn."),
    "clip_vision": (CLIP, "vision_model.encoder.layers.{}.self_attn."),
    "bloom": (("query_key_value", "dense"), "transformer.h.{}.self_attention."),
    "mpt": (("Wqkv", "out_proj"), "transformer.blocks.{}.attn."),
    "t5_cross": (("q", "k", "v", "o"), "decoder.block.{}.layer.1.EncDecAttention."),
}
"""Names of projections, and the beginning of all names in a layer, where all are [outputs, inputs] with biases."""


def random_tensors(kind: str, rng: np.random.Generator, dtype: type = np.float32) -> dict[str, np.ndarray]:
    """Tensors of a model of random weights in the layout of a kind."""
    tensors = {}
    for layer in range(LAYERS):
        if kind == "gpt2":
            shapes = {
                "c_attn.weight": (D, 3 * D),
                "c_attn.bias": (3 * D,),
                "c_proj.weight": (D, D),
                "c_proj.bias": (D,),
            }
            stem = f"transformer.h.{layer}.attn."
        elif kind in OTHERS:
            names, stem = OTHERS[kind]
            wide = lambda name: 3 * D if name in ("Wqkv", "query_key_value") else D
            shapes = {f"{n}.{p}": (wide(n), D)[: 2 - (p == "bias")] for n in names for p in ("weight", "bias")}
            stem = stem.format(layer)
        else:
            shapes = {"q_proj.weight": (H * R, D), "o_proj.weight": (D, H * R)}
            shapes |= {"k_proj.weight": (K * R, D), "v_proj.weight": (K * R, D)}
            stem = f"model.layers.{layer}.self_attn."
        tensors |= {stem + name: rng.normal(size=shape).astype(dtype) for name, shape in shapes.items()}
    return tensors


def save_checkpoint(directory: Path, kind: str, tensors: dict[str, np.ndarray], heads: int | None = H) -> Path:
    safetensors.save_file(
        {name: np.ascontiguousarray(x) for name, x in tensors.items()}, directory / "model.safetensors"
    )
    if heads is not None:
        name = "n_head" if kind == "gpt2" else "num_attention_heads"
        (directory / "config.json").write_text(json.dumps({name: heads}))
    return directory
