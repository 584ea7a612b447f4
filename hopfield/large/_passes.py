"""Passes over the patterns: terms of blocks, merged over a piece of the patterns and over the devices."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp
from flax import struct
from jaxtyping import Array

from hopfield import _numerics
from hopfield._numerics import accumulation_dtype, largest, wide
from hopfield._pytrees import Node
from hopfield.attention.blockwise import attend_blockwise
from hopfield.large import mesh
from hopfield.patterns.sources import Source, Stored
from hopfield.separations import LogSumExp
from hopfield.separations.cut import Cut
from hopfield.separations.streams import Blocks, Stream, Streaming
from hopfield.similarities import Dot, Similarity

PASSES = 60
"""Bound of the passes for a threshold; about five are needed."""


class Sums(NamedTuple):
    """Sums over blocks of patterns, for each query."""

    stream: Stream
    spread: Stream | None = None
    """Σ e^ℓ and Σ e^ℓ ℓ of the logarithms ℓ of the weights' sizes."""
    target: Array | None = None
    """ℓ of the query's own pattern, −∞ until it has come."""
    top: tuple[Array, Array] | None = None


class Job(Node):
    """Arguments of a pass: patterns, values that are read out (the patterns if None), queries, and the choices."""

    source: Source
    values: Source | None
    queries: Array
    own: Array | None
    beta: Array
    similarity: Similarity
    separation: Any
    """A `Separation`, or a `Cut` at the threshold of every query."""
    step: bool = struct.field(pytree_node=False, default=False)
    """True if the read-out is `summed` of the similarity, with the sum of the weights appended, as a step needs."""


class ScoredBlock(NamedTuple):
    """Block of B patterns and its scores with Q queries, the input of a term."""

    scores: Array
    """s [Q, B]."""
    z: Array
    """β s [Q, B]."""
    rows: Array
    """The patterns [B, N]."""
    values: Array
    """Values of the patterns, to read out [B, V]."""
    used: Array
    """Mask of the patterns that are no padding [B]."""
    index: Array
    """Their numbers among all patterns [B]."""


class Piece(NamedTuple):
    """The part of the patterns that one device holds, or that a file gives at a time, and how it is walked through."""

    first: Any
    """Index of its first pattern among all."""
    held: Any
    """Number of its patterns: rows at and beyond it are padding."""
    size: int
    """Patterns of a block."""
    top: int
    """Number of the largest scores to keep; with none no statistics, and `first` is not used."""
    shares: int = 1
    """Devices that hold parts, whose sums are to be put together."""


def fits_attention(job: Job, piece: Piece) -> bool:
    """True if `attend_blockwise` reads the same: softmax of dot products of 32 bits, no statistics or padding."""
    arrays = isinstance(job.source, Stored) and isinstance(job.values, Stored | None)
    exact = all(rows is None or accumulation_dtype(rows.dtype) == rows.dtype for rows in (job.source, job.values))
    softmax = not isinstance(job.separation, Cut) and job.separation.is_softmax
    plain = softmax and isinstance(job.similarity, Dot) and not job.step
    return arrays and exact and plain and piece.top == 0 and piece.shares == 1


def softmax(job: Job) -> Sums:
    """Sums of a job that `fits_attention`, read by the block-wise attention."""
    keys = cast(Stored, job.source).array
    values = keys if job.values is None else cast(Stored, job.values).array
    output, potential = attend_blockwise(job.queries, keys, values, beta=job.beta, return_potential=True)
    return Sums(Stream(potential, jnp.ones_like(potential), output))


def scored_block(job: Job, start: Any, size: int, used: Any = True, first: Any = 0) -> ScoredBlock:
    """Patterns start … start + size − 1 of a job and their scores. `first` is the number of the job's first pattern."""
    rows = wide(job.source.rows(start, size))
    values = rows if job.values is None else wide(job.values.rows(start, size))
    if job.step:
        values = job.similarity.summed(rows).astype(job.queries.dtype)
        values = jnp.concatenate([values, jnp.ones((size, 1), values.dtype)], axis=1)
    scores = job.similarity.of_states(job.queries, rows).astype(job.queries.dtype)
    return ScoredBlock(scores, job.beta * scores, rows, values, used, first + start + jnp.arange(size))


def sweep(job: Job, piece: Piece, term: Callable) -> Any:
    """Terms of all blocks of a piece, merged over blocks and over the devices that hold other pieces."""
    merge, count = partial(MERGES[term], job.separation), job.source.shape[0]
    size = min(piece.size, count)
    whole, rest = divmod(count, size)

    @partial(jax.checkpoint, static_argnums=2)
    def block(job, start, size):
        # Where a piece is known to be full there is nothing to mask, and XLA leaves the mask out.
        full = isinstance(piece.held, int) and piece.held >= count
        used = jnp.ones(size, bool) if full else start + jnp.arange(size) < piece.held
        return term(job, scored_block(job, start, size, used, piece.first), piece.top)

    total = block(job, 0, size)
    if whole > 1:
        starts = size * jnp.arange(1, whole)
        total, _ = jax.lax.scan(lambda sums, start: (merge(sums, block(job, start, size)), None), total, starts)
    if rest:
        total = merge(total, block(job, whole * size, rest))
    return mesh.all_merge(merge, total, piece.shares)


def each_query(separation: Blocks) -> int | None:
    """Axis along which a separation is mapped over queries: 0 of a `Cut`, which each has its own of, else None."""
    return 0 if isinstance(separation, Cut) else None


def sums_of(job: Job, block: ScoredBlock, top: int) -> Sums:
    """Partial sums of the read-out of a block for every query and, with `top` scores to keep, of the statistics."""
    each, z, used = (each_query(job.separation), 0), block.z, block.used
    stream = jax.vmap(lambda separation, z: separation.block(z, block.values, used), each)(job.separation, z)
    if not top:
        return Sums(stream)
    log_size = jax.vmap(lambda separation, z: separation.log_sizes(z, used), each)(job.separation, z)
    finite = jnp.where(log_size == -jnp.inf, 0.0, log_size)  # 0 · −∞ where a weight vanishes
    spread = jax.vmap(lambda size, finite: LogSumExp().block(size, finite[:, None]))(log_size, finite)
    mine = used[None, :] & (block.index[None, :] == cast(Array, job.own)[:, None])
    target = largest(jnp.where(mine, log_size, -jnp.inf), axis=1)
    scores, place = _numerics.top_k(jnp.where(used[None, :], z, -jnp.inf), min(top, z.shape[1]))
    missing = ((0, 0), (0, top - scores.shape[1]))
    scores, index = jnp.pad(scores, missing, constant_values=-jnp.inf), jnp.pad(block.index[place], missing)
    return Sums(stream, spread, target, (scores, index))


def merge_sums(separation: Blocks, a: Sums, b: Sums) -> Sums:
    """Sums over the patterns of both blocks, from the sums over each."""
    stream = jax.vmap(separation.merge)(a.stream, b.stream)
    if a.spread is None or b.spread is None or a.top is None or b.top is None:
        return Sums(stream)
    scores, index = (jnp.concatenate(pair, axis=1) for pair in zip(a.top, b.top, strict=True))
    target = jnp.maximum(cast(Array, a.target), cast(Array, b.target))
    top, place = _numerics.top_k(scores, a.top[0].shape[1])
    best = top, jnp.take_along_axis(index, place, axis=1)
    return Sums(stream, jax.vmap(LogSumExp().merge)(a.spread, b.spread), target, best)


def largest_of(job: Job, block: ScoredBlock, top: int) -> Array:
    """The largest score of each query in a block [Q]."""
    return largest(jnp.where(block.used[None, :], block.z, -jnp.inf), axis=1)


def excess_of(job: Job, block: ScoredBlock, top: int) -> Array:
    """Excess: the sum of the weights of a block, and its slope in the logarithm of the largest one [Q, 2]."""
    return jax.vmap(lambda separation, z: separation.excess(z, block.used))(job.separation, block.z)


def fields_of(job: Job, block: ScoredBlock, top: int) -> Any:
    """Partial sums of the local field of every spin of every query."""
    keys = job.similarity.keys(block.rows)

    def field_of_state(state, scores):
        steps = job.similarity.spin_flip(state, -1.0, 1.0, keys)
        return job.separation.field_block(scores, steps, state, job.beta, block.used)

    return jax.vmap(field_of_state)(job.queries, block.scores)


def merge_fields(separation: Streaming, a: Any, b: Any) -> Any:
    """Partial sums of local fields of two disjoint pieces together."""
    return jax.vmap(separation.field_merge)(a, b)


MERGES = {
    sums_of: merge_sums,
    fields_of: merge_fields,
    largest_of: lambda _, a, b: jnp.maximum(a, b),
    excess_of: lambda _, a, b: a + b,
}
"""Merging of two blocks, by kind of term."""


@partial(jax.jit, static_argnums=0)
def merged(term: Callable, separation: Blocks, a: Any, b: Any) -> Any:
    """Result of a term, a key of MERGES, for the patterns of both blocks, from its results for each."""
    return MERGES[term](separation, a, b)


def while_outside(condition: Callable, body: Callable, state: Any) -> Any:
    """Loop that Python runs as `jax.lax.while_loop` would, for a body that no compiled function can hold."""
    while bool(condition(state)):
        state = body(state)
    return state


def with_threshold(job: Job, walk: Callable, repeat: Callable) -> Job:
    """The job with its separation, α-entmax, replaced by `Cut`s at the thresholds of its queries.

    The last step is taken with the derivatives of its pass, which makes the threshold an implicit function of all else.
    """
    fixed = jax.tree.map(lambda x: jax.lax.stop_gradient(x) if jnp.issubdtype(x.dtype, jnp.floating) else x, job)
    top = walk(fixed.replace(separation=LogSumExp()), largest_of)

    def cut(job, log_peak):
        alpha = jnp.full_like(top, job.separation.alpha)
        return Cut(alpha, top, log_peak)

    def newton(job, log_peak):
        cuts = cut(job, log_peak)
        total, slope = walk(job.replace(separation=cuts), excess_of).T
        return jax.vmap(Cut.stepped)(cuts, total, jax.lax.stop_gradient(slope))

    def step(state):
        i, log_peak, _ = state
        stepped = newton(fixed, log_peak)
        return i + 1, stepped, (log_peak - stepped) / (1.0 - stepped)

    def unsettled(state):
        return (state[0] < PASSES) & jnp.any(state[2] > 2 * jnp.finfo(top.dtype).eps)

    start = jnp.int32(0), jnp.zeros_like(top), jnp.full_like(top, jnp.inf)
    log_peak = newton(job, repeat(unsettled, step, start)[1])
    return job.replace(separation=cut(job, log_peak))
