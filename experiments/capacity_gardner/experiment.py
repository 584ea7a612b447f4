"""Learning of couplings up to Gardner's bound: the largest load that is held, stabilities, and basins.

Each spin's couplings are learned by themselves, and held where its least stability γ = ξ h/‖W‖ is positive (above κ for
`perceptron:κ`). Without bias the share of spins that any couplings can hold is Cover's, exact at every N; the largest κ
is Gardner's curve for N → ∞. Retrieval runs from patterns with some spins flipped, by sequential sweeps.
"""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import product
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from experiments.capacity_gardner.config import Config
from experiments.capacity_gardner.figure import panels
from experiments.capacity_gardner.summary import summarise
from experiments.contract import Cost, Point, Row
from experiments.shared import draws, grids, loads
from experiments.shared.axes import product_of
from experiments.shared.grids import Data, Draw, Each, Grid, Measured
from hopfield import Couplings, retrieve
from hopfield.memories import find
from hopfield.observables.overlaps import above
from hopfield.observables.stability import stabilities
from hopfield.patterns import biased, flip

__all__ = ["X_AXIS", "Config", "check", "cost", "measure", "panels", "points", "summarise"]
X_AXIS = "load"
KEPT = 0.9
"""Overlap with its pattern above which a query is retained."""


class Program(NamedTuple):
    """Structure of a compiled measurement: the values that select its program. All others are traced."""

    rule: str
    neurons: int
    padding: int
    queries: int
    starts: int
    max_steps: int

    @property
    def cost(self) -> float:
        """Rough multiplications of one draw: some hundred passes over patterns and couplings, and the retrievals."""
        return self.neurons**2 * (200.0 * self.padding + 10.0 * self.queries * self.starts)


def check(config: Config) -> None:
    """Check that every rule makes couplings; else ValueError."""
    for rule in config.rules:
        sample = find(rule).sample
        if not isinstance(draws.network(sample), Couplings):
            raise ValueError(f"rules must be memories of couplings, got {rule!r}")


def cost(config: Config) -> Cost:
    """Cost of all draws, by the programs of the largest load."""
    programs = [
        _program(config, {"rule": rule, "neurons": size}) for rule, size in product(config.rules, config.neurons)
    ]
    draws_each = len(config.loads) * len(config.biases) * config.samples
    rows = draws_each * len(programs) * len(config.flipped)
    most = max(max(p.padding, p.neurons) * p.neurons for p in programs)
    return Cost(rows, most, draws_each * sum(p.cost for p in programs))


def points(config: Config) -> list[Point]:
    """One point per rule, size, load, bias, start and draw."""
    grid: list[Point] = []
    for rule, neurons in product(config.rules, config.neurons):
        number = partial(find(rule).rounded, neurons=neurons)
        for patterns in loads.counts(config.loads, number, f"{rule} at N={neurons}"):
            place = {"rule": [rule], "neurons": [neurons], "patterns": [patterns]}
            grid += product_of(**place, bias=config.biases, flipped=config.flipped, sample=range(config.samples))
    return grid


def measure(config: Config, wanted: Sequence[Point]) -> Iterator[Row]:
    """Rows of points. All starts of a draw share the couplings that are learned of it."""
    each, draw = {"flipped": np.float32}, {**draws.TRACED, "bias": np.float32}
    grid = Grid(partial(_program, config), one, draw, each, lambda program: program.starts, most=16, call_cost=2e9)
    known = lambda point: {"load": point["patterns"] / point["neurons"]}
    yield from grids.rows(grid, config.seed, wanted, known_columns=known)


def _program(config: Config, point: Point) -> Program:
    most = find(point["rule"]).rounded(max(config.loads), point["neurons"])
    queries = min(config.queries, most)
    return Program(point["rule"], point["neurons"], most, queries, len(config.flipped), config.max_steps)


def one(program: Program, seed: Array, data: Data, draw: Draw, each: Each) -> Measured:
    """Couplings of one draw of patterns: their stabilities, and where they lead from every start."""
    pattern_key, query_key = draws.keys(seed, program.neurons, draw["num_patterns"], draw["sample"])
    stored, used = biased(pattern_key, program.padding, program.neurons, draw["bias"]), draws.in_use(program, draw)
    network = draws.network(find(program.rule).build(stored, mask=used))
    assert isinstance(network, Couplings)
    gamma = jnp.where(used[:, None], stabilities(network, stored), jnp.inf)
    least, wanted = jnp.min(gamma, axis=0), float(program.rule.partition(":")[2] or 0.0)
    index, keys = draws.numbers_and_keys(query_key, program.queries)
    valid = index < draw["num_patterns"]

    def kept(i: Array, key: Array, share: Array) -> Array:
        start = flip(key, stored[i], share).state
        end = retrieve(network, start, dynamics="sequential", max_steps=program.max_steps).state
        return above(jnp.dot(end, stored[i]) / program.neurons, KEPT)

    retained = jax.vmap(jax.vmap(kept, (0, 0, None)), (None, None, 0))(index, keys, each["flipped"])
    measured = {
        "stability": jnp.mean(least),
        "held": jnp.mean(least > wanted),
        "fixed": jnp.sum(used & jnp.all(gamma > 0, axis=1)) / draw["num_patterns"],
    }
    alike = {name: jnp.broadcast_to(value, each["flipped"].shape) for name, value in measured.items()}
    return alike | {"retained": jnp.sum(retained & valid[None, :], axis=1) / jnp.sum(valid)}
