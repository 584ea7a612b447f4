"""Unlearning: Hebb's rule after dreams. Each dream weakens the state it ends in (Hopfield, Feinstein & Palmer 1983)."""

from typing import Literal, get_args

import jax
import jax.numpy as jnp
from jaxtyping import Array

from hopfield._arguments import one_of, positive_scalar, random_key, step_limit
from hopfield._numerics import accumulation_dtype
from hopfield._parts import stored_spins
from hopfield._pytrees import unchecked
from hopfield.couplings import Couplings
from hopfield.dynamics.asynchronous import relax
from hopfield.memories import EXTENSIVE, Stored, Used

SCALING = EXTENSIVE
ENSEMBLE = "spins"
PARAMETER = int
SYMBOL = "D"
Dream = Literal["attractors", "fields"]
DREAMS: tuple[Dream, ...] = get_args(Dream)
LONGEST = 100
"""Sweeps after which a dream ends, at rest or not."""


def unlearning(
    patterns: Stored,
    dreams: int = 100,
    *,
    rate: float = 0.01,
    of: Dream = "attractors",
    key: Array,
    mask: Used = None,
) -> Couplings:
    """W ← W − rate·x xᵀ/N for every dream, from Hebb's W = ΞᵀΞ/N. x is the end of dynamics from a random start.

    Many random starts end in spurious states, which lose more than the patterns do: up to rate·dreams of about M/2 more
    starts end in patterns, and patterns beyond Hebb's capacity become stable. Beyond M everything is erased.

    A shallow dream, `of="fields"`, ends with the field h = W x of its start: W ← W − rate·h hᵀ. Its mean over starts is
    dW/dt = −W² at t = rate·dreams, so that the returned (1+t) W is `dreaming` of time t for small rates.

    Args:
        patterns: spins [M, N].
        dreams: how many, at least 0; may be traced.
        rate: strength of a dream, positive; may be traced. Of fields well below 1/M.
        of: "attractors" or "fields".
        key: JAX random key of the starts.
        mask: patterns in use [M].
    Source: Hopfield, Feinstein & Palmer 1983, with their rate of 0.01; Plakhov & Semenov 1992 for fields.
    """
    one_of("of", of, DREAMS)
    stored, used = stored_spins(patterns, mask)
    rows = jnp.where(used[:, None], stored, 0.0).astype(accumulation_dtype(stored.dtype))
    number = step_limit("dreams", dreams, 0)
    strength = jnp.asarray(positive_scalar("rate", rate, rows.dtype), rows.dtype)
    unlearn = _unlearn_attractors if of == "attractors" else _unlearn_fields
    return Couplings(unlearn(rows, number, strength, random_key("key", key)))


@jax.jit
def _unlearn_attractors(rows, dreams, rate, key):
    neurons = rows.shape[1]
    hollow = 1.0 - jnp.eye(neurons, dtype=rows.dtype)

    def dream(number, matrix):
        start_key, order_key = jax.random.split(jax.random.fold_in(key, number))
        start = _random_spins(start_key, rows)
        network = unchecked(Couplings, matrix=matrix, scale=jnp.ones((), rows.dtype))
        end = relax(network, start, dynamics="asynchronous", key=order_key, max_steps=LONGEST).state
        dreamt = jnp.where(jnp.any(matrix != 0), rate / neurons, 0.0)  # where nothing is stored a start rests by itself
        return matrix - dreamt * hollow * jnp.outer(end, end)

    return jax.lax.fori_loop(0, dreams, dream, hollow * (rows.T @ rows) / neurons)


@jax.jit
def _unlearn_fields(rows, dreams, rate, key):
    neurons = rows.shape[1]

    def dream(number, matrix):
        field = matrix @ _random_spins(jax.random.fold_in(key, number), rows)
        return matrix - rate * jnp.outer(field, field)

    return (1.0 + rate * dreams) * jax.lax.fori_loop(0, dreams, dream, rows.T @ rows / neurons)


def _random_spins(key, rows):
    """A random state, the same one at every precision."""
    return 1.0 - 2.0 * (jax.random.bits(key, rows.shape[1:], jnp.uint32) >> 31).astype(rows.dtype)
