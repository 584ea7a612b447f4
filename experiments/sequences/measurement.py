"""Steps of one drawn sequence: which transitions are right, and where following it ends; compiled."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from experiments.contract import Point
from experiments.sequences.config import degree
from experiments.shared import draws
from experiments.shared.grids import Data, Draw, Each, Grid, Measured
from hopfield import trajectory
from hopfield.networks import SequenceMemory


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
    model = SequenceMemory.create(patterns, degree(program.rule), pseudo_inverse=program.learning == "pseudo_inverse")
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
