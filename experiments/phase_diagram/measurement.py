"""Regimes of a memory at some temperature when it starts at its patterns: the measurement behind phase diagrams.

A memory is started at its stored patterns, and each start ends in one of four kinds of state. How its dynamics run
and what holds their end is its diagram's.
"""

from collections.abc import Callable, Mapping, Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from experiments.contract import Point
from experiments.phase_diagram import diagrams
from experiments.phase_diagram.diagrams import REGIMES, Program
from experiments.shared import draws
from experiments.shared.grids import Data, Draw, Each, Grid, Measured
from hopfield.memories import find

CALL_COST = 2e10
"""Multiplications one call to the device should cost: about a second, so that a kill loses little."""


def majority(rows: Sequence[Mapping]) -> str:
    """The regime in which most of the queries of these rows end."""
    return max(REGIMES, key=lambda regime: sum(row[regime] for row in rows))


def grid(program: Callable[[Point], Program]) -> Grid:
    """The grid of draws, each at several temperatures. A draw depends on the seed, N, M and its number alone.

    All calls are whole, so that one program serves all levels of refinement.
    """
    each = {"temperature": np.float32}
    return Grid(
        program, one, draws.TRACED, each, lambda program: program.temperatures, most=8, call_cost=CALL_COST, whole=True
    )


def one(program: Program, seed: Array, data: Data, draw: Draw, each: Each) -> Measured:
    """Columns [T] of one draw of patterns, by temperature: regimes in which the starts at patterns end.

    All temperatures share the draw's random numbers: differences between temperatures are less noisy than the values.
    """
    pattern_key, chain_key = draws.keys(seed, program.neurons, draw["num_patterns"], draw["sample"])
    blueprint = find(program.memory)
    stored = draws.patterns(blueprint.ensemble, pattern_key, program.padding, program.neurons)
    used = draws.in_use(program, draw)
    query = diagrams.of_memory(program.memory).query(program, blueprint.build, stored, used, chain_key)
    index = jnp.arange(program.queries)
    ends = jax.vmap(lambda temperature: jax.vmap(lambda i: query(i, temperature))(index))(each["temperature"])
    valid = jnp.broadcast_to(index < draw["num_patterns"], ends["overlap"].shape)
    ended = ends.pop("kind")
    counts = {name: jnp.sum(valid & (ended == number), axis=1) for number, name in enumerate(REGIMES)}
    counts["step_limit"] = jnp.sum(valid & ends.pop("step_limit"), axis=1)
    means = {name: jnp.sum(jnp.where(valid, ends[name], 0.0), axis=1) / jnp.sum(valid, axis=1) for name in ends}
    return counts | means
