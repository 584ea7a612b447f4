"""Random-sequential retrieval at zero temperature near the critical load: event-driven, and as one would in numpy."""

import math
from pathlib import Path
from typing import NamedTuple

import jax
import numpy as np

from hopfield import hebb_couplings, retrieve
from hopfield.memories.classical import classical

from . import BenchmarkError, Case, Run, Side

RETAINED = 0.8
"""Final overlap above which a pattern counts as retained."""
SIGMAS = 4.0
"""Standard errors by which means of the two sides may differ."""


class Stored(NamedTuple):
    """Spin patterns [M, N] in numpy and on JAX's device, the first ones also queries; and a number for seeds."""

    patterns: np.ndarray
    on_device: jax.Array
    number: int


def case(size: str, workspace: Path) -> Case:
    """Couplings and dynamics of one draw of patterns. Both sides build the matrix inside the timed region."""
    del workspace
    neurons, patterns, probes = {"small": (200, 20, 4), "published": (2000, 276, 32)}[size]

    def draw(number: int) -> Stored:
        chance = np.random.default_rng((1982, number)).random((patterns, neurons))
        spins = np.where(chance < 0.5, -1, 1).astype(np.float32)
        return Stored(spins, jax.device_put(spins), number)

    def event_driven(problem: Stored, run: Run) -> np.ndarray:
        keys = jax.random.split(jax.random.key(problem.number), probes)
        with run.stage("couplings"):
            couplings = jax.block_until_ready(hebb(problem.on_device))
        with run.stage("dynamics"):
            return np.asarray(end_states(couplings, problem.on_device[:probes], keys))

    def sweep_in_numpy(problem: Stored, run: Run) -> np.ndarray:
        rng = np.random.default_rng(problem.number)
        with run.stage("couplings"):
            couplings = problem.patterns.T @ problem.patterns / neurons
            np.fill_diagonal(couplings, 0)
        with run.stage("dynamics"):
            return np.stack([sweep_until_still(couplings, query, rng) for query in problem.patterns[:probes]])

    return Case(
        what="Asynchronous retrieval of stored patterns, event-driven against one neuron after the other.",
        shapes={"neurons": neurons, "patterns": patterns, "probes": probes},
        draw=draw,
        ours=Side("hopfield, event-driven", event_driven),
        theirs=Side("numpy, plain sweeps", sweep_in_numpy),
        check=same_fixed_points,
    )


@jax.jit
def hebb(patterns):
    """The classical network's couplings."""
    return hebb_couplings(classical(patterns))


@jax.jit
def end_states(couplings, queries, keys):
    """End states of the queries [Q, N]."""
    return jax.vmap(lambda x, key: retrieve(couplings, x, dynamics="asynchronous", key=key).state)(queries, keys)


def sweep_until_still(couplings: np.ndarray, query: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Every neuron in a fresh random order, each with the field of the moment, until a sweep moves none."""
    state = query.copy()
    moved = True
    while moved:
        moved = False
        for i in rng.permutation(state.size):
            field = couplings[i] @ state
            new = 1.0 if field > 0 else -1.0 if field < 0 else state[i]
            if new != state[i]:
                state[i] = new
                moved = True
    return state


def same_fixed_points(problems: list[Stored], ours: list[np.ndarray], theirs: list[np.ndarray]) -> dict[str, float]:
    """Check that every final state is a fixed point and that both sides retain as much, on average over all queries.

    The sides visit neurons in different orders, so that a single query may well end in two places.
    """
    overlaps = {}
    for side, results in (("ours", ours), ("theirs", theirs)):
        ends = [_overlaps(side, problem.patterns, states) for problem, states in zip(problems, results, strict=True)]
        overlaps[side] = np.concatenate(ends)
    retained = {side: (overlap > RETAINED).astype(float) for side, overlap in overlaps.items()}
    figures: dict[str, float] = {"fixed points among the final states": sum(len(ends) for ends in overlaps.values())}
    for name, ends in (("share retained", retained), ("mean final overlap", overlaps)):
        difference = ends["ours"] - ends["theirs"]
        gap, error = float(difference.mean()), float(difference.std()) / math.sqrt(difference.size)
        if abs(gap) > SIGMAS * error:
            raise BenchmarkError(f"{name} must agree, got a difference of {gap:.3g} ± {error:.3g}")
        figures |= {f"{name}, {side}": float(end.mean()) for side, end in ends.items()}
        figures[f"{name}, standard error of the difference"] = error
    return figures


def _overlaps(side: str, patterns: np.ndarray, states: np.ndarray) -> np.ndarray:
    """Overlaps of final states with their starting patterns. Raises BenchmarkError unless all are fixed points."""
    stored, spins = patterns.astype(float), states.astype(float)
    fields = (spins @ stored.T) @ stored - len(stored) * spins  # sums of integers, hence exact
    if (np.abs(spins) != 1).any() or (fields * spins < 0).any():
        raise BenchmarkError(f"every final state must be a fixed point, got one of {side} that is not")
    return np.mean(spins * stored[: len(spins)], axis=1)
