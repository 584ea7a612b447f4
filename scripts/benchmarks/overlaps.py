"""Softmax read-out of random spins at several β: a memory of drawn patterns, and plain numpy."""

from pathlib import Path

import jax
import numpy as np

from hopfield import Memory
from hopfield.patterns.sources import Generated

from . import BenchmarkError, Case, Run, Side

BETAS = (0.1, 0.3, 1.0)
ROWS = 2**16


def case(size: str, workspace: Path) -> Case:
    """Weights and read-outs of every query at three β, patterns drawn on the way on both sides."""
    del workspace
    patterns, neurons, queries = {"small": (3000, 16, 4), "published": (1_000_000, 32, 64)}[size]

    def draw(number: int) -> tuple[Generated, np.ndarray]:
        source = Generated(jax.random.key(number), "spins", patterns, neurons)
        return source, np.asarray(source.part(0, queries).rows(0, queries), np.float32)

    return Case(
        what="Softmax read-out of random spins at three β, drawn on the way.",
        shapes={"patterns": patterns, "neurons": neurons, "queries": queries},
        draw=draw,
        ours=Side("Memory of generated patterns", ours),
        theirs=Side("numpy, block by block", theirs),
        check=check_own_patterns,
    )


def ours(problem: tuple[Generated, np.ndarray], run: Run) -> list[np.ndarray]:
    source, queries = problem
    return list(np.asarray(_reads(Memory(source), queries, np.asarray(BETAS, np.float32))))


@jax.jit
def _reads(memory: Memory, queries: jax.Array, betas: jax.Array) -> jax.Array:
    """Read-outs at every β. Blocks of patterns are drawn once for all of them."""
    return jax.vmap(lambda beta: jax.vmap(memory.replace(beta=beta).read)(queries))(betas)


def theirs(problem: tuple[Generated, np.ndarray], run: Run) -> list[np.ndarray]:
    """numpy draws its own patterns after the first queries, which are patterns of ours: it need not unpack bits."""
    source, queries = problem
    patterns, neurons = source.shape
    rng = np.random.default_rng(0)
    moment = [np.zeros(queries.shape) for _ in BETAS]
    mass = [np.zeros((len(queries), 1)) for _ in BETAS]
    for first in range(0, patterns, ROWS):
        size = min(ROWS, patterns - first)
        rows = rng.integers(0, 2, (size, neurons), np.int8).astype(np.float32) * 2 - 1
        if first == 0:
            rows[: len(queries)] = queries
        scores = queries @ rows.T - neurons
        for i, beta in enumerate(BETAS):
            weights = np.exp(np.float32(beta) * scores)
            mass[i] += weights.sum(1, keepdims=True)
            moment[i] += weights @ rows
    return [m / z for m, z in zip(moment, mass, strict=True)]


def check_own_patterns(problems: list, ours: list, theirs: list) -> dict[str, float]:
    """Other random patterns on either side: at the largest β a read-out is the query's own pattern for both."""
    off = 0.0
    for (_, queries), a, b in zip(problems, ours, theirs, strict=True):
        off = max(off, float(np.mean(np.sign(a[-1]) != queries)), float(np.mean(np.sign(b[-1]) != queries)))
    if off > 0.01:
        raise BenchmarkError(f"read-outs at the largest beta must be the patterns asked for, got {off:.3g} wrong spins")
    return {"share of wrong spins at the largest beta": off}
