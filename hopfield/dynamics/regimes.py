"""Regimes: what holds a state, one pattern, a mixture of some or the mean of all, from the shares of its weights."""

from typing import NamedTuple

import jax.numpy as jnp
from jaxtyping import Array, Float, Int

from hopfield._numerics import largest, tolerance, wide
from hopfield.memory import Memory
from hopfield.spaces import State

GLOBAL_AVERAGE, METASTABLE_MIXTURE, SINGLE_PATTERN, NO_PATTERN, NOT_A_NUMBER, NO_WEIGHTS = range(6)
REGIMES = ("global average", "metastable mixture", "single pattern", "no pattern", "not a number", "no weights")
"""Words for what holds a state; the last where a model has no weights of patterns, as couplings have none."""
HELD = 0.9
"""Share of the weight that the patterns of a mixture hold together (Ramsauer et al. 2021)."""


class Holding(NamedTuple):
    """Regime as an index into REGIMES, number of patterns with HELD of the weight, the heaviest and its share."""

    kind: Int[Array, ""]
    count: Int[Array, ""]
    index: Int[Array, ""]
    share: Float[Array, ""]


def holding(memory: Memory, state: State) -> Holding:
    """Regime of a state of a memory, from the shares of the patterns in its read-out."""
    shares = wide(memory.shares(state))
    used = shares.size if memory.mask is None else jnp.sum(memory.mask)
    descending = -jnp.sort(-shares)
    before = jnp.cumsum(descending) - descending
    rounding = tolerance(shares.dtype)
    # The tolerance keeps nine of ten equal shares from being ten by rounding, and one of two halves from being more.
    count = jnp.sum((before < HELD - rounding) & (descending > 0))
    index, share = jnp.argmax(shares), largest(shares)
    kind = jnp.where(2 * count > used, GLOBAL_AVERAGE, METASTABLE_MIXTURE)
    kind = jnp.where(share > 0.5 + rounding, SINGLE_PATTERN, kind)
    empty, lost = share == 0, jnp.isnan(share)
    kind = jnp.where(lost, NOT_A_NUMBER, jnp.where(empty, NO_PATTERN, kind))
    return Holding(kind, count, jnp.where(empty | lost, -1, index), share)
