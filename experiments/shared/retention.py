"""Retention: all patterns of a draw are stored and some queried; the compiled measurement behind capacity curves."""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from experiments.shared import draws, pattern_sets
from hopfield import Memory, retrieve
from hopfield.dynamics import CYCLE
from hopfield.memories import find
from hopfield.observables.overlaps import bit_error, cosine_overlap, exact, overlap, retained
from hopfield.patterns import corrupt
from hopfield.spaces import Spins

CUTS = {"retained": 0.8, "retained_0.7": 0.7, "retained_0.9": 0.9}
"""Final overlaps above which a pattern counts as retained, by the column of the table; 0.8 is the usual one."""
COUNTS = (*CUTS, "exact", "cycles", "fixed_point")
WEIGHTS = ("target_weight", "converged_weight")
EXACT = 0.01
"""Relative distance within which a real state counts as the pattern; spins must all be right."""


class Program(NamedTuple):
    """What a compiled measurement depends on; everything else is traced."""

    memory: str
    dynamics: str
    neurons: int
    padding: int
    probes: int
    corruption: str
    source: str
    clamp: bool
    max_steps: int
    has_beta: bool

    @property
    def cost(self) -> float:
        """Rough multiplications of one sample: drawing patterns, a coupling matrix, a few updates of every probe."""
        coupling = self.neurons if self.dynamics == "asynchronous" else 0
        return self.padding * self.neurons * (20 + coupling + 10 * self.probes)


def run(program: Program, seed: int, beta: float | None, patterns, samples, amounts) -> dict[str, list]:
    """Counts and means of a chunk of disorder samples, one list per column of the table.

    Args:
        program: what is compiled.
        seed: seed of all randomness; a sample depends on it, on N, M and its own number, and on nothing else.
        beta: inverse temperature, for memories that have one and are not to take their own.
        patterns, samples, amounts: patterns stored, number and corruption of every sample [S].
    """
    data = None
    if program.source != pattern_sets.RANDOM:
        data = pattern_sets.load(program.source, find(program.memory).ensemble == "spins")
    if program.corruption != "noise":  # whole neurons, counted before single precision could round 28.5 up to 29
        amounts = np.round(np.asarray(amounts) * program.neurons) / program.neurons
    columns = (np.asarray(patterns, np.uint32), np.asarray(samples, np.uint32), np.asarray(amounts, np.float32))
    result = _compiled(program)(np.uint32(seed), np.float32(beta or 1.0), data, *columns)
    return {name: values.tolist() for name, values in jax.device_get(result).items()}


@lru_cache(maxsize=256)
def _compiled(program: Program) -> Callable:
    def measured(seed, beta, data, *columns):
        return jax.lax.map(lambda column: _sample(program, seed, beta, data, *column), columns)

    return jax.jit(measured)


def _sample(program: Program, seed, beta, data, patterns, sample, amount) -> dict:
    """Store one draw of patterns, query some of them, and count."""
    pattern_key, probe_key = draws.keys(seed, program.neurons, patterns, sample)
    blueprint = find(program.memory)
    stored = pattern_sets.draw(blueprint.ensemble, pattern_key, program.padding, program.neurons, data)
    options = {"beta": beta} if program.has_beta else {}
    memory = blueprint.build(stored, mask=jnp.arange(program.padding) < patterns, **options)
    model, weigh = draws.network(memory), memory.shares if isinstance(memory, Memory) else None
    index, keys = draws.numbered(probe_key, program.probes)
    probe = lambda i, key: _probe(program, model, weigh, stored[i], i, key, amount)  # noqa: E731
    outcome = jax.vmap(probe)(index, keys)
    valid = index < patterns
    count = {name: jnp.sum(valid & outcome[name]) for name in COUNTS}
    share = 1.0 / jnp.sum(valid)
    averaged = ("overlap", "one_step_error", "steps")
    mean = {name: share * jnp.sum(jnp.where(valid, outcome[name], 0)) for name in averaged}
    kept = valid & outcome["retained"]
    mean["overlap_retained"] = jnp.sum(jnp.where(kept, outcome["overlap"], 0.0)) / jnp.sum(kept)
    heavy = {name: jnp.sum(valid & outcome[name]) if weigh else jnp.nan for name in WEIGHTS}
    return count | heavy | mean


def _probe(program: Program, model, weigh, target, index, key, amount) -> dict:
    """Query one stored pattern from its corrupted self."""
    spins = isinstance(model.space, Spins)
    start, known = target, None
    corrupt_key, order_key = jax.random.split(key)
    if program.corruption != "none":
        start, untouched = corrupt(corrupt_key, target, program.corruption, amount, fill="random" if spins else 0.0)
        start = jnp.where(start < 0, -1.0, 1.0) if spins else start
        known = untouched if program.clamp else None
    tolerance = 0.0 if spins else EXACT
    first = model.update(start, known)
    clean = first if program.corruption == "none" else model.update(target)
    end = retrieve(model, start, dynamics=program.dynamics, key=order_key, max_steps=program.max_steps, known=known)
    return {
        "fixed_point": exact(clean, target, tolerance),
        "one_step_error": bit_error(first, target) if spins else 0.5 * (1.0 - cosine_overlap(first, target)),
        "target_weight": weigh(start)[index] > 0.5 if weigh else False,
        "converged_weight": weigh(end.state)[index] > 0.5 if weigh else False,
        "overlap": overlap(end.state, target),
        **{name: retained(end.state, target, cut) for name, cut in CUTS.items()},
        "exact": exact(end.state, target, tolerance),
        "steps": end.steps,
        "cycles": end.status == CYCLE,
    }
