"""Plans by device: how many scores are formed at a time. The table stands in docs/gpu.md."""

from typing import NamedTuple

import jax


class Plan(NamedTuple):
    """Numbers of scores, over all leading axes, and of keys, that one program forms at a time."""

    at_once: int
    """Scores up to which a layer reads all its queries at once."""
    rows: int
    """Scores of the queries that it reads at a time beyond that, with all their keys."""
    block: int
    """Scores of a block of queries and keys."""
    keys: int
    """Keys of a block, at most."""
    sourced: int = 2**21
    """Scores with the patterns of a source, generated, streamed or stored, that `hopfield.large` forms at a time."""
    patterns: int = 2**12
    """Patterns of a block of a source, at most: `jax.vmap` over queries and β multiplies their scores."""


CPU = Plan(at_once=2**25, rows=2**23, block=2**22, keys=2048)
"""Larger blocks leave the cache, smaller ones cost calls."""
MEMORY = 2**36
"""Bytes of a GPU that does not tell how many it has."""


def on_gpu(memory: int) -> Plan:
    """Plan of a GPU with so many bytes: all scores, 16 bytes each with their derivatives, in a quarter of them.

    Blocks take a sixteenth of that: their kernels last much longer than their launches.
    """
    part = memory // 1024
    return Plan(at_once=memory // 64, rows=part, block=part, keys=8192, sourced=part, patterns=2**20)


def plan() -> Plan:
    """Plan of the device that programs run on by default."""
    if jax.default_backend() != "gpu":
        return CPU
    return on_gpu((jax.devices()[0].memory_stats() or {}).get("bytes_limit", MEMORY))
