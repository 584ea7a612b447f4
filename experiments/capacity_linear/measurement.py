"""Keys that find their value in one draw of pairs: the compiled measurement."""

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from experiments.bounds import name_and_number
from experiments.contract import Point
from experiments.shared import draws
from experiments.shared.grids import Data, Draw, Each, Grid, Measured
from hopfield.attention import FastWeights
from hopfield.patterns import sphere

CHUNK = 64
"""Pairs written together."""


def grid(program: Callable[[Point], draws.Rule]) -> Grid:
    """Grid of draws. A draw depends on the seed, D, n and its own number, and is the same for all rules."""
    decay = (np.float32, lambda point: name_and_number(point["rule"])[1] or 1.0)
    return Grid(program, one, {**draws.TRACED, "decay": decay}, most=16, call_cost=5e9)


def one(program: draws.Rule, seed: Array, data: Data, draw: Draw, each: Each) -> Measured:
    """Write all pairs of a draw, ask for some of their keys, evenly spaced from the oldest to the newest."""
    count, rows = draw["num_patterns"].astype(jnp.int32), jnp.arange(program.padding)
    used = rows < count
    key, value = (
        sphere(k, program.padding, program.neurons) / program.neurons**0.5
        for k in draws.keys(seed, program.neurons, draw["num_patterns"], draw["sample"])
    )
    memory = FastWeights.create(program.neurons, rule=program.rule)
    decay = jnp.where(used, draw["decay"], 1.0)
    _, memory = memory.attend(key, key, value, strength=used.astype(key.dtype), decay=decay, chunk=CHUNK)
    order = jnp.arange(program.queries)
    index = jnp.where(
        count <= program.queries, order, jnp.floor((order + 0.5) * (count / program.queries)).astype(jnp.int32)
    )
    valid = index < count
    scores = jnp.where(used[None, :], (key[index] @ memory.matrix) @ value.T, -jnp.inf)
    right = valid & (jnp.argmax(scores, axis=1) == index)
    return {"found": jnp.sum(right) / jnp.sum(valid), "all": (jnp.sum(right) == jnp.sum(valid)).astype(jnp.float32)}
