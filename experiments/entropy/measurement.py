"""Retrievals step by step: the compiled measurement behind the entropy experiment, in double precision."""

from collections.abc import Callable
from functools import lru_cache
from typing import NamedTuple, cast

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from experiments.shared import draws, pattern_sets, retrievals
from hopfield import Memory
from hopfield.dynamics import trajectory
from hopfield.memories import find
from hopfield.observables import thermodynamics
from hopfield.patterns import corrupt

STATE = (
    "entropy",
    "effective_number",
    "thermal_entropy",
    "mean_energy",
    "free_energy",
    "energy",
    "overlap",
    "target_weight",
)
"""Columns that describe a state; all but the overlap are about its weights."""
TEMPERATURE_STEP = 1e-4
"""Relative step of the central difference dΦ/dT: errors of 1e-8 from its width, of 1e-12 from rounding."""


class Draw(NamedTuple):
    """Stored patterns and starts of queries. Everything else about them follows from the seed."""

    ensemble: str
    neurons: int
    num_patterns: int
    corruption: str
    samples: int
    queries: int


def follow(draw: Draw, seed: int, amount: float, memory: str, beta: float, steps: int) -> dict[str, np.ndarray]:
    """Every quantity of STATE at every step of every retrieval, arrays [samples, queries, steps + 1], and

        step_size  ‖x(t+1) − x(t)‖
        largest_weight  of any pattern
        residual   Φ − (⟨E⟩ − T Ω(p)), zero up to rounding
        slope      −dΦ/dT at the start, by finite differences [samples, queries]

    Args:
        draw: a sample depends on the seed, on N, M and its own number, and on nothing else.
        seed: seed of all randomness.
        amount: how much of the draw's kind of corruption.
        memory: name of a memory with normalised weights on real states.
        beta: inverse temperature; patterns have norm 1 (Gaussian ones in the mean square).
        steps: updates to follow.
    """
    real = retrievals.data(draw.ensemble, False, pattern_sets.load_to_measure)
    with jax.enable_x64(True):
        real = None if real is None else np.asarray(real, np.float64)
        stored, starts = _draw_program(draw)(np.uint32(seed), real, np.float64(amount))
        return jax.device_get(_retrieval_program(memory, steps)(stored, starts, np.float64(beta)))


@lru_cache(maxsize=64)
def _draw_program(draw: Draw) -> Callable:
    def draw_sample(seed: Array, real: Array | None, amount: Array, sample: Array) -> tuple[Array, Array]:
        pattern_key, query_key = draws.keys(seed, draw.neurons, draw.num_patterns, sample)
        stored = draws.patterns(draw.ensemble, pattern_key, draw.num_patterns, draw.neurons, real)
        _, keys = draws.numbers_and_keys(query_key, draw.queries)
        starts = jax.vmap(lambda key, target: corrupt(key, target, draw.corruption, amount).state)(
            keys, stored[: draw.queries]
        )
        return stored / draw.neurons**0.5, starts / draw.neurons**0.5

    def all_samples(seed: Array, real: Array | None, amount: Array) -> tuple[Array, Array]:
        return jax.lax.map(
            lambda sample: draw_sample(seed, real, amount, sample), jnp.arange(draw.samples, dtype=jnp.uint32)
        )

    return jax.jit(all_samples)


@lru_cache(maxsize=64)
def _retrieval_program(memory: str, steps: int) -> Callable:
    def sample(stored: Array, starts: Array, beta: Array) -> dict[str, Array]:
        model = cast(Memory, find(memory).build(stored, beta=beta))
        query = lambda i, start: _retrieval(model, i, start, steps)
        return jax.vmap(query)(jnp.arange(len(starts)), starts)

    return jax.jit(
        lambda stored, starts, beta: jax.lax.map(lambda draw: sample(draw[0], draw[1], beta), (stored, starts))
    )


def _retrieval(memory: Memory, index: Array, start: Array, steps: int) -> dict[str, Array]:
    """Observables [steps + 1] of one query along its retrieval."""
    states = trajectory(memory, start, steps + 1)
    found = jax.vmap(lambda state: _state(memory, index, state))(states[:-1])
    scores, temperature = memory.scores(start), 1.0 / memory.beta
    warm, cold = (
        thermodynamics.free_energy(scores, memory.beta / (1.0 + step), separation=memory.separation)
        for step in (TEMPERATURE_STEP, -TEMPERATURE_STEP)
    )
    found["slope"] = (cold - warm) / (2.0 * TEMPERATURE_STEP * temperature)
    return found | {"step_size": jnp.linalg.norm(states[1:] - states[:-1], axis=1)}


def _state(memory: Memory, index: Array, state: Array) -> dict[str, Array]:
    """Observables of one state."""
    target, weights, scores = cast(Array, memory.patterns)[index], memory.weights(state), memory.scores(state)
    thermal, mean = memory.separation.regulariser(weights), -jnp.dot(weights, scores)
    free = thermodynamics.free_energy(scores, memory.beta, separation=memory.separation)
    return {
        "entropy": thermodynamics.entropy(weights),
        "effective_number": thermodynamics.effective_number(weights),
        "thermal_entropy": thermal,
        "mean_energy": mean,
        "free_energy": free,
        "energy": memory.energy(state),
        "overlap": jnp.dot(state, target) / jnp.dot(target, target),
        "target_weight": weights[index],
        "largest_weight": jnp.max(weights),
        "residual": free - (mean - thermal / memory.beta),
    }
