"""Multi-query associative recall: sequences of keys and values, in which each key is asked for once more.

    key value key value … | 0 … key … 0 … key …          K pairs in the first 2K places, then every key once

Keys are drawn from 1 … V/2 − 1, each once, values from V/2 … V − 1. The gap g of a key, in pairs of places, is drawn
without replacement from (L − 2K)/2 with p(g) ∝ g^(a−1), a = 0.01. The label stands at the asked key; no other place has
one. Places that are left hold 0 ("zero"), or random tokens ("random"), some of which contradict a stored pair: its key
followed by another token, before it is asked for. "clean" has random tokens that are no keys of the same sequence.

Source: Arora et al. 2023 (Zoology, arXiv:2312.04927), appendix A.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Int

POWER = 0.01


class Recall(NamedTuple):
    """Sequences, the places of their queries, and the right answers."""

    tokens: Int[Array, "N L"]
    asked: Int[Array, "N K"]
    """Places of the asked keys, in the order of the pairs."""
    values: Int[Array, "N K"]


def draw_sequences(key: Array, count: int, length: int, pairs: int, vocabulary: int, filler: str) -> Recall:
    """`count` sequences of even `length` L ≥ 4K tokens. `filler`: zero, random or clean."""
    return jax.vmap(lambda k: _draw_sequence(k, length, pairs, vocabulary, filler))(jax.random.split(key, count))


def _draw_sequence(key: Array, length: int, pairs: int, vocabulary: int, filler: str) -> Recall:
    own, read, gap, noise = jax.random.split(key, 4)
    half, room = vocabulary // 2, (length - 2 * pairs) // 2
    keys = 1 + jax.random.permutation(own, half - 1)[:pairs]
    values = jax.random.randint(read, (pairs,), half, vocabulary)
    # The order of perturbed logarithms is that of draws without replacement (Gumbel).
    log = (POWER - 1.0) * jnp.log(jnp.arange(1.0, room + 1.0))
    gaps = jax.lax.top_k(log + jax.random.gumbel(gap, (room,)), pairs)[1]
    asked = 2 * (pairs + jax.random.permutation(jax.random.fold_in(gap, 1), gaps))
    others = jax.random.randint(noise, (length,), 0, vocabulary)
    if filler == "zero":
        others = jnp.zeros_like(others)
    if filler == "clean":
        others = jnp.where((others[:, None] == keys[None, :]).any(axis=1), 0, others)
    tokens = others.at[: 2 * pairs].set(jnp.stack([keys, values], axis=1).ravel()).at[asked].set(keys)
    return Recall(tokens, asked, values)


def contradicted(recall: Recall, pairs: int) -> Array:
    """Whether a stored pair is contradicted before it is asked for, [N, K]."""

    def contradicted_pairs(tokens: Array, asked: Array, values: Array) -> Array:
        tokens, place, following = tokens[None, :], jnp.arange(len(tokens))[None, :], jnp.roll(tokens, -1)[None, :]
        again = (tokens == tokens[0, asked][:, None]) & (place >= 2 * pairs) & (place < asked[:, None])
        return (again & (following != values[:, None])).any(axis=1)

    return jax.vmap(contradicted_pairs)(*recall)
