"""Sequences: how long a sequence of patterns a network of N spins follows, and what its mistakes are.

A draw is a cyclic sequence of P patterns. From each of them one synchronous step should lead to the next one:

    right      transitions with every spin right, of P
    whole      1 if all of them are: the sequence is followed round and round
    bit_error  share of wrong spins over all transitions, which theory knows exactly at every N, P and degree
    overlap    with the first pattern after following the sequence once around, mistakes carried along

Lengths are those at which theory expects given `shares` of whole sequences, bits taken as independent. They are not:
the spins of one step share the overlaps of its pattern with the others, errors cluster, and more sequences are whole.
Published capacities are asymptotic to leading order and lie far from both.
"""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from experiments import contract
from experiments.contract import Cost, Point, Row
from experiments.sequences import theory
from experiments.sequences.config import LONGEST, Config, degree
from experiments.sequences.results import panels, summarise
from experiments.shared import draws, grids, loads
from experiments.shared.grids import Data, Draw, Each, Grid, Measured
from hopfield import trajectory
from hopfield.networks import SequenceMemory

__all__ = ["X_AXIS", "Config", "check", "cost", "measure", "panels", "points", "summarise"]

X_AXIS = "patterns"


def _lengths(config: Config, rule: str, neurons: int) -> list[int]:
    """Lengths measured of a rule at a size."""
    length = lambda share: theory.length(rule, neurons, share, LONGEST)
    return loads.counts(config.shares, length, f"degree {rule} at N={neurons}", name="shares")


def check(config: Config) -> None:
    """Check that every rule has a sequence short enough to be measured at each size; else ValueError."""
    for rule in config.degrees:
        if not any(_lengths(config, rule, neurons) for neurons in config.neurons):
            sizes = f"a smaller N, or degrees without {rule}: its sequences are longer than {LONGEST} there"
            raise ValueError(f"neurons must have {sizes}, got {config.neurons}")


def points(config: Config) -> list[Point]:
    """One point per rule, learning, size, correlation, length and drawn sequence."""
    grid = []
    for rule, neurons in product(config.degrees, config.neurons):
        for learning, correlation, num_patterns in product(
            config.learning, config.correlation, _lengths(config, rule, neurons)
        ):
            point = {"degree": rule, "learning": learning, "neurons": neurons}
            point |= {"correlation": correlation, "patterns": num_patterns}
            grid += [point | {"sample": sample} for sample in range(config.samples)]
    return grid


def cost(config: Config) -> Cost:
    """Cost of all drawn sequences: one step from each pattern of the longest, for every rule and size."""
    parts = []
    for rule, neurons in product(config.degrees, config.neurons):
        longest = max(_lengths(config, rule, neurons), default=2)
        curves = len(config.learning) * len(config.correlation) * len(config.shares) * config.samples
        parts.append(Cost(curves, longest * neurons, 20 * curves * longest**2 * neurons))
    return contract.total(parts)


def measure(config: Config, wanted: Sequence[Point]) -> Iterator[Row]:
    """Rows of points."""
    yield from grids.rows(GRID, config.seed, wanted)


class Program(NamedTuple):
    """Structure of a compiled measurement: the values that select its program. All others are traced."""

    rule: str
    learning: str
    neurons: int
    num_patterns: int

    @property
    def cost(self) -> float:
        """Rough multiplications of one draw: a step from every pattern, and all of them one after the other."""
        each = 10 if self.learning == "plain" else 1
        return 2 * each * self.num_patterns**2 * self.neurons + (self.learning != "plain") * self.num_patterns**3


def _program(point: Point) -> Program:
    return Program(point["degree"], point["learning"], point["neurons"], point["patterns"])


def one(program: Program, seed: Array, data: Data, draw: Draw, each: Each) -> Measured:
    """Measure one sequence of patterns. Each spin equals a common template's spin with a chance of (1 + √c)/2."""
    key, _ = draws.keys(seed, program.neurons, program.num_patterns, draw["sample"])
    template_key, same_key, own_key = jax.random.split(key, 3)
    shape = program.num_patterns, program.neurons
    template = jax.random.rademacher(template_key, shape[1:], jnp.float32)
    own = jax.random.rademacher(own_key, shape, jnp.float32)
    same = jax.random.uniform(same_key, shape) < jnp.sqrt(draw["correlation"])
    patterns = jnp.where(same, template, own)
    model = SequenceMemory(patterns, degree(program.rule), pseudo_inverse=program.learning == "pseudo_inverse")
    wrong = jax.lax.map(
        lambda pair: jnp.sum(model.update(pair[0]) != pair[1]), (patterns, jnp.roll(patterns, -1, axis=0))
    )
    end = trajectory(model, patterns[0], program.num_patterns)[-1]
    return {
        "right": jnp.sum(wrong == 0),
        "whole": jnp.all(wrong == 0).astype(int),
        "bit_error": jnp.mean(wrong) / program.neurons,
        "overlap": jnp.mean(end * patterns[0]),
    }


GRID = Grid(_program, one, {"sample": np.uint32, "correlation": np.float32}, call_cost=1e10)
"""Draws one by one; a draw depends on the seed, N, P, its number and the correlation."""
