"""Entropies of softmax weights by annealed theory of patterns on the sphere, beside the measured rows."""

from collections.abc import Callable

import numpy as np

from experiments.contract import Table
from experiments.shared import kappa_theory
from hopfield.theory import spherical


def along(rows: Table, function: Callable) -> tuple[np.ndarray, np.ndarray]:
    """β/β_c and annealed entropy (sphere, softmax); empty for other rows."""
    known = [name for name in rows["memory"].unique() if kappa_theory.covers(name, "sphere", "converged_weight")]
    rows = rows[(rows["ensemble"] == "sphere") & rows["memory"].isin(known)]
    if rows.empty:
        return np.empty(0), np.empty(0)
    grid = np.unique(np.geomspace(rows["ratio"].min(), rows["ratio"].max(), 150))
    size = int(rows["neurons"].iloc[0]), int(rows["patterns"].iloc[0])
    return grid, function(*size, grid * float((rows["beta"] / rows["ratio"]).iloc[0]))


def start_entropy(neurons: int, num_patterns: int, beta: np.ndarray) -> np.ndarray:
    """Entropy H = ln Z − β d ln Z/dβ in the pattern itself, where e^β is its own part of Z: ln Z = β − ln p."""
    step = 1e-3 * beta
    below, here, above = (
        b - np.log(spherical.target_weight(neurons, num_patterns, b)) for b in (beta - step, beta, beta + step)
    )
    return here - beta * (above - below) / (2 * step)


def converged_entropy(neurons: int, num_patterns: int, beta: np.ndarray) -> np.ndarray:
    """Entropy of the weights where the updates end."""
    return np.asarray(spherical.converged(neurons, num_patterns, beta).entropy)
