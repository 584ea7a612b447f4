"""Basins of attraction: where a query ends that starts at a given overlap with a stored pattern.

A query of a network of spins is the pattern with exactly (1 − m)/2 of its spins flipped; elsewhere it is m · pattern
plus a random vector across, of the pattern's norm. It may end

    right     near its own pattern: at an overlap with it above `near`
    some      near any pattern, its own or another
    reversed  near no pattern but near the negative of one

and the initial overlap from which half of the queries end right is the critical one at that load. An overlap of 0.8
(`overlaps.retained`) tells random patterns of many spins apart. Of M = e^(αN) patterns on a sphere the nearest
to any state, retrieved or not, lies at √(1 − e^(−2α)), which is 0.8 at α = 0.51; and where basins are narrow, as
those of projection at high load, starts above 0.8 may rest there without being retrieved: `near` has to be well above.

Theory of the classical network is the statistical neurodynamics of Amari and Maginu. It follows the dynamics for a few
steps alone, so that its critical overlap is no prediction of theirs: 0.211 against 0.336(4) at N = 2000, M = 201.
With `max_steps=1` queries end after one update, and theory is that of one step, for N → ∞, or none.
"""

from collections.abc import Iterable, Iterator, Sequence
from functools import partial

from experiments import contract
from experiments.basins import measurement
from experiments.basins.config import Config, Scale
from experiments.basins.figure import panels
from experiments.basins.summary import summarise
from experiments.contract import Cost, Point, Row
from experiments.shared import draws, grids, loads, spellings
from hopfield.memories import find

__all__ = ["X_AXIS", "Config", "check", "cost", "measure", "panels", "points", "summarise"]

X_AXIS = "start_overlap"
PARITY = "odd"
"""Parity of the numbers of patterns where fields are integers, the same at all sizes: no ties keep a spin."""


def check(config: Config) -> None:
    """Check that memories and scales can be measured; else ValueError."""
    for memory, scale in _scales(config, (*config.per_memory, *config.memories)).items():
        _check_scale(memory, scale)


def _scales(config: Config, memories: Iterable[str]) -> dict[str, Scale]:
    """Scale of each memory by its name: its own numbers, or smoke scale."""
    return {memory: spellings.entry(config.per_memory, memory) or Scale() for memory in memories}


def _check_scale(memory: str, scale: Scale) -> None:
    blueprint = find(memory)
    if blueprint.draw is not None:
        raise ValueError(f"memories must be of unbiased patterns, got {memory}, which conf=capacity measures")
    for neurons in scale.neurons:
        most = blueprint.scaling.num_patterns(max(scale.loads), neurons)
        if most * neurons > 2**28:
            raise ValueError(f"loads must give {memory} of N={neurons} fewer than 2^28 / N patterns, got {most:.3g}")
    draws.check(memory, _dynamics(memory, scale), scale.beta)


def _dynamics(memory: str, scale: Scale) -> list[str]:
    if scale.dynamics:
        return scale.dynamics
    return ["asynchronous" if find(memory).ensemble == "spins" else "synchronous"]


def cost(config: Config) -> Cost:
    """Cost of all queries of every memory: its load, size, initial overlap and sample."""
    scales = _scales(config, config.memories)
    return contract.total(_memory_cost(*entry, len(config.overlaps)) for entry in scales.items())


def _memory_cost(memory: str, scale: Scale, overlaps: int) -> Cost:
    parts = []
    for neurons in scale.neurons:
        counts = [find(memory).rounded(load, neurons) for load in scale.loads]
        queries, most = len(_dynamics(memory, scale)) * scale.samples * overlaps * scale.queries, max(counts)
        size = max(neurons**2, neurons * most, scale.queries * most)
        points = queries // scale.queries * len(counts)
        parts.append(Cost(points, size, 20 * queries * sum(counts) * neurons + 20 * queries * neurons**2))
    return contract.total(parts)


def points(config: Config) -> list[Point]:
    """One point per memory, dynamics, size, load, initial overlap and sample."""
    grid = []
    for memory, scale in _scales(config, config.memories).items():
        blueprint = find(memory)
        beta = blueprint.beta if scale.beta is None else scale.beta
        for dynamics in _dynamics(memory, scale):
            for neurons in scale.neurons:
                number = partial(blueprint.rounded, neurons=neurons, parity=PARITY)
                for num_patterns in loads.counts(scale.loads, number, f"{memory} at N={neurons}"):
                    shared = {"memory": memory, "dynamics": dynamics, "neurons": neurons, "patterns": num_patterns}
                    shared |= {"beta": beta, "near": scale.near, "max_steps": scale.max_steps}
                    shared |= {"queries": _queries_per_draw(scale, num_patterns)}
                    grid += [
                        shared | {"initial_overlap": overlap, "sample": sample}
                        for overlap in sorted(config.overlaps)
                        for sample in range(scale.samples)
                    ]
    return grid


def _queries_per_draw(scale: Scale, num_patterns: int) -> int:
    """Number of patterns that are queried in one draw."""
    return min(scale.queries, num_patterns)


def measure(config: Config, wanted: Sequence[Point]) -> Iterator[Row]:
    """Rows of points. All initial overlaps of a draw of patterns are measured together."""
    scales = _scales(config, config.memories)
    grid = measurement.grid(lambda point: _program(config, scales[point["memory"]], point))
    for row in grids.rows(grid, config.seed, wanted, known_columns=_load):
        yield row | {"start_overlap": round(row["start_overlap"], 6)}  # one place for queries of one overlap


def _load(point: Point) -> dict[str, float]:
    return {"load": find(point["memory"]).scaling.load(point["patterns"], point["neurons"])}


def _program(config: Config, scale: Scale, point: Point) -> measurement.Program:
    largest = find(point["memory"]).rounded(max(scale.loads), point["neurons"], PARITY)
    padding = draws.rows_to_draw(point["patterns"], largest, point["neurons"])
    return measurement.Program(
        memory=point["memory"],
        dynamics=point["dynamics"],
        neurons=point["neurons"],
        padding=padding,
        queries=_queries_per_draw(scale, padding),
        overlaps=len(config.overlaps),
        max_steps=point["max_steps"],
    )
