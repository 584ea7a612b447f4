"""Draws of patterns stored in a memory: the random numbers they depend on, and the form that dynamics run on."""

import jax
import jax.numpy as jnp

from hopfield import Memory, hebb_couplings


def keys(seed, neurons: int, num_patterns, sample) -> tuple:
    """Random keys of one draw, for its patterns and for its queries.

    Args:
        seed, num_patterns, sample: seed of the experiment, M, and number of the draw; traced or not.
        neurons: N. The keys depend on these four and on nothing else that is measured.
    """
    key = jax.random.key(seed)
    for part in (neurons, num_patterns, sample):
        key = jax.random.fold_in(key, part)
    pattern_key, query_key = jax.random.split(key)
    return pattern_key, query_key


def numbered(key, count: int) -> tuple:
    """Numbers 0 to count − 1 of the queries of a draw, and for each a key that depends on its number alone."""
    index = jnp.arange(count)
    return index, jax.vmap(lambda i: jax.random.fold_in(key, i))(index)


def network(memory):
    """Network that a memory's dynamics run on: its matrix of couplings where its separation is linear, else itself."""
    return hebb_couplings(memory) if isinstance(memory, Memory) and memory.separation.quadratic else memory
