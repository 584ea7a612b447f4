"""Retrievals of stored patterns at many κ = β‖ξ‖²: the compiled measurement behind retrieval curves."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import NamedTuple, TypeVar, cast

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from experiments.contract import Point, Row
from experiments.shared import corruptions, draws, grids, pattern_sets
from experiments.shared.grids import Data, Draw, Each, Grid, Measured
from hopfield import Memory, retrieve
from hopfield.dynamics import CYCLE, STEP_LIMIT
from hopfield.memories import find
from hopfield.observables.overlaps import above
from hopfield.observables.thermodynamics import entropy

Kappa = TypeVar("Kappa", float, Array)
CURVE = ["memory", "ensemble", "neurons", "patterns", "corruption"]
"""Columns that tell one curve against κ from another."""
STILL = 1e-5
"""Step relative to a state's norm at which it has come to rest: ten times what single precision can tell."""
STATE = ("target_weight", "overlap", "entropy")
"""Columns that describe the state where a query ends."""
COUNTS = ("success", "step_limit", "cycles")
MEANS = ("start_weight", "first_weight", "one_step_overlap", *STATE, "steps")
KEPT = {f"{name}_kept": name for name in STATE}
"""Columns of means over the queries that succeed, with the outcome that is averaged."""
CALL_COST = 2e9
"""Multiplications one call to the device should cost: about a second, so that a kill loses little."""


class Program(NamedTuple):
    """Structure of a compiled measurement: the values that select its program. All others are traced."""

    memory: str
    ensemble: str
    neurons: int
    padding: int
    masked: bool
    queries: int
    corruption: str
    max_steps: int
    kappas: int
    """How many κ one draw of patterns is queried at."""

    @property
    def cost(self) -> float:
        """Rough multiplications of one draw: two products with the patterns in each of some forty updates."""
        return self.kappas * self.queries * self.padding * self.neurons * 80


def data(ensemble: str, spins: bool, load: Callable = pattern_sets.load) -> Data:
    """Real patterns [rows, N] of norm √N, as spins or not. None for a random ensemble."""
    return None if ensemble in (*pattern_sets.UNIT_NORM, pattern_sets.GENERATED) else load(ensemble, spins)


def on_spins(memory: str) -> bool:
    """True if a memory's states are spins."""
    return find(memory).ensemble == "spins"


def beta(memory: str, kappa: Kappa, neurons: int) -> Kappa | None:
    """β of κ = β‖ξ‖²: κ itself for patterns of norm 1, κ/N for spins of norm √N, None for a memory without one."""
    if not find(memory).takes_beta:
        return None
    return kappa / neurons if on_spins(memory) else kappa


def rows(seed: int, points: Sequence[Point], program: Callable[[Point], Program]) -> Iterator[Row]:
    """One row per point: counts and means over the queries of one draw of patterns at one κ = β‖ξ‖².

    Args:
        seed: seed of all randomness; a draw depends on it, on N, M and its own number, and on nothing else.
        points: memory, ensemble, neurons, patterns, sample, corruption and κ (null where a memory has none) of each.
        program: what is compiled for a point.
    """
    draw = {**draws.TRACED, "amount": (np.float32, _amount)}
    each = {"kappa": (np.float32, lambda point: point["kappa"] or 1.0)}  # of no effect where a memory has none
    grid = Grid(program, one, draw, each, lambda program: program.kappas, call_cost=CALL_COST)
    patterns = lambda program: data(program.ensemble, on_spins(program.memory), pattern_sets.load_to_measure)
    return grids.rows(grid, seed, points, patterns)


def _amount(point: Point) -> float:
    return corruptions.parts(point["corruption"])[1]


def one(program: Program, seed: Array, data: Data, draw: Draw, each: Each) -> Measured:
    """Columns [T] of one draw of patterns, at one κ after the other: counts and means over its queries."""
    pattern_key, query_key = draws.keys(seed, program.neurons, draw["num_patterns"], draw["sample"])
    stored = draws.patterns(program.ensemble, pattern_key, program.padding, program.neurons, data)
    mask = draws.in_use(program, draw) if program.masked else None
    index, keys = draws.numbers_and_keys(query_key, program.queries)
    corrupted = partial(draws.corrupted, kind=program.corruption, amount=draw["amount"], spins=on_spins(program.memory))
    start = jax.vmap(corrupted)(keys, stored[: program.queries]).state

    def totals_at(kappa: Array) -> Measured:
        memory, scale = _memory(program, stored, mask, kappa)
        query = lambda i, start: _query(program, memory, i, scale * start)
        return _totals(jax.vmap(query)(index, start), index < draw["num_patterns"])

    return jax.lax.map(totals_at, each["kappa"])


def _memory(program: Program, stored: Array, mask: Array | None, kappa: Array) -> tuple[Memory, float]:
    """The memory with patterns of spins, or of unit norm, and the scale of its states."""
    scale = 1.0 if on_spins(program.memory) else program.neurons**-0.5
    inverse_temperature = beta(program.memory, kappa, program.neurons)
    memory = find(program.memory).build(scale * stored, mask=mask, beta=inverse_temperature)
    return cast(Memory, memory), scale


def _query(program: Program, memory: Memory, index: Array, start: Array) -> dict[str, Array]:
    """Columns of one query: weights at the start and after one update, the overlap there, and all where updates end."""
    target = cast(Array, memory.patterns)[index]
    along = lambda state: jnp.dot(state, target) / jnp.dot(target, target)
    first, end = memory.update(start), retrieve(memory, start, max_steps=program.max_steps, rtol=STILL)
    weights = memory.shares(end.state)
    return {
        "start_weight": memory.shares(start)[index],
        "first_weight": memory.shares(first)[index],
        "one_step_overlap": along(first),
        "success": above(weights[index], 0.5),
        "target_weight": weights[index],
        "overlap": along(end.state),
        "entropy": entropy(weights),
        "steps": end.steps,
        "step_limit": end.status == STEP_LIMIT,
        "cycles": end.status == CYCLE,
    }


def _totals(outcome: dict, valid: Array) -> Measured:
    """Totals of the valid queries: counts of flags, means of numbers, and means over the successful queries."""

    def mean(name: str, used: Array) -> Array:
        return jnp.sum(jnp.where(used, outcome[name], 0)) / jnp.sum(used)

    kept = valid & outcome["success"]
    totals = {name: jnp.sum(valid & outcome[name]) for name in COUNTS}
    totals |= {name: mean(name, valid) for name in MEANS}
    return totals | {column: mean(name, kept) for column, name in KEPT.items()}
