"""Softmax read-out of patterns in a file that is read through a memory map, beside the matrix products alone."""

from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

from hopfield import Memory, large
from hopfield.patterns.sources import Mapped

from . import BenchmarkError, Case, Run, Side

LONG = True
ROWS = 2**16
"""Patterns of the file at a time, for the products alone."""


def case(size: str, workspace: Path) -> Case:
    """10⁷ patterns of 64 float32 numbers, 2.56 GB: the read-out, and the same two products without any softmax."""
    patterns, width, queries = {"small": (10_000, 16, 8), "published": (10_000_000, 64, 256)}[size]
    path = workspace / "patterns.npy"
    file = np.lib.format.open_memmap(path, "w+", np.float32, (patterns, width))
    rng = np.random.default_rng(5)
    for first in range(0, patterns, 10**6):
        rows = file[first : first + 10**6]
        rows[:] = rng.standard_normal(rows.shape, np.float32)
    file.flush()
    source, states = Mapped(path), rng.standard_normal((queries, width), np.float32)
    memory = Memory(source, width**-0.5)

    def ours(state: jax.Array, run: Run) -> np.ndarray:
        return np.asarray(large.read(memory, state).output)

    def theirs(state: jax.Array, run: Run) -> np.ndarray:
        return _products(source, state)

    return Case(
        what="Softmax read-out of patterns in a memory-mapped file, against the two products of it alone.",
        shapes={"patterns": patterns, "dimensions": width, "queries": queries},
        draw=lambda number: jnp.asarray(np.roll(states, number, axis=0)),
        ours=Side("hopfield.large", ours),
        theirs=Side("products alone", theirs),
        check=finite,
    )


def _products(source: Mapped, state: jax.Array) -> np.ndarray:
    total = jnp.zeros_like(state)
    for _, part in source.parts(ROWS):
        total = total + _both(state, part.rows(0, part.shape[0]))
    return np.asarray(total)


@jax.jit
def _both(state, rows):
    block = min(2048, rows.shape[0])
    whole = rows.shape[0] // block * block
    absorb = lambda total, block: (total + (state @ block.T) @ block, None)
    total, _ = jax.lax.scan(absorb, jnp.zeros_like(state), rows[:whole].reshape(-1, block, rows.shape[1]))
    return total + (state @ rows[whole:].T) @ rows[whole:]


def finite(problems: list, ours: list[np.ndarray], theirs: list[np.ndarray]) -> dict[str, float]:
    """Raises BenchmarkError unless every component lies among the patterns. The products' results are no read-outs."""
    if not all(np.isfinite(x).all() for x in (*ours, *theirs)):
        raise BenchmarkError("results must be finite")
    largest = max(float(np.abs(x).max()) for x in ours)
    if not largest < 6:
        raise BenchmarkError(f"read-outs must lie among the patterns, got a component of {largest:.3g}")
    return {"largest component of a read-out": largest}
