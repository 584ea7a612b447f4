"""Threefry, the hash behind JAX's random keys (Salmon et al. 2011), written out: the same numbers as `jax.random`.

On CPUs JAX runs its rounds in loops, through memory, each a program of its own to compile. Written out, drawing many
short rows takes a quarter of the time, and compiling them half.
"""

import math
from typing import Any

import jax
import jax.extend.random  # an attribute of `jax` only once imported
import jax.numpy as jnp
import numpy as np
from jax import lax
from jaxtyping import Array

PARITY = np.uint32(0x1BD11BDA)
ROTATIONS = (13, 15, 26, 6), (17, 29, 16, 24)


def written_out(key: Any) -> Any:
    """The same random key, whose draws are this module's. One of another generator is left as it is."""
    return jax.random.wrap_key_data(jax.random.key_data(key), impl=_WRITTEN_OUT) if is_counted(key) else key


def is_counted(key: Any) -> bool:
    """Whether a key is of JAX's usual generator, each of whose numbers is a hash of the key and of its place alone."""
    usual = str(jax.random.key_impl(key)) == "threefry2x32"
    return usual and getattr(jax.config, "jax_threefry_partitionable", True)


def _hash(key: Array, count: Any) -> tuple[Array, Array]:
    """Two words [*n] for each count [*n], from a key [2]."""
    # In functions of `lax`, which trace in a third of the time.
    full = lambda number: lax.full(count.shape, number, jnp.uint32)
    keys = [lax.broadcast(word, count.shape) for word in (key[0], key[1], key[0] ^ key[1] ^ PARITY)]
    a, b = keys[0], lax.add(count, keys[1])
    for group in range(5):
        for bits in ROTATIONS[group % 2]:
            a = lax.add(a, b)
            rotated = lax.bitwise_or(lax.shift_left(b, full(bits)), lax.shift_right_logical(b, full(32 - bits)))
            b = lax.bitwise_xor(a, rotated)
        a = lax.add(a, keys[(group + 1) % 3])
        b = lax.add(b, lax.add(keys[(group + 2) % 3], full(group + 1)))
    return lax.optimization_barrier((a, b))  # or the hash of a row is taken again for each of its numbers


def _counts(shape: tuple[int, ...]) -> Array:
    return lax.reshape(lax.iota(jnp.uint32, math.prod(shape)), shape)


def _random_bits(key: Array, width: int, shape: tuple[int, ...]) -> Array:
    high, low = _hash(key, _counts(shape))
    if width == 64:
        return (high.astype(jnp.uint64) << 32) | low
    return (high ^ low).astype(f"uint{width}")


_WRITTEN_OUT = jax.extend.random.define_prng_impl(
    key_shape=(2,),
    seed=lambda seed: jnp.stack([jnp.zeros_like(seed), seed]),
    split=lambda key, shape: jnp.stack(_hash(key, _counts(shape)), axis=-1),
    random_bits=_random_bits,
    fold_in=lambda key, number: jnp.stack(_hash(key, number)),
    name="threefry2x32_written_out",
    tag="threefry",
)
