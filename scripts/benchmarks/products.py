"""Exact softmax read-out, block by block, compared with the machine's rate for a matrix product of the same size."""

from pathlib import Path

import jax
import numpy as np

from . import BenchmarkError, Case, Run, Side
from .blockwise import Problem, _blockwise, comparison


def case(size: str, workspace: Path) -> Case:
    """4 T S D operations of the read-out against 2 n³ of a product of square matrices, n³ = 2 T S D."""
    del workspace
    read = comparison(size, "", None)
    queries, patterns, width = read.shapes.values()
    side = round((2 * queries * patterns * width) ** (1 / 3))
    square = jax.random.normal(jax.random.key(0), (side, side))

    def ours(problem: Problem, run: Run) -> float:
        return float(np.asarray(_blockwise(*problem.on_device)).mean())

    def theirs(problem: Problem, run: Run) -> float:
        return float(np.asarray(_product(square)).mean())

    return Case(
        what=f"Exact softmax read-out against one product of {side} × {side} matrices, as many operations.",
        shapes=read.shapes,
        draw=read.draw,
        ours=Side("hopfield, block-wise", ours),
        theirs=Side("matrix product", theirs),
        check=finite,
    )


_product = jax.jit(lambda x: x @ x)


def finite(problems: list, ours: list[float], theirs: list[float]) -> dict[str, float]:
    """Raises BenchmarkError unless both sides are finite. Their results are not comparable."""
    if not np.all(np.isfinite([*ours, *theirs])):
        raise BenchmarkError("results must be finite")
    return {}
