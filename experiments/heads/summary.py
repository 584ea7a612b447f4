"""Summary of the geometry of heads: distances beside random ones, and whether distance and attention agree.

Source: permutation test, Mantel 1967.
"""

from typing import Any

import numpy as np

from experiments.contract import Table
from experiments.heads.config import MEASURES

PERMUTATIONS = 9999


def summarise(table: Table) -> dict:
    """Mean distances beside random ones, and the agreement of every measure with attention, by layer and in all.

    Agreement needs attention and three heads.
    """
    pairs = table[table["quantity"] == "pair"]
    layers = [int(layer) for layer in pairs["layer"].unique()]
    scalars: dict[str, Any] = {}
    agreement = []
    attention = np.array([matrix(pairs, layer, "attention") for layer in layers])
    tested = attention.shape[-1] > 2 and bool(np.isfinite(attention).all())
    for name in MEASURES if tested else ():
        found = np.array([matrix(pairs, layer, name) for layer in layers])
        for layer, one, other in zip(layers, found, attention, strict=True):
            r, p = mantel(one, other, PERMUTATIONS)
            agreement.append({"measure": name, "layer": layer, "correlation": r, "p_value": p})
        mean, p = mantel(found, attention, PERMUTATIONS)
        scalars |= {f"mantel/{name}": mean, f"mantel_p/{name}": p}
    for side in ("query", "key"):
        scalars[f"grassmann/{side}"] = float(pairs[side].mean())
    scalars["grassmann/random"] = float(pairs["random"].mean())
    scalars["grassmann/random_deviation"] = float(pairs["random_deviation"].mean())
    scalars["attention_error"] = float(pairs["attention_error"].max())
    known = table[table["quantity"] == "similarity"]
    if len(known):
        scalars["similarity_error"] = float((known["similarity"] - known["published"]).abs().max())
        scalars["similarities_to_4_decimals"] = bool((known["similarity"].round(4) == known["published"]).all())
    means = pairs.groupby("layer")[["query", "key", "random", "random_deviation", "attention_error"]].mean()
    return {"layers": means.reset_index().to_dict("records"), "agreement": agreement, "scalars": scalars}


def matrix(pairs: Table, layer: int, name: str) -> np.ndarray:
    """The distances of a layer's heads as a symmetric matrix with zeros on its diagonal."""
    rows = pairs[pairs["layer"] == layer]
    i, j = rows["first"].to_numpy(int), rows["second"].to_numpy(int)
    distances = np.zeros((j.max() + 1,) * 2)
    distances[i, j] = distances[j, i] = rows[name].to_numpy(float)
    return distances


def mantel(first: np.ndarray, second: np.ndarray, permutations: int = 9999, seed: int = 0) -> tuple[float, float]:
    """Correlation of the distances of two matrices, and its p-value when the objects of one are shuffled.

    Args:
        first, second: symmetric matrices [H, H], or stacks [L, H, H] whose L objects are shuffled apart; the statistic
            of a stack is the mean of its correlations.
        permutations: P shuffles; p = (1 + number that reach the correlation) / (1 + P), one-sided.
        seed: of the shuffles.
    """
    first, second = (x.reshape(-1, *x.shape[-2:]) for x in (first, second))
    above = np.triu_indices(first.shape[-1], 1)
    rng = np.random.default_rng(seed)
    total, reached = 0.0, np.zeros(permutations)
    for one, other in zip(first, second, strict=True):
        fixed = _standard(one[above])
        order = rng.permuted(np.tile(np.arange(len(other)), (permutations, 1)), axis=1)
        total += float(fixed @ _standard(other[above]))
        reached += _standard(other[order[:, above[0]], order[:, above[1]]]) @ fixed
    beaten = int(np.sum(reached >= total - 1e-12))
    return total / len(first), (1 + beaten) / (1 + permutations)


def _standard(x: np.ndarray) -> np.ndarray:
    """Centred values of length one along the last axis. They are zero where all are equal."""
    centred = x - x.mean(axis=-1, keepdims=True)
    return centred / np.maximum(np.linalg.norm(centred, axis=-1, keepdims=True), 1e-300)
