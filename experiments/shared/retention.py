"""Retention of stored patterns: the compiled measurement behind capacity curves, which queries some of them."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from operator import itemgetter
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array

from experiments.contract import Point, Row
from experiments.shared import corruptions, draws, grids, pattern_sets
from experiments.shared.grids import Data, Draw, Each, Grid, Measured
from hopfield import Couplings, Memory, retrieve
from hopfield.dynamics import CYCLE, STEP_LIMIT
from hopfield.memories import find
from hopfield.observables.overlaps import above, bit_error, exact, overlap, sparse_overlap
from hopfield.spaces import Spins
from hopfield.theory.base import flips

CUTS = {"retained": 0.8, "retained_0.7": 0.7, "retained_0.9": 0.9}
"""Final overlaps above which a pattern counts as retained, by the column of the table; 0.8 is the usual one."""
COUNTS = (*CUTS, "exact", "cycles", "step_limit", "fixed_point")
WEIGHTS = ("target_weight", "converged_weight")
MEANS = ("overlap", "one_step_error", "steps")
KEPT = {"overlap_retained": "overlap"}
"""Columns of means over what is retained, with the outcome that is averaged."""
EXACT = 0.01
"""Relative distance within which a real state counts as the pattern; spins must all be right."""


class Program(NamedTuple):
    """Structure of a compiled measurement: the values that select its program. All others are traced."""

    memory: str
    dynamics: str
    neurons: int
    padding: int
    queries: int
    corruption: str
    ensemble: str
    clamp: bool
    max_steps: int

    @property
    def cost(self) -> float:
        """Rough multiplications of one sample."""
        return self.padding * row_cost(self.memory, self.dynamics, self.neurons, self.queries)


def row_cost(memory: str, dynamics: str, neurons: int, queries: int) -> float:
    """Rough multiplications for each pattern of a sample: drawing it, its part of couplings, updates of the queries."""
    if coupled(memory):
        return neurons * (20 + (0 if packed(memory, dynamics) else neurons / 16) + 10 * queries)
    return neurons * (20 + (40 if dynamics == "asynchronous" else 10) * queries)


def coupled(memory: str) -> bool:
    """True if the dynamics of a memory run on couplings [N, N]."""
    return not isinstance(draws.network(find(memory).sample), Memory)


def packed(memory: str, dynamics: str) -> bool:
    """True if these couplings are bits of patterns, and no matrix [N, N]."""
    return dynamics == "asynchronous" and coupled(memory) and isinstance(find(memory).sample, Memory)


def rows(
    seed: int,
    points: Sequence[Point],
    program: Callable[[Point], Program],
    known_columns: Callable[[Point], Row] = lambda point: {},
) -> Iterator[Row]:
    """One row per point: how many of the queries of one sample pass each criterion, and means over them.

    Args:
        seed: seed of all randomness; a sample depends on it, on N, M and its own number, and on nothing else.
        points: memory, neurons, patterns, sample, corruption and beta of each.
        program: what is compiled for a point.
        known_columns: what is known of a point before it is measured.
    """
    columns = {**draws.TRACED, "amount": (np.float32, _amount), "beta": np.float32}
    return grids.rows(Grid(program, one, columns), seed, points, _data, known_columns)


def _amount(point: Point) -> float:
    """Amount of a corruption: whole neurons, counted before single precision could round 28.5 up to 29."""
    way, amount = corruptions.parts(point["corruption"])
    return amount if way == "noise" else float(flips(amount, point["neurons"])) / point["neurons"]


def _data(program: Program) -> Data:
    if program.ensemble == pattern_sets.RANDOM:
        return None
    return pattern_sets.load_to_measure(program.ensemble, find(program.memory).ensemble == "spins")


def one(program: Program, seed: Array, data: Data, draw: Draw, each: Each) -> Measured:
    """Columns of one draw of patterns: counts of the queries that pass each criterion, and means over queries."""
    pattern_key, query_key = draws.keys(seed, program.neurons, draw["num_patterns"], draw["sample"])
    blueprint = find(program.memory)
    stored = draws.patterns(blueprint.draw or blueprint.ensemble, pattern_key, program.padding, program.neurons, data)
    memory = blueprint.build(stored, mask=draws.in_use(program, draw), beta=draw["beta"])
    network = draws.network(memory, packed=program.dynamics == "asynchronous")
    weigh = memory.shares if isinstance(memory, Memory) else None
    index, keys = draws.numbers_and_keys(query_key, program.queries)
    query = lambda i, key: _query(program, network, weigh, stored[i], i, key, draw["amount"])
    outcome = jax.vmap(query)(index, keys)
    valid = index < draw["num_patterns"]
    count = {name: jnp.sum(valid & outcome[name]) for name in COUNTS}
    share = 1.0 / jnp.sum(valid)
    mean = {name: share * jnp.sum(jnp.where(valid, outcome[name], 0)) for name in MEANS}
    kept = valid & outcome["retained"]
    mean |= {column: jnp.sum(jnp.where(kept, outcome[name], 0.0)) / jnp.sum(kept) for column, name in KEPT.items()}
    heavy = {name: jnp.sum(valid & outcome[name]) if weigh else jnp.nan for name in WEIGHTS}
    return count | heavy | mean


def _query(
    program: Program,
    network: Memory | Couplings,
    weigh: Callable[[Array], Array] | None,
    target: Array,
    index: Array,
    key: Array,
    amount: Array,
) -> dict[str, ArrayLike]:
    """Outcome of the query of one stored pattern from its corrupted self: flags and numbers by column."""
    spins = isinstance(network.space, Spins)
    corrupt_key, order_key = jax.random.split(key)
    start, untouched = draws.corrupted(corrupt_key, target, program.corruption, amount, spins=spins)
    known = untouched if program.clamp and program.corruption != "none" else None
    tolerance = 0.0 if spins else EXACT
    near = sparse_overlap if find(program.memory).draw else overlap
    run = partial(retrieve, network, start, dynamics=program.dynamics, key=order_key, known=known)
    if program.dynamics == "synchronous" and known is None:  # one update to compile, the loop's
        ends = jax.lax.map(lambda steps: run(max_steps=steps), jnp.array([1, program.max_steps]))
        first, end = ends.state[0], jax.tree.map(itemgetter(1), ends)
    else:
        first, end = network.update(start, known), run(max_steps=program.max_steps)
    clean = first if program.corruption == "none" else network.update(target)
    heavy = above(jax.vmap(weigh)(jnp.stack([start, end.state]))[:, index], 0.5) if weigh else (False, False)
    return {
        "fixed_point": exact(clean, target, tolerance),
        "one_step_error": bit_error(first, target) if spins else jnp.nan,
        **dict(zip(WEIGHTS, heavy, strict=True)),
        "overlap": near(end.state, target),
        **{name: above(near(end.state, target), cut) for name, cut in CUTS.items()},
        "exact": exact(end.state, target, tolerance),
        "steps": end.steps,
        "cycles": end.status == CYCLE,
        "step_limit": end.status == STEP_LIMIT,
    }
