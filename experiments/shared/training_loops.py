"""Compiled training loops of networks: parameters split from structure, shuffled batches, dropout."""

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
from flax import nnx


class Network(NamedTuple):
    """A module in two parts: parameters that are trained, and all that stays."""

    start: Callable[[jax.Array], Any]
    """Initial parameters by key."""
    module: Callable[[Any], Any]
    """The module that has these parameters."""


def network(build: Callable[[nnx.Rngs], nnx.Module]) -> Network:
    """The parts of modules that a function builds."""
    graph, _, rest = nnx.split(build(nnx.Rngs(0)), nnx.Param, ...)

    def start(key: jax.Array) -> Any:
        return nnx.split(build(nnx.Rngs(key)), nnx.Param, ...)[1]

    return Network(start, lambda params: nnx.merge(graph, params, rest))


def batches(key: jax.Array, examples: int, size: int) -> jax.Array:
    """Indices [steps, size] of the shuffled examples of an epoch. Those beyond the last whole batch are left out."""
    return jax.random.permutation(key, examples)[: examples // size * size].reshape(-1, size)


def dropout(key: jax.Array, share: Any, shape: tuple[int, ...]) -> jax.Array:
    """Factors of features: 0 with a chance of `share`, else 1 / (1 − share)."""
    kept = 1.0 - share
    return jax.random.bernoulli(key, kept, shape) / kept
