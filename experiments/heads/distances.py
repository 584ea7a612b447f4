"""Distances of the bilinear forms J of attention heads.

Source: Kataru 2025, "Geometry of the attention mechanism", eqs. 1 to 5.
"""

from typing import Any, NamedTuple

import jax
import numpy as np

from hopfield import geometry
from hopfield.geometry import FactoredForm
from hopfield.layers.imports.checkpoints import AttentionWeights


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
