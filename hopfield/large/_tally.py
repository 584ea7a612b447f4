"""The tally of one call to the device: spin patterns counted by overlap with every query, and by overlap and bit."""

from functools import partial

import jax
import jax.numpy as jnp
from jax.sharding import Mesh
from jaxtyping import Array, UInt32

from hopfield.large.mesh import all_merge, axes, shard_map_patterns
from hopfield.patterns.bits import bits, overlaps
from hopfield.patterns.sources import Source

PATTERNS_AT_ONCE = 1024
"""Patterns of a block: their indicators by overlap stay in the cache."""


@partial(jax.jit, static_argnums=2, static_argnames="mesh")
def tally(source: Source, words: UInt32[Array, "Q W"], total: int, *, mesh: Mesh | None) -> Array:
    """Counts [Q, N + 1, N + 1], by query and overlap: of the patterns with each bit set and, last, of all patterns."""
    if mesh is None:
        return _swept(source, words, jnp.int32(0), total)
    shares, _ = axes(mesh)

    def function(sources, first, words):
        return all_merge(jnp.add, _swept(sources[0], words, first, total), shares)

    return shard_map_patterns(mesh, function, (source,), words)


def _swept(source: Source, words: UInt32[Array, "Q W"], offset: Array, total: int) -> Array:
    """Counts as in `tally`, by products of indicators: exact in bfloat16, which holds 0 and 1, with sums in float32."""
    count, neurons = source.shape
    size = min(PATTERNS_AT_ONCE, count)
    rank = jnp.arange(neurons + 1)[None, :, None]

    def absorb(sums, i):
        # The last block starts early enough to be full; what was counted before is left out.
        first = jnp.minimum(i * size, count - size)
        local = first + jnp.arange(size)
        used = (local >= i * size) & (offset + local < total)
        packed = source.words(first, size)
        distance = (neurons - overlaps(packed, words, neurons)) // 2
        share = (distance[:, None, :] == rank).astype(jnp.bfloat16).reshape(-1, size)
        columns = jnp.concatenate([bits(packed, neurons, jnp.bfloat16), jnp.ones((size, 1), jnp.bfloat16)], axis=1)
        columns = jnp.where(used[:, None], columns, 0)
        return sums + jnp.dot(share, columns, preferred_element_type=jnp.float32), None

    start = jnp.zeros((words.shape[0] * (neurons + 1), neurons + 1), jnp.float32)
    sums, _ = jax.lax.scan(absorb, start, jnp.arange(-(-count // size)))
    return sums.reshape(words.shape[0], neurons + 1, neurons + 1)
