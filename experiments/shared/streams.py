"""Streams of patterns that are never stored: the memories they serve, and starts of their queries."""

import jax
import jax.numpy as jnp
import numpy as np

from experiments.shared import draws
from hopfield import find_memory
from hopfield.large import counts
from hopfield.memory import Memory
from hopfield.patterns import corrupt


def check_memory(memory: str) -> None:
    """Refuse a memory that is no sum over spin patterns, in one sentence."""
    model = find_memory(memory).build(np.ones((1, 2)))
    if not isinstance(model, Memory):
        raise ValueError(f"patterns must be stored for {memory}, a matrix of couplings")
    try:
        counts.summand(model)
    except ValueError:
        raise ValueError(f"patterns must be stored for {memory}, which is no sum over spin patterns") from None


def start(kind: str, amount: float, key, targets):
    """Every target corrupted, with the random numbers that stored patterns are corrupted with."""
    if not amount:
        return targets
    _, keys = draws.numbered(key, len(targets))
    corrupt_keys = jax.vmap(lambda key: jax.random.split(key)[0])(keys)
    apply = lambda key, target: corrupt(key, target, kind, amount, fill="random").state  # noqa: E731
    return np.where(np.asarray(jax.vmap(apply)(corrupt_keys, jnp.asarray(targets))) < 0, -1.0, 1.0)
