"""Masks of attention as predicates of positions, so that they combine and can be evaluated on any block.

    mask = causal() & padding(lengths)          attend(query, key, value, mask=mask)

A mask says which keys j a query i may read. The leading axes of its arrays are sequences, the first axes of the scores:
lengths [B] hold for all heads of scores [B, H, T, S]. `dense` is the array; block-wise attention evaluates `allows` on
the blocks it visits and skips those outside `band`.
"""

import abc
from collections.abc import Callable

import jax
import jax.numpy as jnp
from flax import struct
from jax.typing import ArrayLike
from jaxtyping import Array, Bool, Int

from hopfield._arguments import integer, integer_array
from hopfield._arrays import with_rank
from hopfield._pytrees import Node

Band = tuple[int | None, int | None]
Place = int | Int[Array, ""]


class Mask(Node, abc.ABC):
    """Mask of the keys that a query may read, from their positions alone. Combine with & | ~.

    Example:
        >>> from hopfield import attention
        >>> near = attention.causal() & attention.sliding_window(1)
        >>> near.dense(3, 3).astype(int).tolist()
        [[1, 0, 0], [1, 1, 0], [0, 1, 1]]
    """

    def __bool__(self) -> bool:
        raise TypeError("masks are combined with & | ~ in place of and, or, not; whether one is given is `is None`")

    @property
    def band(self) -> Band:
        """(left, right): query i reads no key outside i − left … i + right. An entry is None without a bound."""
        return None, None

    def reach(self, row: Place, length: int) -> tuple[Place | None, Place | None]:
        """First and last key that the queries row … row + length − 1 may read, or beyond; None without a bound."""
        left, right = self.band
        return None if left is None else row - left, None if right is None else row + length - 1 + right

    @abc.abstractmethod
    def allows(self, rows: Int[Array, "T 1"], columns: Int[Array, "1 S"]) -> Bool[Array, "*b T S"]:
        """True if the query at `rows` may read the key at `columns`. The mask's arrays give the leading axes."""

    def dense(self, queries: int, keys: int, offset: ArrayLike = 0) -> Bool[Array, "*b T S"]:
        """The mask as an array [*b, queries, keys], the first query at position `offset`; checked by `fitting`."""
        readable = self.fitting(keys).allows(
            jnp.asarray(offset) + jnp.arange(queries)[:, None], jnp.arange(keys)[None, :]
        )
        return jnp.broadcast_to(readable, (*readable.shape[:-2], queries, keys))

    def refusal(self, keys: int) -> str | None:
        """Reason why the mask itself, without its operands, does not fit this number of keys. None if it fits."""
        return None

    def fitting(self, keys: int) -> "Mask":
        """The mask, unchanged. ValueError if it, or a part of it, was made for another number of keys."""
        for part in jax.tree.leaves(self, is_leaf=lambda part: isinstance(part, Mask) and bool(part.refusal(keys))):
            if isinstance(part, Mask):
                raise ValueError(part.refusal(keys))
        return self

    def __and__(self, other: "Mask") -> "Mask":
        return Both(_as_mask(self), _as_mask(other))

    def __or__(self, other: "Mask") -> "Mask":
        return Either(_as_mask(self), _as_mask(other))

    def __invert__(self) -> "Mask":
        return Inverse(self)


def _as_mask(mask: object) -> Mask:
    if not isinstance(mask, Mask):
        raise TypeError(f"masks combine with masks, got {type(mask).__name__}; combine arrays after `dense`")
    return mask


def _with_larger_rank(a: Array, b: Array) -> tuple[Array, Array]:
    rank = max(a.ndim, b.ndim)
    return with_rank(a, rank), with_rank(b, rank)


class Both(Mask):
    """Keys that both masks allow."""

    first: Mask
    second: Mask

    @property
    def band(self) -> Band:
        sides = zip(self.first.band, self.second.band, strict=True)
        left, right = (min((x for x in side if x is not None), default=None) for side in sides)
        return left, right

    def reach(self, row: Place, length: int) -> tuple[Place | None, Place | None]:
        (first, last), (second, final) = self.first.reach(row, length), self.second.reach(row, length)
        return _bound(max, jnp.maximum, first, second), _bound(min, jnp.minimum, last, final)

    def allows(self, rows: Int[Array, "T 1"], columns: Int[Array, "1 S"]) -> Bool[Array, "*b T S"]:
        return jnp.logical_and(*_with_larger_rank(self.first.allows(rows, columns), self.second.allows(rows, columns)))


def _bound(known: Callable, traced: Callable, a: Place | None, b: Place | None) -> Place | None:
    if a is None or b is None:
        return b if a is None else a
    return (known if isinstance(a, int) and isinstance(b, int) else traced)(a, b)


class Either(Mask):
    """Keys that at least one of the masks allows."""

    first: Mask
    second: Mask

    @property
    def band(self) -> Band:
        sides = zip(self.first.band, self.second.band, strict=True)
        left, right = (None if None in side else max(side) for side in sides)  # type: ignore[type-var]
        return left, right

    def allows(self, rows: Int[Array, "T 1"], columns: Int[Array, "1 S"]) -> Bool[Array, "*b T S"]:
        return jnp.logical_or(*_with_larger_rank(self.first.allows(rows, columns), self.second.allows(rows, columns)))


class Inverse(Mask):
    """Keys that the mask does not allow."""

    mask: Mask

    def allows(self, rows: Int[Array, "T 1"], columns: Int[Array, "1 S"]) -> Bool[Array, "*b T S"]:
        return ~self.mask.allows(rows, columns)


class Everything(Mask):
    """Keys without exception."""

    def allows(self, rows: Int[Array, "T 1"], columns: Int[Array, "1 S"]) -> Bool[Array, "*b T S"]:
        return jnp.ones(jnp.broadcast_shapes(rows.shape, columns.shape), bool)


class Causal(Mask):
    """Keys j ≤ i."""

    band = property(lambda self: (None, 0))

    def allows(self, rows: Int[Array, "T 1"], columns: Int[Array, "1 S"]) -> Bool[Array, "*b T S"]:
        return columns <= rows


class Window(Mask):
    """Keys i − left ≤ j ≤ i + right."""

    left: int = struct.field(pytree_node=False)
    right: int = struct.field(pytree_node=False)
    band = property(lambda self: (self.left, self.right))

    def allows(self, rows: Int[Array, "T 1"], columns: Int[Array, "1 S"]) -> Bool[Array, "*b T S"]:
        return (columns >= rows - self.left) & (columns <= rows + self.right)


class Strided(Mask):
    """Keys at a multiple of `stride` from the query."""

    stride: int = struct.field(pytree_node=False)

    def allows(self, rows: Int[Array, "T 1"], columns: Int[Array, "1 S"]) -> Bool[Array, "*b T S"]:
        return (columns - rows) % self.stride == 0


class Blocked(Mask):
    """Keys in the query's own block of `size` positions."""

    size: int = struct.field(pytree_node=False)
    band = property(lambda self: (self.size - 1, self.size - 1))

    def allows(self, rows: Int[Array, "T 1"], columns: Int[Array, "1 S"]) -> Bool[Array, "*b T S"]:
        return columns // self.size == rows // self.size


class Prefix(Mask):
    """Keys j ≤ i, and all of the first `length` keys [*b]."""

    length: Int[Array, "*b"]

    def allows(self, rows: Int[Array, "T 1"], columns: Int[Array, "1 S"]) -> Bool[Array, "*b T S"]:
        columns, length = _with_larger_rank(columns, self.length[..., None, None])
        rows, _ = _with_larger_rank(rows, length)
        return (columns <= rows) | (columns < length)


class Global(Mask):
    """The first `count` positions, which read all keys and are read by all queries."""

    count: int = struct.field(pytree_node=False)

    def allows(self, rows: Int[Array, "T 1"], columns: Int[Array, "1 S"]) -> Bool[Array, "*b T S"]:
        return (rows < self.count) | (columns < self.count)


class Lengths(Mask):
    """Keys j < length [*b], the others being padding, by queries i < length alone if `queries`."""

    length: Int[Array, "*b"]
    queries: bool = struct.field(pytree_node=False, default=False)

    def allows(self, rows: Int[Array, "T 1"], columns: Int[Array, "1 S"]) -> Bool[Array, "*b T S"]:
        columns, length = _with_larger_rank(columns, self.length[..., None, None])
        readable = columns < length
        if self.queries:
            readable = readable & (_with_larger_rank(rows, length)[0] < length)
        return jnp.broadcast_to(readable, (*readable.shape[:-2], rows.shape[-2], readable.shape[-1]))


class Valid(Mask):
    """Keys marked True in `valid` [*b, S]."""

    valid: Bool[Array, "*b S"]

    def refusal(self, keys: int) -> str | None:
        marked = self.valid.shape[-1]
        return None if marked == keys else f"valid must have one entry per key, {keys}, got {marked} (axis -1)"

    def allows(self, rows: Int[Array, "T 1"], columns: Int[Array, "1 S"]) -> Bool[Array, "*b T S"]:
        readable = jnp.take(self.valid, columns[0], axis=-1, mode="fill", fill_value=False)[..., None, :]
        return jnp.broadcast_to(readable, (*readable.shape[:-2], rows.shape[-2], readable.shape[-1]))


def everything() -> Everything:
    """Mask that lets every key be read."""
    return Everything()


def causal() -> Causal:
    """Keys up to the query's own position, j ≤ i (first key and first query at position 0)."""
    return Causal()


def sliding_window(left: int, right: int | None = None) -> Window:
    """Keys from `left` ≥ 0 before the query to `right` ≥ 0 after it; `right` = `left` if None, 0 makes it causal."""
    return Window(integer("left", left, 0), integer("right", left if right is None else right, 0))


def strided(stride: int) -> Strided:
    """Keys at distances that are multiples of `stride` ≥ 1 (Child et al. 2019); with & causal() as published."""
    return Strided(integer("stride", stride, 1))


def block(size: int) -> Blocked:
    """Keys in the query's own block of `size` ≥ 1 positions."""
    return Blocked(integer("size", size, 1))


def global_local(count: int, left: int, right: int | None = None) -> Mask:
    """A window around the query, and `count` ≥ 0 first positions that read and are read everywhere (Beltagy 2020)."""
    return Global(integer("count", count, 0)) | sliding_window(left, right)


def prefix(length: ArrayLike) -> Prefix:
    """Causal mask in which every query may also read the first `length` keys, an integer or [*b].

    A length below 0 is refused; traced, it counts as 0.
    """
    return Prefix(integer_array("length", length))


def padding(lengths: ArrayLike, *, queries: bool = False) -> Lengths:
    """Keys before `lengths`, an integer or one per sequence [*b]; with `queries` padded queries read nothing, too.

    A length below 0 is refused; traced, it counts as 0.
    """
    return Lengths(integer_array("lengths", lengths), queries)


def key_padding(valid: Bool[Array, "*b S"]) -> Valid:
    """Keys where `valid` [*b, S] of the sequences *b is True. Raises ValueError unless it is boolean."""
    valid = jnp.asarray(valid)
    if valid.dtype != bool or valid.ndim < 1:
        raise ValueError(f"valid must be boolean [..., S], got {valid.dtype} {valid.shape}")
    return Valid(valid)
