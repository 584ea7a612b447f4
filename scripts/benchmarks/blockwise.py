"""Exact softmax read-out of many patterns by many queries: block by block, and by the function JAX comes with."""

from pathlib import Path
from typing import NamedTuple

import jax
import numpy as np

from hopfield.attention.blockwise import attend_blockwise

from . import BenchmarkError, Case, Run, Side

TOLERANCE = 2e-5
"""Largest difference between two float32 read-outs of unit normal values."""


class Problem(NamedTuple):
    """Queries [T, D], patterns and values [S, D], in numpy and on JAX's device."""

    arrays: tuple[np.ndarray, np.ndarray, np.ndarray]
    on_device: tuple[jax.Array, ...]


def case(size: str, workspace: Path) -> Case:
    """The read-out at β = 1/√D, compiled on both sides."""
    del workspace

    def theirs(problem: Problem, run: Run) -> np.ndarray:
        query, key, value = (x[:, None] for x in problem.on_device)  # [T, heads, D]
        return np.asarray(_dense(query, key, value))[:, 0]

    return comparison(size, "jax.nn.dot_product_attention", theirs)


def comparison(size: str, label: str, theirs) -> Case:
    """Ours against another way to make the same read-out."""
    queries, patterns, width = {"small": (64, 512, 16), "published": (2048, 32768, 64)}[size]

    def draw(number: int) -> Problem:
        rng = np.random.default_rng((2017, number))
        shapes = ((queries, width), (patterns, width), (patterns, width))
        query, key, value = (rng.standard_normal(shape, dtype=np.float32) for shape in shapes)
        return Problem((query, key, value), tuple(map(jax.device_put, (query, key, value))))

    def ours(problem: Problem, run: Run) -> np.ndarray:
        return np.asarray(_blockwise(*problem.on_device))

    return Case(
        what=f"Exact softmax read-out, block by block against {label}.",
        shapes={"queries": queries, "patterns": patterns, "dimensions": width},
        draw=draw,
        ours=Side("hopfield, block-wise", ours),
        theirs=Side(label, theirs),
        check=same_readout,
    )


_blockwise = jax.jit(attend_blockwise)
_dense = jax.jit(jax.nn.dot_product_attention)


def same_readout(problems: list, ours: list[np.ndarray], theirs: list[np.ndarray]) -> dict[str, float]:
    """Check that both sides read the same, to rounding."""
    largest = max(float(np.abs(a - b).max()) for a, b in zip(ours, theirs, strict=True))
    if not largest < TOLERANCE:
        raise BenchmarkError(f"read-outs must agree to {TOLERANCE:g}, got a difference of {largest:.3g}")
    return {"largest difference": largest}
