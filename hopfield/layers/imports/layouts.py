"""Layouts of checkpoints, one table: what a kind of model calls its projections, and how they lie in their tensors."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import jax.numpy as jnp
import numpy as np

from hopfield._arguments import integer

Tensors = Mapping[str, np.ndarray]
Pairs = list[tuple[np.ndarray, np.ndarray | None]]
"""Weights [inputs, outputs] and bias of query, key, value and output."""


class Layout(NamedTuple):
    """Names and order of what is read of one kind of model."""

    stem: str
    """Pattern of the beginning of all names of a layer's attention, its number the group `layer`."""
    names: tuple[str, ...]
    """Names of query, key, value and output; or of the tensor that has the first three side by side, and the output."""
    types: tuple[str, ...]
    """Model types that attend as it is read; others have the same names and attend otherwise."""
    joint: Literal["thirds", "heads", "groups"] | None = None
    """Order side by side: all of each (of grouped heads, fewer keys and values), or head by head."""
    transposed: bool = True
    """Outputs lie along the rows of a matrix."""
    positions: str | None = None
    """Pattern of the table of positions that is added to tokens."""
    rotary: bool = False
    between: str = "(?!)"
    """Pattern of further names in an attention, which `readings` reads."""
    alibi: bool = False
    """Distances times a slope of each head are subtracted from scores."""

    @property
    def anchor(self) -> str:
        """Pattern of a name that every layer has, and that tells the layout from others."""
        return rf"(?P<stem>(?:.*\.)?{self.stem}){self.names[0 if self.joint else -1]}\.weight"


PADDED = (
    *("camembert", "data2vec-text", "esm", "markuplm", "roberta", "roberta-prelayernorm", "xlm-roberta"),
    *("xlm-roberta-xl", "xmod"),
)
"""Model types with BERT's names of tensors whose first positions are of padding."""
ALIKE = (
    *("cohere", "cohere2", "gemma", "gemma2", "gemma3_text", "glm4_moe", "gpt_oss", "granite", "llama", "mistral"),
    *("mixtral", "olmo", "olmo2", "olmo3", "qwen2", "qwen2_moe", "qwen3", "qwen3_moe", "smollm3", "stablelm"),
    "starcoder2",
)
QKVO = ("q_proj", "k_proj", "v_proj", "o_proj")
OUT = (*QKVO[:3], "out_proj")
BLOCK = r"block\.(?P<layer>\d+)\.layer\."
CLIP = r"encoder\.layers\.(?P<layer>\d+)\.self_attn\."
CLIP_POSITIONS = r"embeddings\.position_embedding\.weight"
BIAS = r"relative_attention_bias\.weight"
T5_NAMES, T5_TYPES = ("q", "k", "v", "o"), ("t5", "mt5")
LAYOUTS = {
    "gpt2": Layout(
        r"h\.(?P<layer>\d+)\.attn\.",
        ("c_attn", "c_proj"),
        ("gpt2",),
        joint="thirds",
        transposed=False,
        positions=r"(?:.*\.)?wpe\.weight",
    ),
    "vit": Layout(
        r"encoder\.layer\.(?P<layer>\d+)\.attention\.",
        ("attention.query", "attention.key", "attention.value", "output.dense"),
        ("deit", "vit"),
        positions=r"(?:.*\.)?embeddings\.position_embeddings",
    ),
    "bert": Layout(
        r"encoder\.layer\.(?P<layer>\d+)\.attention\.",
        ("self.query", "self.key", "self.value", "output.dense"),
        ("bert", "electra", "ernie", *PADDED),
        positions=r"(?:.*\.)?embeddings\.position_embeddings\.weight",
    ),
    "distilbert": Layout(
        r"transformer\.layer\.(?P<layer>\d+)\.attention\.",
        ("q_lin", "k_lin", "v_lin", "out_lin"),
        ("distilbert",),
        positions=r"(?:.*\.)?embeddings\.position_embeddings\.weight",
    ),
    "opt": Layout(
        r"decoder\.layers\.(?P<layer>\d+)\.self_attn\.",
        OUT,
        ("opt",),
        positions=r"(?:.*\.)?decoder\.embed_positions\.weight",
    ),
    "clip_text": Layout(
        rf"text_model\.{CLIP}", OUT, ("clip", "clip_text_model"), positions=rf"(?:.*\.)?text_model\.{CLIP_POSITIONS}"
    ),
    "clip_vision": Layout(
        *(rf"vision_model\.{CLIP}", OUT, ("clip", "clip_vision_model")),
        positions=rf"(?:.*\.)?vision_model\.{CLIP_POSITIONS}",
    ),
    "clip": Layout(CLIP, OUT, ("clip_text_model", "clip_vision_model"), positions=CLIP_POSITIONS),
    "phi3": Layout(
        r"layers\.(?P<layer>\d+)\.self_attn\.", ("qkv_proj", "o_proj"), ("phi3",), joint="groups", rotary=True
    ),
    "llama": Layout(r"layers\.(?P<layer>\d+)\.self_attn\.", QKVO, ALIKE, rotary=True, between=r"[qk]_norm\.weight"),
    "gpt_neox": Layout(
        r"layers\.(?P<layer>\d+)\.attention\.",
        ("query_key_value", "dense"),
        ("gpt_neox",),
        joint="heads",
        rotary=True,
    ),
    "gptj": Layout(r"h\.(?P<layer>\d+)\.attn\.", OUT, ("gptj",), rotary=True),
    "bloom": Layout(
        *(r"h\.(?P<layer>\d+)\.self_attention\.", ("query_key_value", "dense"), ("bloom",)), joint="heads", alibi=True
    ),
    "mpt": Layout(r"blocks\.(?P<layer>\d+)\.attn\.", ("Wqkv", "out_proj"), ("mpt",), joint="thirds", alibi=True),
    "t5": Layout(rf"encoder\.{BLOCK}0\.SelfAttention\.", T5_NAMES, T5_TYPES, between=BIAS),
    "t5_decoder": Layout(rf"decoder\.{BLOCK}0\.SelfAttention\.", T5_NAMES, T5_TYPES, between=BIAS),
    "t5_cross": Layout(rf"decoder\.{BLOCK}1\.EncDecAttention\.", T5_NAMES, T5_TYPES, between=BIAS),
}
"""Kinds of checkpoints, found by the first whose names fit: LLaMA's output projection is Phi-3's, too."""
COMMON = r"(masked_)?bias|rotary_emb\.inv_freq|((output\.)?LayerNorm|self_attn_layer_norm)\.\w+"
"""Pattern of names in an attention that nothing reads: buffers, and norms before and after it."""


def layout_of(tensors: Tensors, kind: str | None = None) -> tuple[str, list[str]]:
    """Kind of a checkpoint, and for every layer the beginning of its tensors' names."""
    for name in LAYOUTS if kind is None else (kind,):
        matches = [match for found in tensors if (match := re.fullmatch(LAYOUTS[name].anchor, found))]
        if any(f"{match['stem']}{LAYOUTS[name].names[0]}.weight" in tensors for match in matches):
            stems = {int(match["layer"]): match["stem"] for match in matches}
            if len(stems) < len(matches) or sorted(stems) != list(range(len(stems))):
                raise ValueError(
                    f"checkpoint must have one attention in each layer 0, 1, ..., got {_kinds_of_names(tensors)}"
                )
            return name, [stems[layer] for layer in sorted(stems)]
    known = ", ".join(LAYOUTS) if kind is None else kind
    raise ValueError(f"checkpoint must have the layout of {known}, got the tensors {_kinds_of_names(tensors)}")


def read_names(kind: str, model: Any) -> re.Pattern[str]:
    """Pattern of the names in an attention of this kind and model type that are read, or need not be."""
    names, more = "|".join(map(re.escape, LAYOUTS[kind].names)), "sinks" if model == "gpt_oss" else "(?!)"
    return re.compile(rf"({names})\.(weight|bias)|{LAYOUTS[kind].between}|{more}|{COMMON}")


def projections_of(tensors: Tensors, stem: str, layout: Layout, heads: int, shared: int) -> Pairs:
    """Query, key, value and output of one layer, of `shared` heads of keys where that is not the tensors' own."""
    weights = [tensor(tensors, f"{stem}{name}.weight", 2) for name in layout.names]
    weights = [weight.T if layout.transposed else weight for weight in weights]
    sizes = {"thirds": (1, 1, 1), "heads": (heads,) * 3, "groups": (heads, shared, shared), None: (1,)}[layout.joint]
    width, left = divmod(weights[0].shape[1], sum(sizes))
    if left:
        shape = weights[0].shape
        raise ValueError(f"{stem}{layout.names[0]} must be three projections side by side, got weights {shape}")
    biases = [_bias(tensors, f"{stem}{x}.bias", w.shape[1]) for x, w in zip(layout.names, weights, strict=True)]
    pairs = list(zip(weights, biases, strict=True))
    if layout.joint is None:
        return pairs
    (weight, bias), output = pairs
    order = np.arange(weight.shape[1])
    order = order.reshape(heads, 3, -1).swapaxes(0, 1).ravel() if layout.joint == "heads" else order
    cut = lambda x: np.split(x[..., order], width * np.cumsum(sizes)[:-1], axis=-1)
    return [*zip(cut(weight), [None] * 3 if bias is None else cut(bias), strict=True), output]


def tensor(tensors: Tensors, name: str, ndim: int) -> np.ndarray:
    """A tensor of a checkpoint, widened to single precision. ValueError for one that is not there or not readable."""
    if name not in tensors:
        raise ValueError(f"checkpoint must have the tensor {name}, got {_kinds_of_names(tensors)}")
    found = tensors[name]
    if found.ndim != ndim:
        raise ValueError(f"{name} must have {ndim} axes, got shape {found.shape}")
    if 0 in found.shape:
        raise ValueError(f"{name} must not be empty, got shape {found.shape}")
    if not jnp.issubdtype(found.dtype, jnp.floating) or found.dtype.itemsize < 2:
        raise ValueError(f"{name} must be floating-point numbers of 16 bits at least, not quantised, got {found.dtype}")
    found = np.array(found, np.float64 if found.dtype == np.float64 else np.float32)
    if not np.isfinite(found).all():
        raise ValueError(f"{name} must be finite, got NaN or infinite entries")
    return found


def slides(config: Mapping[str, Any], layer: int) -> bool:
    """True if a layer has a window, of a model in which some layers have one."""
    kinds, pattern = config.get("layer_types"), config.get("sliding_window_pattern")
    if isinstance(kinds, list) and layer < len(kinds):
        return kinds[layer] == "sliding_attention"
    if pattern is not None:
        return (layer + 1) % integer("sliding_window_pattern", pattern) > 0
    model, border = config.get("model_type"), config.get("max_window_layers", 0)
    if model == "smollm3":
        return not turns(config, layer)
    if model == "qwen2_moe":
        return layer % 2 == 0 and layer < border
    return layer >= border or model == "qwen3_moe"  # which heeds no border


def turns(config: Mapping[str, Any], layer: int) -> bool:
    """True if a layer of a model with rotary positions turns: in SmolLM 3 each fourth does not, in Cohere 2 some."""
    rotated, every = config.get("no_rope_layers"), config.get("no_rope_layer_interval")
    if isinstance(rotated, list) and layer < len(rotated):
        return bool(rotated[layer])
    if every is not None:
        return (layer + 1) % integer("no_rope_layer_interval", every) > 0
    return config.get("model_type") != "cohere2" or slides(config, layer)


def _bias(tensors: Tensors, name: str, width: int) -> np.ndarray | None:
    if name not in tensors:
        return None
    bias = tensor(tensors, name, 1)
    if len(bias) != width:
        raise ValueError(f"{name} must have one entry per output, {width}, got {len(bias)}")
    return bias


def _kinds_of_names(names: Sequence[str] | Tensors, most: int = 12) -> str:
    """Names with numbers as *, each kind once."""
    kinds = list(dict.fromkeys(re.sub(r"\d+", "*", name) for name in names))
    return ", ".join(kinds[:most]) + (f" and {len(kinds) - most} more" if len(kinds) > most else "")
