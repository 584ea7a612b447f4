"""Passes carried out: over patterns on the device, over a mesh of devices, or part by part from the host."""

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.sharding import Mesh
from jaxtyping import Array, Float

from hopfield._arguments import integer
from hopfield.attention.plans import plan
from hopfield.large._passes import (
    Job,
    Piece,
    Sums,
    each_query,
    fits_attention,
    merged,
    scored_block,
    softmax,
    sums_of,
    sweep,
    while_outside,
    with_threshold,
)
from hopfield.large.mesh import axes, shard_map_patterns
from hopfield.patterns import base
from hopfield.patterns.sources import Mapped

PART = 2**22
"""Numbers of a file to bring to the device at a time."""
WALK = 2**26
"""Generated patterns to walk through in one call, where there are too many for a single one."""


class Reading(NamedTuple):
    """Read-out of Q queries.

    Example:
        >>> from hopfield import Memory, large
        >>> reading = large.read(Memory(jnp.eye(3), beta=8.0), jnp.eye(3))
        >>> reading.output.argmax(axis=-1).tolist()
        [0, 1, 2]
    """

    potential: Float[Array, "Q"]
    """F(β s)."""
    output: Float[Array, "Q V"]
    """Σ_μ ∇F_μ values_μ."""


def block_size(queries: int) -> int:
    """Patterns at a time for this many queries on this device: a power of two."""
    chosen = plan()
    return _power_of_two(min(chosen.patterns, chosen.sourced // max(integer("queries", queries, 0), 1)))


def _power_of_two(most: int) -> int:
    return 2 ** max(8, int(math.log2(max(most, 1))))


def patterns_at_once(job: Job, block: int | None) -> int:
    """Patterns of a block: the number given, or one that suits the queries, the patterns' width and the device."""
    if block is not None:
        return integer("block", block)
    return min(block_size(len(job.queries)), _power_of_two(plan().block // max(job.queries.shape[1], 1)))


def is_walked(job: Job) -> bool:
    """True if patterns or values are walked through part by part."""
    return job.source.walked or (job.values is not None and job.values.walked)


def patterns_of_a_call(job: Job, size: int) -> int:
    """Patterns of one call where they are walked through."""
    wide = [x.shape[1] for x in (job.source, job.values) if isinstance(x, Mapped)]
    return min(base.AT_ONCE, max(size, PART // max(wide)) if wide else WALK)


def run(job: Job, top: int, block: int | None, mesh: Mesh | None) -> tuple[Reading, Sums]:
    """The reading of a job and the sums it is of, with statistics where `top` scores are to be kept."""
    size = patterns_at_once(job, block)
    if is_walked(job):
        if mesh is not None:
            raise ValueError("mesh must be None for patterns in a file or beyond 2^31: cut them with source.part")
        return _from_host(job, size, top)
    return _on_device(job, size, top, mesh=mesh)


@partial(jax.jit, static_argnums=1)
def scores_of_all(job: Job, size: int) -> Float[Array, "Q M"]:
    """Scores with all patterns, block by block."""
    count = job.source.shape[0]
    size = min(size, count)
    # The last block starts early enough to be full; what has been read before is left out.
    starts = jnp.minimum(jnp.arange(-(-count // size)) * size, count - size)
    blocks = jnp.moveaxis(jax.lax.map(lambda start: scored_block(job, start, size).scores, starts), 0, 1)
    before = blocks[:, :-1].reshape(len(job.queries), -1)
    return jnp.concatenate([before, blocks[:, -1, size - (count - before.shape[1]) :]], axis=1)


@partial(jax.jit, static_argnums=(1, 2), static_argnames=("mesh",))
def _on_device(job: Job, size: int, top: int, *, mesh: Mesh | None) -> tuple[Reading, Sums]:
    total = job.source.shape[0]
    if mesh is None:
        return _local(job, Piece(0, total, size, top))
    shares = axes(mesh)[0]

    def function(sources, first, queried):
        queries, indices = queried
        local = job.replace(source=sources[0], values=sources[1], queries=queries, own=indices)
        return _local(local, Piece(first, total - first, size, top, shares))

    return shard_map_patterns(mesh, function, (job.source, job.values), (job.queries, job.own))


def _local(job: Job, piece: Piece) -> tuple[Reading, Sums]:
    if job.separation.by_blocks == "threshold":
        job = with_threshold(job, lambda job, term: sweep(job, piece, term), jax.lax.while_loop)
    sums = softmax(job) if fits_attention(job, piece) else sweep(job, piece, sums_of)
    return _finish(job, sums), sums


def _from_host(job: Job, size: int, top: int) -> tuple[Reading, Sums]:
    """Reading and its sums from the host: every pass is a walk through the parts of a source too large for one call."""
    length = patterns_of_a_call(job, size)
    if job.separation.by_blocks == "threshold":
        job = with_threshold(job, lambda job, term: walk(job, term, length, size, top), while_outside)
    sums = walk(job, sums_of, length, size, top)
    return _finish(job, sums), sums


def walk(job: Job, term: Callable, length: int, size: int, top: int) -> Any:
    """A term over the parts of a source, `length` patterns each."""
    total = None
    for first, part in job.source.parts(length):
        values = None if job.values is None else job.values.part(first, part.shape[0])
        local = job.replace(source=part, values=values)
        sums = part_sums(local, jnp.asarray(first if top else 0), min(size, part.shape[0]), top, term)
        total = sums if total is None else merged(term, job.separation, total, sums)
    return total


@partial(jax.jit, static_argnums=(2, 3, 4))
def part_sums(job: Job, first: Array, size: int, top: int, term: Callable) -> Any:
    """Term over one part of the patterns, compiled separately. `first` is the number of its first pattern."""
    piece = Piece(first, job.source.shape[0], size, top)
    if term is sums_of and fits_attention(job, piece):
        return softmax(job)
    return sweep(job, piece, term)


def _finish(job: Job, sums: Sums) -> Reading:
    finish = jax.vmap(lambda separation, stream: separation.finish(stream), (each_query(job.separation), 0))
    return Reading(*finish(job.separation, sums.stream))
