"""Reading a memory in blocks: potential, read-out and statistics of the weights, over patterns that fit in no memory.

    F(β s), Σ_μ p_μ values_μ, and of the shares |p_μ| / Σ|p|: entropy, weight of a target, the k largest scores

Patterns come from any `Source` and pass through one block at a time; sums of blocks are merged exactly. Separations
that stream need one pass. Sparsemax and entmax need their threshold first, which Newton's iteration finds in a few
passes more (Michelot's for sparsemax): Σ p is convex in τ, so that it never overshoots and ends at the last bit.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh
from jaxtyping import Array, Float, Int

from hopfield._checks import instance, whole
from hopfield._numerics import accumulation_dtype, is_traced, positive, real_array
from hopfield.large.mesh import axes, shard_map_patterns
from hopfield.large.passes import Job, Piece, Sums, fits_attention, merged, softmax, sums_of, sweep, with_threshold
from hopfield.patterns.sources import Mapped, as_source
from hopfield.separations import Entmax, LogSumExp, Separation, Sparsemax, as_separation
from hopfield.separations.base import Stream
from hopfield.separations.cut import Cut
from hopfield.similarities import Dot, Similarity
from hopfield.spaces import Space

NUMBERS = 2**21
"""Scores formed at a time on a CPU: more leave its cache."""
NUMBERS_GPU = 2**26
PART = 2**22
"""Numbers of a file to bring to the device at a time."""
WALK = 2**26
"""Generated patterns to walk through in one call, where there are too many for a single one."""
AT_ONCE = 2**31 - 1
"""Patterns of one call at most: their rows are numbered with 32 bits."""


class Reading(NamedTuple):
    """What Q queries read."""

    potential: Float[Array, "Q"]
    """F(β s)."""
    output: Float[Array, "Q V"]
    """Σ_μ ∇F_μ values_μ."""


class Statistics(NamedTuple):
    """How the weights of Q queries are spread."""

    largest: Float[Array, "Q"]
    """The largest score β s."""
    entropy: Float[Array, "Q"]
    """−Σ p ln p of the shares, in nats."""
    target_weight: Float[Array, "Q"]
    """Share of the query's own pattern; NaN without targets."""
    top_scores: Float[Array, "Q K"]
    top_patterns: Int[Array, "Q K"]


def read(
    source,
    queries: Float[Array, "Q N"],
    *,
    beta=1.0,
    separation: Separation | str = LogSumExp(),  # noqa: B008 - immutable
    similarity: Similarity = Dot(),  # noqa: B008
    values=None,
    block: int | None = None,
    mesh: Mesh | None = None,
) -> Reading:
    """F(β s) and Σ_μ ∇F_μ values_μ of every query, exactly, in memory that does not grow with M.

    Args:
        source: patterns [M, N]: a `Source`, an array, or a memory-mapped array.
        queries: [Q, N]; differentiable, as are stored patterns, values and β.
        beta: inverse temperature > 0.
        separation: one that streams, sparsemax or entmax.
        similarity: as in a `Memory`.
        values: what is read out [M, V], an array or a source; the patterns if None.
        block: patterns at a time; chosen from the shapes and the device if None.
        mesh: devices to spread patterns and queries over (`hopfield.large.mesh`).

    Raises:
        ValueError: shapes that do not fit. TypeError: a separation that needs all scores at once.
    """
    job = _job(source, queries, beta, separation, similarity, values)
    return _run(job, 0, block, mesh)[0]


def statistics(
    source,
    queries: Float[Array, "Q N"],
    *,
    beta=1.0,
    separation: Separation | str = LogSumExp(),  # noqa: B008 - immutable
    similarity: Similarity = Dot(),  # noqa: B008
    targets: Int[Array, "Q"] | None = None,
    top: int = 1,
    block: int | None = None,
    mesh: Mesh | None = None,
) -> tuple[Reading, Statistics]:
    """Reading of every query and how its weights are spread, from the same passes.

    Args:
        source, queries, beta, separation, similarity, block, mesh: as for `read`.
        targets: index of the pattern that each query belongs to, 0 to M − 1.
        top: how many of the largest scores to keep, 1 to M.

    Raises:
        ValueError: as for `read`; more patterns than JAX's integers number, 2^31 unless jax_enable_x64 is set.
    """
    job = _job(source, queries, beta, separation, similarity, None)
    count, most = job.source.shape[0], jnp.iinfo(jnp.result_type(int)).max
    if count > most:
        raise ValueError(f"source must have at most {most} patterns to number with jax_enable_x64 off, got {count}")
    if whole("top", top) > count:
        raise ValueError(f"top must be from 1 to the {count} patterns, got {top}")
    job = job.replace(own=_own(targets, len(queries), count))
    reading, sums = _run(job, top, block, mesh)
    return reading, _statistics(sums, known=targets is not None)


def energy(source, queries: Float[Array, "Q N"], space: Space, *, beta=1.0, **options) -> Float[Array, "Q"]:
    """E(x) = R(x) − F(β s)/β of every query; options as for `read`."""
    queries = real_array("queries", queries)
    instance("space", space, Space)
    potential = read(source, queries, beta=beta, **options).potential
    return jax.vmap(space.potential)(queries).astype(potential.dtype) - potential / beta


def _job(source, queries, beta, separation, similarity, values) -> Job:
    source, values = as_source(source), None if values is None else as_source(values)
    queries, separation = real_array("queries", queries), as_separation(separation)
    width = instance("similarity", similarity, Similarity).width(source)
    if queries.ndim != 2 or queries.shape[1] != width:
        raise ValueError(f"queries must have shape [Q, {width}], got {queries.shape}")
    if values is not None and values.shape[0] != source.shape[0]:
        raise ValueError(f"values must have one row per pattern ({source.shape[0]}), got {values.shape[0]}")
    if not separation.streaming and not isinstance(separation, Sparsemax | Entmax):
        raise TypeError(f"{type(separation).__name__} has no streaming form: its weights need all scores at once")
    queries = queries.astype(accumulation_dtype(queries.dtype))
    beta = jnp.asarray(positive("beta", beta, queries.dtype), queries.dtype)
    return Job(source, values, queries, None, beta, similarity, separation)


def _own(targets, queries: int, count: int) -> Array:
    """The index of every query's own pattern; −1, which no pattern has, without targets."""
    if targets is None:
        return jnp.full(queries, -1)
    given = targets if is_traced(targets) else np.asarray(targets)
    if given.shape != (queries,) or not jnp.issubdtype(given.dtype, jnp.integer):
        raise ValueError(f"targets must be one index for each of {queries} queries, got {given.dtype} {given.shape}")
    if isinstance(given, np.ndarray) and (strange := given[(given < 0) | (given >= count)]).size:
        raise ValueError(f"targets must be from 0 to {count - 1}, got {strange[0]}")
    return jnp.asarray(given)


def block_size(queries: int) -> int:
    """Patterns at a time for this many queries on this device: a power of two."""
    numbers = NUMBERS_GPU if jax.default_backend() == "gpu" else NUMBERS
    return 2 ** max(8, min(14, int(math.log2(numbers / max(queries, 1)))))


def _run(job: Job, top: int, block: int | None, mesh: Mesh | None) -> tuple[Reading, Sums]:
    size = whole("block", block) if block is not None else block_size(len(job.queries))
    if isinstance(job.source, Mapped) or isinstance(job.values, Mapped) or job.source.shape[0] > AT_ONCE:
        if mesh is not None:
            raise ValueError("mesh must be None for patterns in a file or beyond 2^31: cut them with source.part")
        return _from_host(job, size, top)
    return _on_device(job, size, top, mesh=mesh)


@partial(jax.jit, static_argnums=(1, 2), static_argnames=("mesh",))
def _on_device(job: Job, size: int, top: int, *, mesh: Mesh | None) -> tuple[Reading, Sums]:
    total = job.source.shape[0]
    if mesh is None:
        return _local(job, Piece(0, total, size, top))
    shares = axes(mesh)[0]

    def function(sources, first, queried):
        queries, own = queried
        local = job.replace(source=sources[0], values=sources[1], queries=queries, own=own)
        return _local(local, Piece(first, total - first, size, top, shares))

    return shard_map_patterns(mesh, function, (job.source, job.values), (job.queries, job.own))


def _local(job: Job, piece: Piece) -> tuple[Reading, Sums]:
    if isinstance(job.separation, Sparsemax | Entmax):
        job = with_threshold(job, lambda job, term: sweep(job, piece, term), jax.lax.while_loop)
    sums = softmax(job) if fits_attention(job, piece) else sweep(job, piece, sums_of)
    return _finish(job, sums), sums


def _from_host(job: Job, size: int, top: int) -> tuple[Reading, Sums]:
    """The same with every pass a walk through the parts of a source that one call can not have."""
    wide = [x.shape[1] for x in (job.source, job.values) if isinstance(x, Mapped)]
    length = min(AT_ONCE, max(size, PART // max(wide)) if wide else WALK)

    def walk(job, term):
        found = None
        for first, part in job.source.parts(length):
            values = None if job.values is None else job.values.part(first, part.shape[0])
            local = job.replace(source=part, values=values)
            sums = _part(local, jnp.asarray(first if top else 0), min(size, part.shape[0]), top, term)
            found = sums if found is None else merged(term, job.separation, found, sums)
        return cast(Any, found)

    def repeat(unsettled, step, state):
        while bool(unsettled(state)):
            state = step(state)
        return state

    if isinstance(job.separation, Sparsemax | Entmax):
        job = with_threshold(job, walk, repeat)
    sums = walk(job, sums_of)
    return _finish(job, sums), sums


@partial(jax.jit, static_argnums=(2, 3, 4))
def _part(job: Job, first, size: int, top: int, term: Callable):
    piece = Piece(first, job.source.shape[0], size, top)
    if term is sums_of and fits_attention(job, piece):
        return softmax(job)
    return sweep(job, piece, term)


def _statistics(sums: Sums, known: bool) -> Statistics:
    stream, target, top = cast(tuple[Stream, Array, tuple[Array, Array]], sums[1:])
    log_z, mean = jax.vmap(LogSumExp().finish)(stream)
    alone = log_z == -jnp.inf  # outside every pattern's support no pattern has a share
    log_z = jnp.where(alone, 0.0, log_z)
    entropy = jnp.where(alone, 0.0, log_z - mean[:, 0])
    weight = jnp.where(alone, 0.0, jnp.exp(target - log_z))
    return Statistics(top[0][:, 0], entropy, weight if known else jnp.full_like(log_z, jnp.nan), *top)


def _finish(job: Job, sums: Sums) -> Reading:
    each = 0 if isinstance(job.separation, Cut) else None
    finish = jax.vmap(lambda separation, stream: separation.finish(stream), (each, 0))
    return Reading(*finish(job.separation, sums.stream))
