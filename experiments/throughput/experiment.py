"""Throughput of reading a memory: time and memory against patterns, neurons and queries, beside a matrix product.

    softmax     `large.read` of stored patterns, one pass                4 M N Q operations
    sparsemax   the same with a threshold to find, several passes        (4 + 2 passes) M N Q, counted as 4 M N Q
    counts      `counts.tally` of generated spins by overlap and bit     2 M Q (N + 1)²

Every point is compiled once and run several times, in alternation with a product of two square matrices, whose rate
is the machine's own. `temporary` is what the compiled program holds beside its inputs and outputs: the larger
of what the compiler reports and of what the process grows by.
"""

from collections.abc import Iterator, Sequence

from experiments import contract
from experiments.contract import Cost, Point, Row
from experiments.shared.notes import note
from experiments.throughput.config import AXES, Config
from experiments.throughput.figure import panels
from experiments.throughput.measurement import measure_point
from experiments.throughput.summary import summarise

__all__ = ["X_AXIS", "Config", "cost", "measure", "panels", "points", "summarise"]
X_AXIS = "patterns"


def cost(config: Config) -> Cost:
    """Cost of timing every task at each value of each axis: patterns × neurons × queries in every repetition."""
    parts = []
    for axis in AXES:
        for value in getattr(config, axis):
            num_patterns, neurons, queries = ({**config.at, axis: value}[name] for name in AXES)
            size, steps = max(num_patterns, queries) * neurons, num_patterns * neurons * queries * (config.repeats + 1)
            parts.append(Cost(len(config.tasks), size, len(config.tasks) * steps))
    return contract.total(parts)


def points(config: Config) -> list[Point]:
    """One point per task, axis and value on it."""
    grid = []
    for task in config.tasks:
        for axis in AXES:
            for value in sorted(getattr(config, axis)):
                point = {"task": task, "axis": axis, **config.at, axis: value}
                # Counts are kept for every query, overlap and bit: beyond some neurons a memory reads faster.
                if task == "counts" and point["queries"] * (point["neurons"] + 1) ** 2 > 2**23:
                    note(f"{axis} {value:g} of counts needs more counts than there is room for: left out")
                else:
                    grid.append(point)
    return grid


def measure(config: Config, wanted: Sequence[Point]) -> Iterator[Row]:
    """One point after the other: two at once would time each other."""
    for point in wanted:
        yield point | measure_point(config, point)
