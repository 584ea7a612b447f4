"""Storing a draw of patterns and querying some of them at many β: the compiled measurement behind retrieval curves."""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from experiments.shared import draws, pattern_sets
from hopfield import retrieve
from hopfield.dynamics import CYCLE, STEP_LIMIT
from hopfield.memories import find
from hopfield.observables.weights import entropy
from hopfield.patterns import corrupt

ENSEMBLES = ("sphere", "gaussian", "spins")
"""Random ensembles; any other name is a source of real patterns."""
CURVE = ["memory", "ensemble", "neurons", "patterns", "corruption"]
"""Columns that tell one curve against β from another."""
STILL = 1e-5
"""Step relative to a state's norm at which it has come to rest: ten times what single precision can tell."""
STATE = ("target_weight", "overlap", "entropy")
"""What describes the state where a query ends."""


class Program(NamedTuple):
    """What a compiled measurement depends on; everything else is traced."""

    memory: str
    ensemble: str
    neurons: int
    padding: int
    masked: bool
    probes: int
    corruption: str
    max_steps: int
    betas: int
    """How many β one draw of patterns is queried at."""

    @property
    def cost(self) -> float:
        """Rough multiplications of one draw: two products with the patterns in each of some forty updates."""
        return self.betas * self.probes * self.padding * self.neurons * 80


def data(ensemble: str, spins: bool):
    """Real patterns [rows, N] of norm √N, as spins or not; None for a random ensemble."""
    return None if ensemble in (*ENSEMBLES, pattern_sets.GENERATED) else pattern_sets.load(ensemble, spins)


def on_spins(memory: str) -> bool:
    """Whether a memory's states are spins."""
    return find(memory).ensemble == "spins"


def run(program: Program, seed: int, patterns, samples, amounts, betas) -> dict[str, list]:
    """Counts and means over the queries of a chunk of draws, for every column of the table a list [S][B].

    Args:
        program: what is compiled.
        seed: seed of all randomness; a draw depends on it, on N, M and its own number, and on nothing else.
        patterns, samples, amounts: patterns stored, number and corruption of every draw [S].
        betas: κ = β times the squared norm of the patterns [S, B]; without effect where the memory has no β.
    """
    real = data(program.ensemble, on_spins(program.memory))
    columns = (np.asarray(patterns, np.uint32), np.asarray(samples, np.uint32), np.asarray(amounts, np.float32))
    result = _compiled(program)(np.uint32(seed), real, *columns, np.asarray(betas, np.float32))
    return {name: values.tolist() for name, values in jax.device_get(result).items()}


@lru_cache(maxsize=256)
def _compiled(program: Program) -> Callable:
    def measured(seed, real, *columns):
        return jax.lax.map(lambda column: _draw(program, seed, real, *column), columns)

    return jax.jit(measured)


def _draw(program: Program, seed, real, patterns, sample, amount, betas) -> dict:
    """Store one draw of patterns and query some of them, at one β after the other."""
    pattern_key, query_key = draws.keys(seed, program.neurons, patterns, sample)
    stored = pattern_sets.draw(program.ensemble, pattern_key, program.padding, program.neurons, real)
    mask = jnp.arange(program.padding) < patterns if program.masked else None
    index, keys = draws.numbered(query_key, program.probes)
    start = jax.vmap(lambda key, target: _start(program, key, target, amount))(keys, stored[: program.probes])

    def at(beta):
        memory, scale = _memory(program, stored, mask, beta)
        query = lambda i, start: _query(program, memory, i, scale * start)  # noqa: E731
        return _totals(jax.vmap(query)(index, start), index < patterns)

    return jax.lax.map(at, betas)


def _memory(program: Program, stored, mask, kappa):
    """The memory with patterns of unit norm, or of spins with β for their norm √N, and the scale of its states."""
    blueprint = find(program.memory)
    if on_spins(program.memory):
        options = {"beta": kappa / program.neurons} if blueprint.takes_beta else {}
        return blueprint.build(stored, mask=mask, **options), 1.0
    scale = program.neurons**-0.5
    return blueprint.build(scale * stored, mask=mask, beta=kappa), scale


def _start(program: Program, key, target, amount):
    """The pattern, or its corrupted self."""
    if program.corruption == "none":
        return target
    if not on_spins(program.memory):
        return corrupt(key, target, program.corruption, amount).state
    return jnp.where(corrupt(key, target, program.corruption, amount, fill="random").state < 0, -1.0, 1.0)


def _query(program: Program, memory, index, start) -> dict:
    """One query: what a single step from the start does, and everything where the updates end."""
    target = memory.patterns[index]
    along = lambda state: jnp.dot(state, target) / jnp.dot(target, target)  # noqa: E731
    end = retrieve(memory, start, max_steps=program.max_steps, rtol=STILL)
    weights = memory.shares(end.state)
    return {
        "one_step_weight": memory.shares(start)[index],
        "one_step_overlap": along(memory.update(start)),
        "success": weights[index] > 0.5,
        "target_weight": weights[index],
        "overlap": along(end.state),
        "entropy": entropy(weights),
        "steps": end.steps,
        "step_limit": end.status == STEP_LIMIT,
        "cycles": end.status == CYCLE,
    }


def _totals(outcome: dict, valid) -> dict:
    """Counts of what is true of a query, means of what is a number, and means over those that succeed."""

    def mean(name, used):
        return jnp.sum(jnp.where(used, outcome[name], 0)) / jnp.sum(used)

    kept = valid & outcome["success"]
    totals = {name: jnp.sum(valid & outcome[name]) for name in ("success", "step_limit", "cycles")}
    averaged = ("one_step_weight", "one_step_overlap", *STATE, "steps")
    totals |= {name: mean(name, valid) for name in averaged}
    return totals | {f"{name}_kept": mean(name, kept) for name in STATE}
