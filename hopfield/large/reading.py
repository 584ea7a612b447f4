"""Reading a memory in blocks: potential, read-out and statistics of the weights, over patterns that fit in no memory.

    F(β s), Σ_μ p_μ values_μ, and of the shares |p_μ| / Σ|p|: entropy, weight of a target, the k largest scores

Patterns come from any `Source` and pass through one block at a time; sums of blocks are merged exactly. Separations
that stream need one pass. Sparsemax and entmax need their threshold first, which Newton's iteration finds in a few
passes more (Michelot's for sparsemax): Σ p is convex in τ, so that it never overshoots and ends at the last bit.
"""

from typing import NamedTuple, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh
from jax.typing import ArrayLike
from jaxtyping import Array, Float, Int

from hopfield._arguments import integer, native, real_array
from hopfield._numerics import absent, is_traced, nan_outside, wide
from hopfield.large._parts import Parts, as_parts
from hopfield.large._passes import Job, Sums, fields_of
from hopfield.large._running import (
    Reading,
    block_size,
    is_walked,
    part_sums,
    patterns_at_once,
    patterns_of_a_call,
    run,
    scores_of_all,
    walk,
)
from hopfield.patterns.sources import Source, as_source
from hopfield.separations import LogSumExp
from hopfield.separations.base import nonzero
from hopfield.separations.streams import Stream, Streaming, streaming


class Statistics(NamedTuple):
    """Spread of the weights of Q queries.

    Example:
        >>> from hopfield import Memory, large
        >>> reading, found = large.statistics(Memory(jnp.eye(3), 1e-3), jnp.eye(3), top=2)
        >>> np.round(found.entropy.tolist(), 3).tolist(), found.top_patterns[:, 0].tolist()
        ([1.099, 1.099, 1.099], [0, 1, 2])
    """

    largest: Float[Array, "Q"]
    """The largest score β s."""
    entropy: Float[Array, "Q"]
    """−Σ p ln p of the shares, in nats."""
    target_weight: Float[Array, "Q"]
    """Share of the query's own pattern; NaN without targets, and for a traced one that no pattern has."""
    top_scores: Float[Array, "Q K"]
    top_patterns: Int[Array, "Q K"]


class ReadStatistics(NamedTuple):
    """Reading of Q queries, and how their weights are spread, from the same passes.

    Example:
        >>> from hopfield import Memory, large
        >>> found = large.statistics(Memory(jnp.eye(3), 1e-3), jnp.eye(3))
        >>> found.reading.output.shape, found.statistics.top_patterns.shape
        ((3, 3), (3, 1))
    """

    reading: Reading
    statistics: Statistics


def read(memory: Parts, queries: Float[Array, "Q N"], *, block: int | None = None, mesh: Mesh | None = None) -> Reading:
    """F(β s) and Σ_μ ∇F_μ values_μ of every query, exactly, in memory that does not grow with M.

    Args:
        memory: a `Memory` without mask, whose separation streams or is cut at a threshold (sparsemax, entmax).
        queries: [Q, N]; differentiable, as are stored patterns, values and β.
        block: patterns at a time; chosen from the shapes and the device if None.
        mesh: devices to spread patterns and queries over (`hopfield.large.mesh`).

    Raises:
        ValueError: shapes that do not fit, or a separation that needs all scores at once.
    """
    return run(_job(memory, queries), 0, block, mesh)[0]


def statistics(
    memory: Parts,
    queries: Float[Array, "Q N"],
    *,
    targets: Int[Array, "Q"] | None = None,
    top: int = 1,
    block: int | None = None,
    mesh: Mesh | None = None,
) -> ReadStatistics:
    """Reading of every query, its output the patterns, and how its weights are spread, from the same passes.

    Args:
        memory, queries, block, mesh: as for `read`.
        targets: index of the pattern that each query belongs to, 0 to M − 1.
        top: how many of the largest scores to keep, 1 to M.

    Raises:
        ValueError: as for `read`; more patterns than JAX's integers number, 2^31 unless jax_enable_x64 is set.
    """
    job = _job(memory, queries).replace(values=None)
    count, most = job.source.shape[0], jnp.iinfo(jnp.result_type(int)).max
    if count > most:
        raise ValueError(f"source must have at most {most} patterns to number with jax_enable_x64 off, got {count}")
    if integer("top", top) > count:
        raise ValueError(f"top must be from 1 to the {count} patterns, got {top}")
    indices = own_patterns(np.zeros(len(queries), int) if targets is None else targets, len(queries), count)
    reading, sums = run(job.replace(own=indices), top, block, mesh)
    found = _statistics(sums, (indices >= 0) & (indices < count))
    if targets is None:
        found = found._replace(target_weight=absent(found.target_weight))
    return ReadStatistics(reading, found)


def energy(
    memory: Parts, queries: Float[Array, "Q N"], *, block: int | None = None, mesh: Mesh | None = None
) -> Float[Array, "Q"]:
    """Energy E(x) = R(x) − F(β s)/β of every query [Q]. Arguments as for `read`."""
    job = _job(memory, queries)
    potential = run(job, 0, block, mesh)[0].potential
    return jax.vmap(memory.space.potential)(job.queries) - potential / job.beta


def scores(memory: Parts, queries: Float[Array, "Q N"], *, block: int | None = None) -> Float[Array, "Q M"]:
    """Scores s_μ(x) of every query [Q, M], formed block by block."""
    job = _scores_job(memory, queries).replace(values=None)
    size = patterns_at_once(job, block)
    if not is_walked(job):
        return scores_of_all(job, size)
    parts = (job.replace(source=part) for _, part in job.source.parts(patterns_of_a_call(job, size)))
    return jnp.concatenate([scores_of_all(part, size) for part in parts], axis=1)


def local_field(memory: Parts, queries: Float[Array, "Q N"], *, block: int | None = None) -> Float[Array, "Q N"]:
    """Half the energy each spin of every query would lose by being +1 rather than −1.

    Raises:
        ValueError: a separation that does not stream.
    """
    job = _job(memory, queries).replace(values=None)
    if streaming(job.separation) is None:
        raise ValueError(_unreadable(job.separation, "its fields need all scores at once"))
    size = integer("block", block) if block is not None else block_size(max(len(queries), 16) * job.queries.shape[1])
    if is_walked(job):
        sums = walk(job, fields_of, patterns_of_a_call(job, size), size, 0)
    else:
        sums = part_sums(job, jnp.zeros((), int), size, 0, fields_of)
    fields = jax.vmap(job.separation.field_finish, (0, None))(sums, job.beta)
    return jax.vmap(job.similarity.known_fields)(job.queries, fields)


def moments(
    memory: Parts, queries: Float[Array, "Q N"], *, shares: bool, block: int | None = None
) -> tuple[Float[Array, "Q K"], Float[Array, "Q"]]:
    """Sums Σ_μ p_μ summed_μ and Σ_μ p_μ of every query, which `Similarity.minimiser` makes the next state of.

    Args:
        memory, queries, block: as for `read`.
        shares: read shares of the weights instead of weights.
    """
    job = _job(memory, queries).replace(values=None, step=True)
    if shares:
        job = job.replace(separation=job.separation.share_form)
    output = run(job, 0, block, None)[0].output
    moment, mass = output[:, :-1], output[:, -1]
    return (moment / nonzero(mass)[:, None], mass / nonzero(mass)) if shares else (moment, mass)


def _scores_job(memory: Parts, queries: Float[Array, "Q N"]) -> Job:
    if as_parts(memory).mask is not None:
        raise ValueError("memory must have no mask to be read in blocks, got one")
    source, queries = as_source(memory.patterns), real_array("queries", queries)
    width = memory.similarity.width(source)
    if queries.ndim != 2 or queries.shape[1] != width:
        raise ValueError(f"queries must have shape [Q, {width}], got {queries.shape}")
    _refuse_constants(source, memory.values)
    queries = wide(queries)
    beta = jnp.asarray(memory.beta, queries.dtype)
    values = None if memory.values is None else as_source(memory.values)
    return Job(source, values, queries, None, beta, memory.similarity, memory.separation)


def _job(memory: Parts, queries: Float[Array, "Q N"]) -> Job:
    job = _scores_job(memory, queries)
    if job.separation.by_blocks is None:
        why = (
            "its by_blocks is None" if isinstance(job.separation, Streaming) else "its weights need all scores at once"
        )
        raise ValueError(_unreadable(job.separation, why))
    return job


def _unreadable(separation: object, why: str) -> str:
    """The sentence of an error on a separation that needs more than one block."""
    return f"separation must be one that can be read in blocks, got {type(separation).__name__}: {why}"


def _refuse_constants(*sources) -> None:
    """Check that no compiled function would have every pattern of a file as a constant. TypeError otherwise."""
    walked = any(isinstance(source, Source) and source.walked for source in sources)
    if walked and is_traced(jnp.zeros(()) + 1):  # a constant is traced where all is being compiled, not under vmap
        raise TypeError("patterns in a file or beyond 2^31 must be read outside compiled functions: map with jax.vmap")


def own_patterns(targets: ArrayLike, queries: int, count: int, name: str = "targets") -> Array:
    """Index of every query's own pattern."""
    indices = cast(Array, targets) if is_traced(targets) else native(np.asarray(targets))
    if indices.shape != (queries,) or not jnp.issubdtype(indices.dtype, jnp.integer):
        single = name == "target"
        wanted, shape = ("", indices.shape[1:]) if single else (f" for each of {queries} queries", indices.shape)
        raise ValueError(f"{name} must be one index{wanted}, got {indices.dtype} {shape}")
    if isinstance(indices, np.ndarray) and (strange := indices[(indices < 0) | (indices >= count)]).size:
        raise ValueError(f"{name} must be from 0 to {count - 1}, got {strange[0]}")
    return jnp.asarray(indices)


def _statistics(sums: Sums, known: Array) -> Statistics:
    stream, target, top = cast(tuple[Stream, Array, tuple[Array, Array]], sums[1:])
    log_z, mean = jax.vmap(LogSumExp().finish)(stream)
    alone = log_z == -jnp.inf  # outside every pattern's support no pattern has a share
    log_z = jnp.where(alone, 0.0, log_z)
    entropy = jnp.where(alone, 0.0, log_z - mean[:, 0])
    weight = jnp.where(alone, 0.0, jnp.exp(target - log_z))
    return Statistics(top[0][:, 0], entropy, nan_outside(weight, known), *top)
