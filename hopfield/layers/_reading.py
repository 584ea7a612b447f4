"""Reading of a layer: the queries' steps and their read-out, all at once or a block of queries at a time.

A query's result depends on no other query, so that every separation, metric, mask, bias and number of steps has a
block-wise path by running block after block. Scores of a block are formed again in the backward pass: one block is all
the memory beyond inputs and outputs.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any, cast

import jax
import jax.numpy as jnp
from flax import struct
from flax.typing import PrecisionLike
from jaxtyping import Array, Float

from hopfield._arrays import same_rank, unread_as_zero, weighted_rows
from hopfield._numerics import KEPT
from hopfield._pytrees import Node
from hopfield.attention import Ring, attend_blockwise, attend_ring
from hopfield.attention.blockwise import blockwise, kernel_of
from hopfield.attention.encodings import Encoding
from hopfield.attention.masks import Mask
from hopfield.attention.plans import plan
from hopfield.layers._draws import Dropout
from hopfield.layers._iteration import KeyMemory, States, fixed_points, iterate
from hopfield.layers._places import place_bias
from hopfield.layers._scope import Scope
from hopfield.metrics import Metric
from hopfield.separations import Separation

CACHED = 2**20
"""Scores of the sequences that a CPU reads at a time."""


class KeyValues(Node):
    """Keys and values by head, memory slots last, and all that it takes to read them with any query."""

    key: Float[Array, "*b H S D"]
    value: Float[Array, "*b H S V"]
    beta: Float[Array, "*h"]
    scope: Scope
    metric: Metric | None = None
    encoding: Encoding | None = None
    dropout: Dropout | None = None
    null_score: Float[Array, "H"] | None = None
    """Score of what no key owns; scores of keys are taken relative to it."""
    score: Callable[[Array], Array] | None = struct.field(pytree_node=False, default=None)
    separation: Separation = struct.field(default=None)  # type: ignore[assignment]
    slots: int = struct.field(pytree_node=False, default=0)
    steps: int = struct.field(pytree_node=False, default=0)
    rtol: float = struct.field(pytree_node=False, default=0.0)
    implicit: bool = struct.field(pytree_node=False, default=False)
    precision: PrecisionLike = struct.field(pytree_node=False, default=None)

    @property
    def keys(self) -> int:
        """Number of keys without the slots."""
        return self.key.shape[-2] - self.slots

    def memory(self, query: States, row: Any = 0) -> KeyMemory:
        """Memory for the given queries, the first of them in `row`, with the mask and bias of these queries."""
        rows = row + jnp.arange(query.shape[-2])
        bias = self.scope.bias
        placed = place_bias(self.encoding, query, self.beta, self.scope, rows, self.keys)
        bias = placed if bias is None else bias if placed is None else jnp.add(*same_rank(bias, placed))
        if self.null_score is not None:
            below = -self.null_score[:, None, None]
            bias = below if bias is None else jnp.add(*same_rank(bias, below))
        mask, bias = self._over_slots(self.scope.allowed(rows, self.keys, query.ndim), True), self._over_slots(bias, 0)
        (key,) = unread_as_zero(mask, self.key)
        how = {"separation": self.separation, "score": self.score, "slots": self.slots, "precision": self.precision}
        return KeyMemory(key, self.beta, mask, bias, self.metric, **how)

    def state(self, memory: KeyMemory, query: States) -> States:
        """States after all update steps but the final read-out."""
        if self.steps == 0:
            return query
        if self.implicit:
            return fixed_points(memory, query, self.steps, self.rtol)
        return iterate(memory, query, self.steps, self.rtol).state

    def read(self, query: States, queries: int, row: Any = 0) -> States:
        """Read-out of the queries from `row` on, of `queries` in all."""
        memory = self.memory(query, row)
        state = self.state(memory, query)
        if self.dropout is None:
            (value,) = unread_as_zero(memory.mask, self.value)
            return memory.read(state, value)
        return self.weighed(memory, state, queries, row)[0]

    def weighed(self, memory: KeyMemory, state: States, queries: int, row: Any = 0) -> tuple[States, Array]:
        """Read-out of states that have made all steps but the reading one, and its weights before dropout."""
        weights = kept = memory.weights(state).astype(self.value.dtype)
        if self.dropout is not None:
            kept = self.dropout.applied(weights, queries, row)
        (value,) = unread_as_zero(memory.mask, self.value)
        return weighted_rows(kept, value, self.precision), weights

    def _over_slots(self, x: Array | None, fill: bool | int) -> Array | None:
        """A mask or bias over the keys, extended over the slots."""
        if x is None or not self.slots:
            return x
        x = jnp.broadcast_to(x, (*x.shape[:-1], self.keys))
        return jnp.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, self.slots)], constant_values=fill)


def known(*shapes: tuple[int, ...]) -> bool:
    """True if all lengths are numbers, and not symbols of a program that `jax.export` makes for any of them."""
    return all(isinstance(length, int) for shape in shapes for length in shape)


def queries_at_once(shape: tuple[int, ...], keys: int, block: int | None) -> int | None:
    """Queries of a block, for queries of this shape [*b, H, T, D]. None means all queries at once."""
    queries, leading = shape[-2], max(1, math.prod(shape[:-2]))
    if block is None:
        at_once, rows, *_ = plan()
        block = queries if leading * queries * keys <= at_once else max(16, rows // (leading * max(keys, 1)))
    return None if block >= queries else block


def sequence_count(shape: tuple[int, ...], keys: int) -> int:
    """Number of sequences that a CPU reads at a time, for queries [*b, H, T, D]: a divisor of their number, or all."""
    limit = max(1, min(shape[0], CACHED // max(1, math.prod(shape[1:-1]) * keys)))
    return next((count for count in range(limit, (limit - 1) // 2, -1) if shape[0] % count == 0), shape[0])


def by_sequence(reading: KeyValues, query: States) -> States:
    """Read-out of all queries. A CPU reads a few sequences at a time, so that their scores stay in its cache.

    There a derivative keeps sums, thresholds and states, and forms the scores again.
    """
    count = sequence_count(query.shape, reading.key.shape[-2])
    alike = query.ndim == reading.key.ndim == reading.value.ndim > 3 and len(query) == len(reading.key)
    if not alike or count >= len(query) or reading.dropout is not None or jax.device_count() > 1:
        return reading.read(query, query.shape[-2])
    return _by_sequence(reading, query, count)


@partial(jax.jit, static_argnames=("count",))
def _by_sequence(reading: KeyValues, query: States, count: int) -> States:
    memory = reading.memory(query)
    (value,) = unread_as_zero(memory.mask, reading.value)
    arrays = {"key": memory.key, "mask": memory.mask, "bias": memory.bias}
    per_sequence = {
        name: x for name, x in arrays.items() if x is not None and x.ndim == query.ndim and len(x) == len(query)
    }

    def read(per_sequence, query, value):
        part = memory.replace(**per_sequence)
        return part.read(reading.state(part, query), value)

    def read_in_loop(*arrays):
        one = jax.checkpoint(read, prevent_cse=False, policy=jax.checkpoint_policies.save_only_these_names(KEPT))
        parts = jax.tree.map(lambda x: x.reshape((-1, count, *x.shape[1:])), arrays)
        reads = jax.lax.scan(lambda _, part: (None, one(*part)), None, parts)[1]
        return reads.reshape((-1, *reads.shape[2:]))

    return jax.lax.platform_dependent(per_sequence, query, value, cpu=read_in_loop, default=read)


def in_blocks(
    function: Callable[[KeyValues, States, Any], tuple[Any, Any]], reading: KeyValues, query: States, length: int | None
) -> tuple[Any, Any]:
    """Results of function(reading, queries, row) over blocks of queries: the first summed, the second put together.

    The reading that a block is given has the mask and bias of its queries. Rows are appended to make the last block
    full: they may read nothing, and what they read is left out.
    """
    if length is None:
        return function(reading, query, 0)
    queries, scope, axis = query.shape[-2], reading.scope, query.ndim - 2
    count = -(-queries // length)
    row_parts = [x if _by_row(x, queries) else None for x in (scope.mask, scope.bias)]
    shared = scope.replace(**{name: None for name, x in zip(("mask", "bias"), row_parts, strict=True) if x is not None})
    shared = shared.replace(count=queries) if count * length > queries else shared

    @partial(jax.checkpoint, prevent_cse=False)
    def read_block(reading: KeyValues, rows, row_parts, row):
        replaced = {name: x for name, x in zip(("mask", "bias"), row_parts, strict=True) if x is not None}
        return function(reading.replace(scope=reading.scope.replace(**replaced)), rows, row)

    def body(total, part):
        summed, results = read_block(reading.replace(scope=shared), *part)
        return jax.tree.map(jnp.add, total, summed), results

    blocks = jax.tree.map(partial(_split_into_blocks, count=count, length=length), (query, row_parts))
    parts = (*blocks, length * jnp.arange(count))
    shapes, _ = jax.eval_shape(read_block, reading.replace(scope=shared), *jax.tree.map(lambda x: x[0], parts))
    total, results = jax.lax.scan(body, jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), shapes), parts)
    return total, jax.tree.map(partial(_join_blocks, axis=axis, queries=queries), results)


def fits_attention(reading: KeyValues) -> bool:
    """True if `attend_blockwise` reads the same: one step of a separation that it has, with masks and biases."""
    scope = reading.scope
    bare = reading.dropout is None and not reading.slots and reading.precision is None
    plain = blockwise(reading.separation) and reading.steps == 0
    plain = plain and reading.score is None
    unbiased = reading.encoding is None or type(reading.encoding).score_bias is Encoding.score_bias
    first = all(isinstance(place, int) and place == 0 for place in (scope.offset, scope.start))
    first = first and scope.positions is None
    lazily = not scope.causal or scope.mask is None or isinstance(scope.mask, Mask)
    return bare and plain and unbiased and first and lazily


def fits_kernel(reading: KeyValues, query: States) -> bool:
    """True if `attend_blockwise` reads the same by a kernel of a GPU, whatever the number of scores."""
    rows, mask = (query, reading.key, reading.value), reading.scope.attention_mask
    bare = reading.scope.bias is None and reading.null_score is None
    return bare and fits_attention(reading) and kernel_of(reading.separation, rows, mask, None) is not None


def fits_ring(reading: KeyValues) -> bool:
    """True if `attend_ring` reads the same with its options."""
    mask = reading.scope.attention_mask
    return reading.scope.bias is None and fits_attention(reading) and (mask is None or isinstance(mask, Mask))


def read_ring(reading: KeyValues, query: States, ring: Ring) -> States:
    """Read-out of `attend_ring`, each device with a piece of the sequence."""
    metric, key = reading.metric, reading.key
    query, key = (query, key) if metric is None else (metric.left(query), metric.right(key))
    mask: Any = reading.scope.attention_mask  # no array: see `fits_ring`
    return attend_ring(query, key, reading.value, ring, beta=reading.beta, mask=mask)


def read_blockwise(reading: KeyValues, query: States) -> States:
    """Read-out of `attend_blockwise`, which skips blocks that a mask leaves out."""
    options = {"metric": reading.metric, "separation": reading.separation, "mask": reading.scope.attention_mask}
    options |= {"bias": reading.scope.bias, "null_score": reading.null_score}
    output = attend_blockwise(query, reading.key, reading.value, beta=reading.beta, **options)  # type: ignore[arg-type]
    return cast(Array, output)


def _by_row(x: Any, queries: int) -> bool:
    """True if an array has one row per query."""
    return x is not None and not isinstance(x, Mask) and x.shape[-2] == queries


def _split_into_blocks(x: Array, *, count: int, length: int) -> Array:
    """Rows (axis −2) in blocks along a new first axis, zeros appended."""
    padding = [(0, 0)] * x.ndim
    padding[-2] = (0, count * length - x.shape[-2])
    x = jnp.pad(x, padding)
    return jnp.moveaxis(x.reshape((*x.shape[:-2], count, length, x.shape[-1])), -3, 0)


def _join_blocks(x: Array, *, axis: int, queries: int) -> Array:
    """Blocks along the first axis, joined along the axis of queries. Appended rows are left out."""
    x = jnp.moveaxis(x, 0, axis)
    return jax.lax.slice_in_dim(x.reshape((*x.shape[:axis], -1, *x.shape[axis + 2 :])), 0, queries, axis=axis)
