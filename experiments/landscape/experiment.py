"""Landscape: what random starts end in, by memory, number of patterns and temperature.

On spins a random state makes heat-bath sweeps at T, if any, and descends asynchronously; its end is

    pattern, reversed   overlap with one pattern above 0.9, or below −0.9
    mixture             overlap above 0.9 with the sign of the sum of three patterns, each with a sign
    asymmetric          above 0.9 with the sign of the sum of the five patterns of largest overlap, weighted by them
    glassy              anything else

In a continuous memory a point between three patterns follows the updates, and kinds go by weights. `energy` is per
neuron; `stability` the smallest x_i h_i, or the smallest eigenvalue of the Hessian; `gradient` the slope; `settled`
whether the end is a fixed point, certified for continuous ones by a slope below 1e-8 and a Hessian above 0; ends of one
`mark` and draw are the same state, in a continuous memory ends of one energy too.
"""

from collections.abc import Iterator, Sequence
from itertools import groupby, product

from experiments import contract
from experiments.contract import Cost, Point, Row
from experiments.landscape import continuous, spins
from experiments.landscape.config import CONTINUOUS, Config
from experiments.landscape.results import panels, summarise
from experiments.shared import grids
from experiments.shared.notes import note

__all__ = ["X_AXIS", "Config", "check", "cost", "measure", "panels", "points", "summarise"]

X_AXIS = "patterns"
DRAW = ("memory", "neurons", "patterns", "temperature", "sample")


def check(config: Config) -> None:
    """Check that continuous memories have a temperature above 0; else ValueError."""
    if set(config.memories) & set(CONTINUOUS) and not any(config.temperatures):
        raise ValueError("temperatures must hold one above 0 for modern and epanechnikov, got none")


def points(config: Config) -> list[Point]:
    """One point per memory, size, number of patterns, temperature, sample and start."""
    grid = []
    lists = (config.memories, config.neurons, config.patterns, config.temperatures)
    for memory, neurons, num_patterns, temperature in product(*lists):
        if memory in CONTINUOUS and temperature == 0:
            note(f"temperature 0 of {memory} has no landscape, as it stands for 1/β or the radius: left out")
            continue
        point = {"memory": memory, "neurons": neurons, "patterns": num_patterns, "temperature": temperature}
        for sample, start in product(range(config.samples), range(config.starts)):
            grid.append(point | {"sample": sample, "start": start})
    return grid


def cost(config: Config) -> Cost:
    """Cost of all starts, each with heat-bath sweeps and a descent, at every temperature."""
    parts = []
    for memory, neurons, num_patterns in product(config.memories, config.neurons, config.patterns):
        warm = len(config.temperatures) * config.samples
        each = spins.Program(memory, neurons, num_patterns, config.starts, config.sweeps, warm=True).cost
        parts.append(Cost(warm * config.starts, num_patterns * neurons + neurons**2, warm * each))
    return contract.total(parts)


def measure(config: Config, wanted: Sequence[Point]) -> Iterator[Row]:
    """Rows of points. Memories on spins are compiled; continuous ones are measured one by one in double precision."""
    ours = [point for point in wanted if point["memory"] not in CONTINUOUS]
    yield from grids.rows(spins.grid(config.starts, config.sweeps), config.seed, ours)
    others = [point for point in wanted if point["memory"] in CONTINUOUS]
    for key, group in groupby(others, lambda point: tuple(point[name] for name in DRAW)):
        draw = dict(zip(DRAW, key, strict=True))
        yield from continuous.rows(config.seed, draw, [point["start"] for point in group])
