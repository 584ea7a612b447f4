"""Retrieval step by step: stored digits, corrupted starts, and the final state of each memory.

Every memory holds the same digits and gets the same corrupted ones. A step is one update; of a memory on spins it is
one sweep over all neurons, one at a time in random order, along which the energy never rises. Rows by `part`:

    story   the state of one step with its energy, the weights of the patterns in its next field, |w| / Σ|w|, their
            entropy in nats, the overlap with the pattern the start was made from, the largest other overlap and the
            length of the step that follows, both in units of a pattern's length
    stored  the patterns, as spins and as real vectors of the same length √N
    plane   where the modern memory is told of, its retrievals with two digits alone, in the plane that both span

A start is retrieved if it ends at an overlap of at least 0.95 with its own digit. Other ends are named: another digit,
a mixture, which is sign(±ξ_a ± ξ_b ± ξ_c) on spins and several patterns with weight on real states, or spurious.
States and weights are base64 of half-precision numbers.
"""

from collections.abc import Iterator, Sequence
from itertools import product

from experiments.contract import Cost, Point, Row
from experiments.retrieval_story import measurement
from experiments.retrieval_story.config import MODERN, SIDE, Config
from experiments.retrieval_story.figure import frames, panels
from experiments.retrieval_story.states import PLANE, STORED, STORY
from experiments.retrieval_story.summary import summarise
from experiments.shared import corruptions
from hopfield import Memory
from hopfield.memories import find

__all__ = ["X_AXIS", "Config", "check", "cost", "frames", "measure", "panels", "points", "summarise"]
X_AXIS = "step"
KEYS = ("part", "memory", "beta", "target", "corruption", "step")


def points(config: Config) -> list[Point]:
    """One point per stored digit and kind, then per step of every story, then per step in the plane."""
    kinds = dict.fromkeys(find(memory).ensemble for memory in config.memories)
    keys: list[tuple] = [
        (STORED, kind, None, number, corruptions.CLEAN, 0) for kind in kinds for number in range(config.patterns)
    ]
    steps = range(config.steps + 1)
    for memory in config.memories:
        betas = config.betas if find(memory).takes_beta else [None]
        starts = map(corruptions.name, config.corruption)
        keys += [(STORY, memory, *rest) for rest in product(betas, config.targets, starts, steps)]
    pair = ",".join(map(str, config.plane))
    starts = range(config.starts if MODERN in config.memories else 0)
    keys += [(PLANE, MODERN, *rest) for rest in product(config.betas, starts, [pair], steps)]
    return [dict(zip(KEYS, values, strict=True)) for values in keys]


def has_beta(config: Config) -> bool:
    """Whether a memory that is shown has an inverse temperature."""
    return any(find(memory).takes_beta for memory in config.memories)


def check(config: Config) -> None:
    """Check that every memory weighs its patterns; else ValueError."""
    for memory in config.memories:
        if not isinstance(find(memory).sample, Memory):
            raise ValueError(f"memories must weigh their patterns, got {memory}, which is one matrix")


def cost(config: Config) -> Cost:
    """Cost of all states that are shown: each step of every story and of the retrievals in the plane."""
    stories = len(config.memories) * len(config.betas) * len(config.targets) * len(config.corruption)
    courses = stories + len(config.betas) * config.starts * (MODERN in config.memories)
    rows = courses * (config.steps + 1) + 2 * config.patterns
    return Cost(rows, config.patterns * SIDE**2, 4 * rows * config.patterns * SIDE**4)


def measure(config: Config, wanted: Sequence[Point]) -> Iterator[Row]:
    """Rows of points. All steps of a retrieval are measured together."""
    yield from measurement.rows(config.seed, config.patterns, wanted)
