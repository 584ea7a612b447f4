"""Attention weights of trained transformers, layer by layer and head by head, from safetensors files.

A layout is known by the names of its tensors: GPT-2 (query, key and value side by side in `c_attn`), BERT (one matrix
each) and LLaMA, whose heads may share keys. Whatever the layout, a head compares inputs x and y by

    β (x W_Q + b_Q) · (y W_K + b_K) = β (x, 1) J (y, 1)ᵀ

Where positions are rotary (LLaMA) a rotation stands between the factors, and J is the form at distance zero. Where they
are learned (GPT-2, BERT) a table of them is added to the first layer's tokens.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from hopfield._arguments import integer
from hopfield.attention.encodings import Absolute, Rotary
from hopfield.attention.heads import Projections
from hopfield.layers.imports.files import locate, read_config, read_tensors
from hopfield.layers.imports.readings import PLAIN, Reading, reading_of
from hopfield.layers.imports.rotations import rotary_of, scale_of_scores
from hopfield.layers.imports.variants import check_widths, completed, first_position, refuse
from hopfield.metrics import Projected, projected

__all__ = ["AttentionWeights", "Checkpoint", "load", "locate", "read_config", "read_tensors"]

Tensors = Mapping[str, np.ndarray]
LAYOUTS = {
    "gpt2": r"(?P<stem>(?:.*\.)?h\.(?P<layer>\d+)\.attn\.)c_attn\.weight",
    "bert": r"(?P<stem>(?:.*\.)?encoder\.layer\.(?P<layer>\d+)\.attention\.)self\.query\.weight",
    "llama": r"(?P<stem>(?:.*\.)?layers\.(?P<layer>\d+)\.self_attn\.)q_proj\.weight",
}
"""Name of a tensor that every layer of a kind has, and the part that all names of its attention begin with."""
POSITIONS = {"gpt2": r"(?:.*\.)?wpe\.weight", "bert": r"(?:.*\.)?embeddings\.position_embeddings\.weight"}
SEPARATE = {
    "bert": ("self.query", "self.key", "self.value", "output.dense"),
    "llama": ("q_proj", "k_proj", "v_proj", "o_proj"),
}


@dataclass(frozen=True)
class AttentionWeights:
    """Weights of one layer as plain arrays: H heads in K ≤ H groups, each group with keys and values of its own.

    Head h makes queries x w_query[h] + b_query[h], reads keys and values h // (H / K) with inverse temperature `beta`,
    and adds what it reads times w_output[h] to the output.

    Example:
        >>> from hopfield.layers.imports import AttentionWeights
        >>> from hopfield.attention import multi_head
        >>> w = np.ones((2, 4, 3))  # two heads of width 3 over tokens of width 4
        >>> layer = AttentionWeights(w, w, w, np.ones((2, 3, 4)), None, None, None, None, 3**-0.5)
        >>> multi_head(layer.projections(), jnp.ones((5, 4)), beta=layer.beta).shape
        (5, 4)
    """

    w_query: Float[np.ndarray, "H D R"]
    w_key: Float[np.ndarray, "K D R"]
    w_value: Float[np.ndarray, "K D R"]
    w_output: Float[np.ndarray, "H R O"]
    b_query: Float[np.ndarray, "H R"] | None
    b_key: Float[np.ndarray, "K R"] | None
    b_value: Float[np.ndarray, "K R"] | None
    b_output: Float[np.ndarray, "O"] | None
    beta: float
    rope: Mapping[str, Any] | None = None
    """The config of a model whose positions are rotary, None for another."""
    reading: Reading = PLAIN
    """Norms, window, cap and sinks, which `from_attention_weights` gives its layer."""

    def rotary(self) -> Rotary | None:
        """Rotation of queries and keys, None for models without one. Raises ValueError for an unknown kind."""
        return None if self.rope is None else rotary_of(self.rope, self.w_query.shape[-1])

    def metric(self) -> Projected:
        """Form J of every head, as a metric [H, …] between inputs. Shared keys are repeated.

        Raises ValueError for queries and keys with norms, which no form between inputs compares.
        """
        if self.reading.query_norm is not None:
            raise ValueError("metric must be left out where queries and keys have norms, which are no bilinear form")
        group = len(self.w_query) // len(self.w_key)
        w_key = jnp.repeat(jnp.asarray(self.w_key), group, axis=0)
        b_key = None if self.b_key is None else jnp.repeat(jnp.asarray(self.b_key), group, axis=0)
        b_query = None if self.b_query is None else jnp.asarray(self.b_query)
        return projected(jnp.asarray(self.w_query), w_key, b_query, b_key)

    def projections(self) -> Projections:
        """The weights for `hopfield.attention.multi_head`, with `beta` to be handed to it.

        Raises ValueError for norms, a window, a cap or sinks, which `multi_head` would leave out.
        """
        if any(part is not None for part in astuple(self.reading)[:-1]):
            raise ValueError("projections must be left out for norms, windows, caps and sinks: from_attention_weights")
        parts = (self.w_query, self.w_key, self.w_value, self.w_output)
        biases = (self.b_query, self.b_key, self.b_value, self.b_output)
        return Projections(*map(jnp.asarray, parts), *(None if b is None else jnp.asarray(b) for b in biases))


@dataclass(frozen=True)
class Checkpoint:
    """The attention of a transformer.

    `kind` is gpt2, bert or llama; `rotary` says that positions rotate queries and keys; `config` is config.json, with
    what its model type takes for granted; `positions` [L, D] are learned and added to tokens, None if there are none.

    Example:
        >>> from hopfield.layers.imports import Checkpoint
        >>> Checkpoint("gpt2", (), {}, rotary=False, positions=np.zeros((4, 2))).encoding().table.shape
        (4, 2)
    """

    kind: str
    layers: tuple[AttentionWeights, ...]
    config: dict[str, Any]
    rotary: bool
    positions: Float[np.ndarray, "L D"] | None = None

    def encoding(self) -> Absolute | None:
        """The learned positions as an encoding, which `add_to_inputs` adds to tokens. None if there are none."""
        return None if self.positions is None else Absolute(jnp.asarray(self.positions))


def load(path: str | Path, *, heads: int | None = None) -> Checkpoint:
    """Attention weights of a GPT-2-, BERT- or LLaMA-type checkpoint, half precision widened to float32.

    Args:
        path: a safetensors file, the index of several, their directory, or "hf:organisation/name", which asks
            huggingface_hub (if it is installed) for the files.
        heads: number of query heads; needed where no config.json beside the file says it.
    Returns:
        The checkpoint; nothing but attention is read.
    Raises:
        ValueError: no such file, a file that is not safetensors, an unknown layout (with the names found in it),
            tensors that do not fit, a number of heads that is unknown, or a model that attends otherwise than its
            layout: where config.json names a model_type it must be one of `variants.TYPES`.
    """
    place = locate(path)
    tensors = read_tensors(place)
    config = completed(read_config(place))
    kind, stems = _layout(tensors)
    heads = _heads(config, heads, place)
    refuse(kind, config, tensors, stems)
    layers = []
    for layer, stem in enumerate(stems):
        parts = _joint(tensors, stem) if kind == "gpt2" else _separate(tensors, stem, SEPARATE[kind])
        weights = _by_head(parts, heads, config, layer, rotary=kind == "llama")
        if kind == "llama":
            weights = replace(weights, reading=reading_of(config, tensors, stem, layer))
        layers.append(weights)
    names = [name for name in tensors if re.fullmatch(POSITIONS.get(kind, "(?!)"), name)]
    places = _get(tensors, names[0], 2)[first_position(config, names[0]) :] if names else None
    if places is not None and places.shape[1] != layers[0].w_query.shape[1]:
        width = layers[0].w_query.shape[1]
        raise ValueError(f"{names[0]} must have the {width} features of inputs, got shape {places.shape}")
    return Checkpoint(kind, tuple(layers), config, kind == "llama", places)


def _layout(tensors: Tensors) -> tuple[str, list[str]]:
    """Kind of a checkpoint, and for every layer the beginning of its tensors' names."""
    for kind, pattern in LAYOUTS.items():
        matches = [match for name in tensors if (match := re.fullmatch(pattern, name))]
        if matches:
            stems = {int(match["layer"]): match["stem"] for match in matches}
            if len(stems) < len(matches) or sorted(stems) != list(range(len(stems))):
                raise ValueError(
                    f"checkpoint must have one attention in each layer 0, 1, ..., got {_kinds_of_names(tensors)}"
                )
            return kind, [stems[layer] for layer in sorted(stems)]
    raise ValueError(
        f"checkpoint must have the layout of GPT-2, BERT or LLaMA, got the tensors {_kinds_of_names(tensors)}"
    )


def _kinds_of_names(names: Sequence[str] | Tensors, most: int = 12) -> str:
    """Names with numbers as *, each kind once."""
    kinds = list(dict.fromkeys(re.sub(r"\d+", "*", name) for name in names))
    return ", ".join(kinds[:most]) + (f" and {len(kinds) - most} more" if len(kinds) > most else "")


def _heads(config: Mapping[str, Any], heads: int | None, place: Path) -> int:
    entry = "num_attention_heads" if "num_attention_heads" in config else "n_head"
    configured = config.get(entry)
    if configured is not None:
        integer(f"{entry} in config.json", configured)
    count = configured if heads is None else heads
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise ValueError(f"heads must be a positive integer where no config.json beside '{place}' says it, got {count}")
    if configured is not None and configured != count:
        raise ValueError(f"heads must be the {configured} of config.json, got {heads}")
    return count


Pairs = list[tuple[np.ndarray, np.ndarray | None]]
"""Weights [inputs, outputs] and bias of query, key, value and output."""


def _get(tensors: Tensors, name: str, ndim: int) -> np.ndarray:
    if name not in tensors:
        raise ValueError(f"checkpoint must have the tensor {name}, got {_kinds_of_names(tensors)}")
    tensor = tensors[name]
    if tensor.ndim != ndim:
        raise ValueError(f"{name} must have {ndim} axes, got shape {tensor.shape}")
    if 0 in tensor.shape:
        raise ValueError(f"{name} must not be empty, got shape {tensor.shape}")
    if not jnp.issubdtype(tensor.dtype, jnp.floating) or tensor.dtype.itemsize < 2:
        raise ValueError(
            f"{name} must be floating-point numbers of 16 bits at least, not quantised, got {tensor.dtype}"
        )
    tensor = np.array(tensor, np.float64 if tensor.dtype == np.float64 else np.float32)
    if not np.isfinite(tensor).all():
        raise ValueError(f"{name} must be finite, got NaN or infinite entries")
    return tensor


def _bias(tensors: Tensors, name: str, width: int) -> np.ndarray | None:
    if name not in tensors:
        return None
    bias = _get(tensors, name, 1)
    if len(bias) != width:
        raise ValueError(f"{name} must have one entry per output, {width}, got {len(bias)}")
    return bias


def _joint(tensors: Tensors, stem: str) -> Pairs:
    """Projections of GPT-2: one matrix, inputs along its rows; query, key and value are thirds of its columns."""
    joint = _get(tensors, f"{stem}c_attn.weight", 2)
    if joint.shape[1] % 3:
        raise ValueError(f"{stem}c_attn must be three projections side by side, got weights {joint.shape}")
    bias = _bias(tensors, f"{stem}c_attn.bias", joint.shape[1])
    biases = [None] * 3 if bias is None else np.split(bias, 3)
    output = _get(tensors, f"{stem}c_proj.weight", 2)
    last = (output, _bias(tensors, f"{stem}c_proj.bias", output.shape[1]))
    return [*zip(np.split(joint, 3, axis=1), biases, strict=True), last]


def _separate(tensors: Tensors, stem: str, names: Sequence[str]) -> Pairs:
    """Projections of BERT and LLaMA: a matrix each for query, key, value and output, outputs along rows."""
    weights = {name: _get(tensors, f"{stem}{name}.weight", 2).T for name in names}
    return [(w, _bias(tensors, f"{stem}{name}.bias", w.shape[1])) for name, w in weights.items()]


def _by_head(parts: Pairs, heads: int, config: Mapping[str, Any], layer: int, *, rotary: bool) -> AttentionWeights:
    """Columns cut into heads; how many share keys follows from the widths."""
    (query, _), (key, _), (value, _), (output, b_output) = parts
    width, left = divmod(query.shape[1], heads)
    if left:
        raise ValueError(f"heads must divide the {query.shape[1]} query features, got {heads}")
    shared, left = divmod(key.shape[1], width)
    inputs = {len(weight) for weight in (query, key, value)}
    if (
        len(inputs) > 1
        or left
        or not shared
        or heads % shared
        or value.shape[1] != key.shape[1]
        or output.shape[0] != query.shape[1]
    ):
        shapes = ", ".join(str(weight.shape) for weight, _ in parts)
        raise ValueError(f"layer {layer} must have query, key, value and output of {heads} heads, got {shapes}")
    check_widths(config, width, shared)
    w_query, w_key, w_value = (w.reshape(len(w), -1, width).transpose(1, 0, 2) for w in (query, key, value))
    b_query, b_key, b_value = (None if b is None else b.reshape(-1, width) for _, b in parts[:3])
    beta = 1.0 / math.sqrt(width) if config.get("scale_attn_weights", True) else 1.0
    if config.get("scale_attn_by_inverse_layer_idx", False):
        beta /= layer + 1
    if config.get("query_pre_attn_scalar") is not None:
        beta = float(config["query_pre_attn_scalar"]) ** -0.5
    if rotary:
        beta *= scale_of_scores(config)
    w_output = output.reshape(heads, width, -1)
    biases = b_query, b_key, b_value, b_output
    return AttentionWeights(w_query, w_key, w_value, w_output, *biases, beta, config if rotary else None)
