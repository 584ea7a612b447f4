"""Bits of spins, 32 to a word: bit i % 32 of word i // 32 is set where spin i is +1."""

import jax
import jax.numpy as jnp
from jax.typing import DTypeLike
from jaxtyping import Array, Float, Int, PRNGKeyArray, UInt32

WORD = 32
"""Spins in one word of packed bits."""


def pack(spins: Float[Array, "M N"]) -> UInt32[Array, "M W"]:
    """Bits of spins, 32 to a word. The rest of the last word is zero."""
    count, neurons = spins.shape
    up = jnp.pad((spins > 0).astype(jnp.uint32), ((0, 0), (0, -neurons % WORD)))
    shift = jnp.arange(WORD, dtype=jnp.uint32)[None, None, :]
    return jnp.sum(up.reshape(count, -1, WORD) << shift, axis=2, dtype=jnp.uint32)


def random_words(key: PRNGKeyArray, neurons: int) -> UInt32[Array, "W"]:
    """Bits of N random spins. The rest of the last word is zero."""
    words = jax.random.bits(key, (-(-neurons // WORD),), jnp.uint32)
    spare = -neurons % WORD
    return words.at[-1].set(words[-1] >> spare) if spare else words


def unpack(words: UInt32[Array, "M W"], neurons: int, dtype: DTypeLike | None = None) -> Float[Array, "M N"]:
    """Spins −1, +1 of packed bits, in JAX's default float unless a dtype is given."""
    up = bits(words, neurons, jnp.result_type(float) if dtype is None else dtype)
    return 2 * up - 1


def bits(words: UInt32[Array, "M W"], neurons: int, dtype: DTypeLike) -> Float[Array, "M N"]:
    """1 where a spin is +1, else 0."""
    shift = jnp.arange(WORD, dtype=jnp.uint32)[None, None, :]
    up = (words[:, :, None] >> shift) & 1
    return up.reshape(words.shape[0], -1)[:, :neurons].astype(dtype)


def overlaps(words: UInt32[Array, "M W"], others: UInt32[Array, "Q W"], neurons: int) -> Int[Array, "Q M"]:
    """ξ_μ·x_q of packed spins [Q, M], N minus twice the number of bits that differ, by population count."""
    differing = jax.lax.population_count(words[None, :, :] ^ others[:, None, :]).astype(jnp.int32)
    return neurons - 2 * jnp.sum(differing, axis=-1)
