"""Regimes of a memory at some temperature when it starts at its patterns: the measurement behind phase diagrams.

The classical network is a sampler at temperature T; the modern one is deterministic, its β = 1/T sets how sharply it
weighs the patterns. Both are started at a stored pattern and end in one of four kinds of state.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from experiments.shared import draws
from experiments.shared.program import Grid
from hopfield import glauber, hebb_couplings, retrieve
from hopfield.dynamics import STEP_LIMIT
from hopfield.memories import find
from hopfield.observables.stability import GLOBAL_AVERAGE, SINGLE_PATTERN, regime

REGIMES = ("retrieval", "other_pattern", "mixture", "disorder")
"""Holders of a state: the target; another pattern; none alone but an order (spin glass, metastable mixture); none."""
FROZEN = 0.1
"""Self-overlap of two time averages from which spins count as frozen; 0.13 where retrieval ends at M/N = 0.001."""


def majority(rows: Sequence[Mapping]) -> str:
    """The regime in which most of the queries of these rows end."""
    return max(REGIMES, key=lambda regime: sum(row[regime] for row in rows))


CHUNK = 2e10
"""Multiplications one call to the device should cost: about a second, so that a kill loses little."""


class Program(NamedTuple):
    """Structure of a compiled measurement: what it depends on; everything else is traced."""

    memory: str
    neurons: int
    padding: int
    queries: int
    temperatures: int
    """How many temperatures one draw of patterns is measured at."""
    burn_in: int
    sweeps: int
    max_steps: int

    @property
    def cost(self) -> float:
        """Rough multiplications of one draw."""
        chains = self.temperatures * self.queries
        if self.memory == "modern":
            return chains * self.padding * self.neurons * 100
        return self.padding * self.neurons**2 + chains * (self.burn_in + self.sweeps) * (self.neurons + 500) ** 2


def grid(program: Callable[[dict], Program]) -> Grid:
    """The grid of draws, each at several temperatures; a draw depends on the seed, N, M and its number alone.

    All calls are whole, so that one program serves all levels of refinement.
    """
    each = {"temperature": np.float32}
    return Grid(
        program, one, draws.COLUMNS, each, lambda program: program.temperatures, most=8, chunk=CHUNK, whole=True
    )


def one(program: Program, seed, data, draw: dict, each: dict) -> dict:
    """Store one draw of patterns and start from some of them at every temperature [T].

    All temperatures share the draw's random numbers: differences between them have less noise than they have.
    """
    pattern_key, chain_key = draws.keys(seed, program.neurons, draw["num_patterns"], draw["sample"])
    blueprint = find(program.memory)
    stored = draws.patterns(blueprint.ensemble, pattern_key, program.padding, program.neurons)
    used = draws.in_use(program, draw)
    start = _softmax if program.memory == "modern" else _spins
    query = start(program, blueprint, stored, used, chain_key)
    index = jnp.arange(program.queries)
    ends = jax.vmap(lambda temperature: jax.vmap(lambda i: query(i, temperature))(index))(each["temperature"])
    valid = jnp.broadcast_to(index < draw["num_patterns"], ends["overlap"].shape)
    ended = ends.pop("kind")
    counts = {name: jnp.sum(valid & (ended == number), axis=1) for number, name in enumerate(REGIMES)}
    counts["step_limit"] = jnp.sum(valid & ends.pop("step_limit"), axis=1)
    means = {name: jnp.sum(jnp.where(valid, ends[name], 0.0), axis=1) / jnp.sum(valid, axis=1) for name in ends}
    return counts | means


def _spins(program: Program, blueprint, stored, used, key) -> Callable:
    """Heat-bath sweeps from pattern i: a burn-in, then two time averages of half the sweeps each.

    Their product averaged over neurons is the self-overlap q. A pattern holds the state where more than half of it is
    along that pattern, m² > q/2: at the end of the retrieval phase the replica theory has m²/q between 0.83 and 0.95,
    while the remanence of a spin glass has 0.2.
    """
    couplings = hebb_couplings(blueprint.build(stored, mask=used))
    order_key, chain_key = jax.random.split(key)
    rows = jnp.where(used[:, None], stored, 0.0)
    half = program.sweeps // 2

    def window(state, i, temperature, number: int, burn_in: int):
        own = jax.random.fold_in(jax.random.fold_in(chain_key, i), number)
        orders = jax.random.fold_in(order_key, number)
        found = glauber(couplings, state, own, temperature, sweeps=half, burn_in=burn_in, order_key=orders)
        return found.state, jnp.round(half * found.mean)

    def query(i, temperature):
        state, first = window(stored[i], i, temperature, 0, program.burn_in)
        _, second = window(state, i, temperature, 1, 0)
        # sums of whole numbers: those of averages are off by 1e-5 in float32, many errors of an overlap close to 1
        overlaps = rows @ (first + second) / (2 * half * program.neurons)
        q = jnp.sum(first * second) / (half**2 * program.neurons)
        held = jnp.where(overlaps[i] ** 2 > q / 2, 0, jnp.where(jnp.max(overlaps**2) > q / 2, 1, 2))
        return {
            "kind": jnp.where(q > FROZEN, held, 3),
            "overlap": overlaps[i],
            "self_overlap": q,
            "drift": rows[i] @ (second - first) / (half * program.neurons),
            "step_limit": jnp.zeros((), bool),
        }

    return query


def _softmax(program: Program, blueprint, stored, used, key) -> Callable:
    """Updates from pattern i to a fixed point, whose weights tell which patterns hold it; nothing is random."""

    def query(i, temperature):
        memory = blueprint.build(stored, mask=used, beta=1.0 / temperature)
        end = retrieve(memory, stored[i], max_steps=program.max_steps)
        found = regime(memory, end.state)
        single = jnp.where(found.index == i, 0, 1)
        spread = jnp.where(found.kind == GLOBAL_AVERAGE, 3, 2)
        return {
            "kind": jnp.where(found.kind == SINGLE_PATTERN, single, spread),
            "overlap": jnp.mean(end.state * stored[i]),
            "self_overlap": jnp.mean(end.state**2),
            "drift": jnp.zeros(()),
            "step_limit": end.status == STEP_LIMIT,
        }

    return query
