"""Attention weights of trained transformers, layer by layer and head by head, from safetensors files.

A layout is known by the names of its tensors (`layouts`). Whatever it is, a head compares inputs x and y by

    β (x W_Q + b_Q) · (y W_K + b_K) = β (x, 1) J (y, 1)ᵀ

Where positions are rotary (LLaMA) a rotation stands between the factors, and J is the form at distance zero. Where they
are learned a table of them is added to the first layer's tokens (GPT-2, BERT), or a bias of distances to scores (T5,
and BLOOM and MPT with fixed slopes).
"""

import re
from collections.abc import Mapping
from dataclasses import astuple, dataclass, replace
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
from jaxtyping import Float

from hopfield._arguments import integer
from hopfield.attention.encodings import T5, Absolute, Alibi, Rotary
from hopfield.attention.heads import Projections
from hopfield.layers.imports.adapters import with_adapter
from hopfield.layers.imports.files import locate, read_config, read_tensors
from hopfield.layers.imports.layouts import LAYOUTS, Pairs, Tensors, layout_of, projections_of, tensor
from hopfield.layers.imports.readings import PLAIN, Reading, beta_of, reading_of
from hopfield.layers.imports.rotations import rope_of_layer, rotary_of
from hopfield.layers.imports.variants import check_widths, completed, first_position, refuse
from hopfield.metrics import Projected

HEADS = ("num_attention_heads", "n_head", "n_heads", "num_heads")
"""Names of the number of heads in config.json."""


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
    distances: T5 | Alibi | None = None
    """Bias of distances that is added to scores."""

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
        return Projected(jnp.asarray(self.w_query), w_key, b_query, b_key)

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

    `kind` is its layout; `rotary` says that positions rotate queries and keys; `config` is config.json, with what its
    model type takes for granted; `positions` [L, D] are learned and added to tokens, None if there are none.

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


def load(
    path: str | Path, *, heads: int | None = None, kind: str | None = None, adapter: str | Path | None = None
) -> Checkpoint:
    """Attention weights of a checkpoint of one of `layouts.LAYOUTS`, half precision widened to float32.

    Args:
        path: a safetensors file, the index of several, their directory, "package:name" for one that lies in an
            installed package, or "hf:organisation/name", which asks huggingface_hub (if it is installed) for the files.
        heads: number of query heads; needed where no config.json beside the file says it.
        kind: the layout by its name where a model has several, as "t5_decoder", "t5_cross" or "clip_vision"; from the
            tensors' names if None.
        adapter: folder of a LoRA adapter as peft saves it, which is added to the weights.
    Returns:
        The checkpoint; nothing but attention is read.
    Raises:
        ValueError: no such file, a file that is not safetensors, an unknown layout (with the names found in it),
            tensors that do not fit, a number of heads that is unknown, an adapter of another kind, or a model that
            attends otherwise than its layout: where config.json names a model_type it must be one of the layout's.
    """
    place = locate(path)
    tensors = read_tensors(place)
    tensors = tensors if adapter is None else with_adapter(tensors, locate(adapter))
    kind, stems = layout_of(tensors, kind)
    config = completed(read_config(place), kind)
    layout, heads = LAYOUTS[kind], _heads(config, heads, place)
    refuse(kind, config, tensors, stems)
    distances, layers = _distances(config, tensors, stems[0], kind, heads), []
    for layer, stem in enumerate(stems):
        parts = projections_of(tensors, stem, layout, heads, config.get("num_key_value_heads") or heads)
        weights = _by_head(parts, heads, config, layer)
        rope = rope_of_layer(config, layer) if layout.rotary else None
        beta = beta_of(kind, config, layer, weights.w_query.shape[-1])
        reading = reading_of(config, tensors, stem, layer) if layout.rotary else PLAIN
        layers.append(replace(weights, beta=beta, rope=rope, reading=reading, distances=distances))
    places = _positions(config, tensors, layout.positions, layers[0].w_query.shape[1])
    return Checkpoint(kind, tuple(layers), config, layout.rotary, places)


def _positions(config: Mapping[str, Any], tensors: Tensors, pattern: str | None, width: int) -> np.ndarray | None:
    """Table of positions that is added to tokens, its first row for the first token. None if the model has no table."""
    names = [name for name in tensors if pattern is not None and re.fullmatch(pattern, name)]
    if not names:
        return None
    places = np.asarray(tensors[names[0]])
    places = tensor({names[0]: places[0] if places.shape[:1] == (1,) else places}, names[0], 2)
    places = places[first_position(config, names[0]) :]
    if places.shape[1] != width:
        raise ValueError(f"{names[0]} must have the {width} features of inputs, got shape {places.shape}")
    return places


def _distances(config: Mapping[str, Any], tensors: Tensors, stem: str, kind: str, heads: int) -> T5 | Alibi | None:
    """Bias of distances, which all layers share. None if there is none."""
    if LAYOUTS[kind].alibi:
        return Alibi(heads)
    if kind not in ("t5", "t5_decoder"):
        return None
    table = jnp.asarray(tensor(tensors, f"{stem}relative_attention_bias.weight", 2))
    return T5(table, kind == "t5", config.get("relative_attention_max_distance", 128))


def _heads(config: Mapping[str, Any], heads: int | None, place: Path) -> int:
    entry = next((name for name in HEADS if name in config), HEADS[0])
    configured = config.get(entry)
    if configured is not None:
        integer(f"{entry} in config.json", configured)
    count = configured if heads is None else heads
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise ValueError(f"heads must be a positive integer where no config.json beside '{place}' says it, got {count}")
    if configured is not None and configured != count:
        raise ValueError(f"heads must be the {configured} of config.json, got {heads}")
    return count


def _by_head(parts: Pairs, heads: int, config: Mapping[str, Any], layer: int) -> AttentionWeights:
    """Columns cut into heads, with β = 1/√R; how many share keys follows from the widths."""
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
    w_output, biases = output.reshape(heads, width, -1), (b_query, b_key, b_value, b_output)
    return AttentionWeights(w_query, w_key, w_value, w_output, *biases, width**-0.5)
