"""Detection of queries that no stored pattern matches, by the weight that softmax₁ leaves over.

A memory with the separation softmax1 is asked with corrupted patterns of overlap m, or with random vectors. What is
left of the weight, 1/(1 + Σ e^(κ s)), is larger for these: the area under the ROC curve is the probability that a
random vector leaves more than a corrupted pattern. The two kinds of queries ask independent memories, for which theory
of the area, `hopfield.theory.novelty`, is exact. That of the weights left over is annealed, 1/(1 + ⟨Σ e^(κ s)⟩), and
lies below their means.
"""

from collections.abc import Iterator, Sequence

from experiments.contract import Cost, Point, Row
from experiments.novelty import measurement
from experiments.novelty.config import Config
from experiments.novelty.figure import panels
from experiments.novelty.summary import summarise
from experiments.shared import grids
from experiments.shared.axes import product_of

__all__ = ["X_AXIS", "Config", "cost", "measure", "panels", "points", "summarise"]
X_AXIS = "patterns"


def cost(config: Config) -> Cost:
    """Cost of all pairs of memories: M × D numbers each, compared with the queries at every κ and overlap."""
    each = len(config.kappas) * len(config.overlaps) * config.samples
    most, wide = max(config.patterns), max(config.neurons)
    draws = len(config.neurons) * len(config.patterns) * each
    return Cost(draws, 2 * most * wide, draws * 2 * most * wide * (10 + config.queries))


def points(config: Config) -> list[Point]:
    """One point per size, number of patterns, κ, overlap and pair of memories."""
    return product_of(
        neurons=config.neurons,
        patterns=config.patterns,
        kappa=config.kappas,
        overlap=config.overlaps,
        sample=range(config.samples),
    )


def measure(config: Config, wanted: Sequence[Point]) -> Iterator[Row]:
    """Rows of points. All κ and overlaps of a pair of memories are measured together."""
    together = len(config.kappas) * len(config.overlaps)
    grid = measurement.grid(
        lambda point: measurement.Program(point["neurons"], point["patterns"], config.queries, together)
    )
    yield from grids.rows(grid, config.seed, wanted)
