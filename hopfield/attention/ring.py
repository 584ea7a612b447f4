"""Ring attention: a sequence in pieces over devices, keys and values sent round (Liu et al. 2023, arXiv:2310.01889)."""

import dataclasses
from functools import partial
from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp
from flax import struct
from jax.sharding import Mesh, PartitionSpec
from jax.typing import ArrayLike
from jaxtyping import Array, Bool, Float, Int

from hopfield._arguments import instance, one_of
from hopfield._arrays import same_rank
from hopfield._numerics import accumulation_dtype, wide
from hopfield.attention._arguments import Keys, Rows, inputs, inverse_temperature
from hopfield.attention._blocks import Blocks, if_in_reach
from hopfield.attention.blockwise import attend_blockwise
from hopfield.attention.mask_views import sequences
from hopfield.attention.masks import Mask, Place


@dataclasses.dataclass(frozen=True)
class Ring:
    """Devices that tokens are spread over: a mesh, its axis of tokens, and its axis of sequences if there is one.

    Raises:
        ValueError: an axis that the mesh lacks.

    Example:
        >>> from hopfield.attention import Ring
        >>> Ring(jax.make_mesh((1,), ("sequence",))).count
        1
    """

    mesh: Mesh
    axis: str = "sequence"
    batch_axis: str | None = None

    def __post_init__(self) -> None:
        names = instance("mesh", self.mesh, Mesh).axis_names
        one_of("axis", self.axis, names)
        if self.batch_axis is not None:
            one_of("batch_axis", self.batch_axis, tuple(name for name in names if name != self.axis))

    @property
    def count(self) -> int:
        """Number of pieces of a sequence."""
        return self.mesh.shape[self.axis]

    @property
    def batches(self) -> int:
        """Number of pieces of the first axis of arrays."""
        return 1 if self.batch_axis is None else self.mesh.shape[self.batch_axis]


def attend_ring(
    query: Rows,
    key: Keys,
    value: Float[Array, "*b S V"],
    ring: Ring,
    *,
    beta: ArrayLike | None = None,
    mask: Mask | None = None,
) -> Float[Array, "*b T V"]:
    """softmax(β q k) v, each device with one piece of the queries, keys and values along their axis of tokens.

    Keys and values pass from device to device, and what their pieces read is merged by log-sum-exps, so that a device
    holds the scores of a block. Pieces that a mask leaves out are not read; of causal masks a device holds a piece near
    the start and one near the end, so that all have the same to do (zig-zag), where 2 · devices divide the length. A
    gradient keeps the keys and values that passed, no scores.

    Args:
        query, key, value: of one length, which the devices of the ring divide. With a batch axis their first axis is
            spread over its devices, which divide its length.
        ring: the devices.
        beta: inverse temperature > 0, a number or per head; 1/√D if None.
        mask: keys that a query may read, as `causal() & padding(lengths) & segments(ids)`. A query without any gets
            zeros.
    Raises:
        ValueError: lengths that differ or that the devices do not divide, or a mask that does not fit.
    """
    query, key, value = inputs(query, key, value, None)
    instance("ring", ring, Ring)
    length, rank = query.shape[-2], max(x.ndim for x in (query, key, value))
    if {key.shape[-2], value.shape[-2]} != {length} or length % ring.count:
        raise ValueError(f"query, key and value must have one length, a multiple of {ring.count}, got {length} queries")
    if mask is not None:
        instance("mask", mask, Mask).fitting(length)
        leading = jnp.broadcast_shapes(*(x.shape[:-2] for x in (query, key, value)))
        sequences(mask, rank - 2, leading)
    query, rate = same_rank(query, inverse_temperature(beta, query)[..., None, None])
    query = (wide(query) * rate).astype(query.dtype)
    if ring.batch_axis is not None:
        for name, x in (("query", query), ("key", key), ("value", value)):
            if x.ndim != rank or rank < 3 or (x.shape[0] > 1 and x.shape[0] % ring.batches):
                shape = f"a first axis that {ring.batches} devices divide"
                raise ValueError(f"{name} must have the axes of all, and {shape}, got shape {x.shape}")
    return _compiled(query, key, value, mask, ring)


class Moved(Mask):
    """A mask of whole sequences at places from `row` and `column` on, of one of the `pieces` of the sequences."""

    mask: Mask
    row: Int[Array, ""]
    column: Int[Array, ""]
    piece: Int[Array, ""] | int = 0
    pieces: int = struct.field(pytree_node=False, default=1)

    def fitting(self, keys: int) -> Mask:
        return self  # the whole mask was checked, a piece of its keys is read

    def reach(self, row: Place, length: int) -> tuple[Place | None, Place | None]:
        ends = self.mask.reach(self.row + row, length)  # type: ignore[arg-type]
        first, last = (None if end is None else end - self.column for end in ends)
        return first, last

    def allows(self, rows: Int[Array, "T 1"], columns: Int[Array, "1 S"]) -> Bool[Array, "*b T S"]:
        found = self.mask.allows(rows + self.row, columns + self.column)
        if self.pieces == 1 or found.ndim == 2 or found.shape[0] == 1:
            return found
        size = found.shape[0] // self.pieces
        return jax.lax.dynamic_slice_in_dim(found, self.piece * size, size)


class _Found(NamedTuple):
    """Read-out of a chunk of queries so far, and the log-sum-exp of its scores."""

    output: Array
    total: Array


@partial(jax.jit, static_argnums=(4,))
def _compiled(query: Array, key: Array, value: Array, mask: Mask | None, ring: Ring) -> Array:
    rows = query, key, value

    def spec(shape: tuple[int, ...]) -> PartitionSpec:
        first = (ring.batch_axis if shape[0] > 1 else None,) if len(shape) > 2 else ()
        return PartitionSpec(*first, *[None] * (len(shape) - 2 - len(first)), ring.axis, None)

    shape = (*jnp.broadcast_shapes(*(x.shape[:-2] for x in rows)), query.shape[-2], value.shape[-1])
    folded = mask is not None and mask.band[1] is not None and query.shape[-2] % (2 * ring.count) == 0
    turn = partial(_read_ring, ring=ring, folded=folded)
    specs = (*(spec(x.shape) for x in rows), PartitionSpec())
    return jax.shard_map(turn, mesh=ring.mesh, in_specs=specs, out_specs=spec(shape), check_vma=False)(*rows, mask)


def _read_ring(query: Array, key: Array, value: Array, mask: Mask | None, *, ring: Ring, folded: bool) -> Array:
    """Read-out of this device's chunks of queries, from its own chunks first and then from every device before it."""
    place, count, length = jax.lax.axis_index(ring.axis), ring.count, query.shape[-2]
    cut = partial(_dealt, ring=ring) if folded else lambda x: x[None]
    chunks, width = cut(query), length // (1 + folded)
    onward = [(i, (i + 1) % count) for i in range(count)]
    starts = lambda device: [device * width, (2 * count - 1 - device) * width][: 1 + folded]
    first = 0 if ring.batch_axis is None else jax.lax.axis_index(ring.batch_axis)

    def absorbed(found: list[_Found], pieces: tuple[Array, Array], device: Array) -> list[_Found]:
        for column, key, value in zip(starts(device), *pieces, strict=True):
            for i, row in enumerate(starts(place)):
                moved = None if mask is None else Moved(mask, row, column, first, ring.batches)
                step = partial(_absorb, rows=(chunks[i], key, value), mask=moved)
                found[i] = if_in_reach(step, found[i], moved, 0, Blocks(width, width), 0, width)
        return found

    def turned(carry: tuple, turn: Array) -> tuple:
        found, pieces = carry
        pieces = jax.tree.map(lambda x: jax.lax.ppermute(x, ring.axis, onward), pieces)
        return (absorbed(list(found), pieces, (place - turn) % count), pieces), None

    leading, dtype = jnp.broadcast_shapes(*(x.shape[:-2] for x in (query, key, value))), accumulation_dtype(query.dtype)
    nothing = _Found(jnp.zeros((*leading, width, value.shape[-1]), dtype), jnp.full((*leading, width), -jnp.inf, dtype))
    pieces = cut(key), cut(value)
    start = absorbed([nothing] * len(chunks), pieces, place), pieces
    found = jax.lax.scan(turned, start, jnp.arange(1, count))[0][0]
    output = jnp.stack([x.output for x in found])
    return (_gathered(output, ring) if folded else output[0]).astype(value.dtype)


def _absorb(found: _Found, *_: Any, rows: tuple[Array, Array, Array], mask: Moved | None) -> _Found:
    """Sums of a chunk of queries after a further chunk of keys."""
    piece, mass = cast(tuple, attend_blockwise(*rows, beta=1.0, mask=mask, return_potential=True))
    largest = jax.lax.stop_gradient(jnp.maximum(found.total, mass))
    base = jnp.where(largest == -jnp.inf, 0.0, largest)  # of a query that has read no key
    parts = [jnp.exp(x - base) for x in (found.total, mass)]
    whole = parts[0] + parts[1]
    safe = jnp.where(whole == 0, 1.0, whole)
    shares = [(part / safe)[..., None] for part in parts]
    output = shares[0] * found.output + shares[1] * piece.astype(found.output.dtype)
    return _Found(output, jnp.where(whole == 0, -jnp.inf, jnp.log(safe) + base))


def _routes(ring: Ring) -> list[list[tuple[int, int]]]:
    """Devices of the even and of the odd ones of 2 n chunks: c for chunk c, or 2 n − 1 − c if that is less."""
    n = ring.count
    return [[(i, min(c, 2 * n - 1 - c)) for i, c in enumerate(range(odd, 2 * n, 2))] for odd in (0, 1)]


def _dealt(x: Array, ring: Ring) -> Array:
    """Chunks d and 2 n − 1 − d of device d, along a new first axis, of its chunks 2 d and 2 d + 1."""
    halves = jnp.split(x, 2, axis=-2)
    even, odd = (jax.lax.ppermute(half, ring.axis, route) for half, route in zip(halves, _routes(ring), strict=True))
    return _ordered(even, odd, ring)


def _gathered(chunks: Array, ring: Ring) -> Array:
    """The contrary of `_dealt`."""
    back = [[(there, here) for here, there in route] for route in _routes(ring)]
    even, odd = _ordered(chunks[0], chunks[1], ring)
    return jnp.concatenate(
        [jax.lax.ppermute(x, ring.axis, route) for x, route in zip((even, odd), back, strict=True)], -2
    )


def _ordered(even: Any, odd: Any, ring: Ring) -> Array:
    """Both chunks of a device, exchanged where the number of the device is odd, whose first chunk is."""
    straight = jax.lax.axis_index(ring.axis) % 2 == 0
    return jnp.stack([jnp.where(straight, even, odd), jnp.where(straight, odd, even)])
