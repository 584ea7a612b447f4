"""Blocks of queries and keys: their lengths, their part of a mask, and the loops over them."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array

from hopfield._arrays import same_rank, with_rank
from hopfield.attention.masks import Mask
from hopfield.attention.plans import plan

Start = int | Array


class Blocks(NamedTuple):
    """Lengths of the blocks of queries and of keys."""

    queries: int
    keys: int


def block_lengths(query: Array, key: Array) -> Blocks:
    """Block lengths of this device for these shapes: all queries at once where they fit beside the plan's keys."""
    leading = max(1, math.prod(jnp.broadcast_shapes(query.shape[:-2], key.shape[:-2])))
    _, _, scores, keys, *_ = plan()
    keys = min(key.shape[-2], keys)
    queries = max(128, scores // (leading * max(keys, 1)))
    if queries * leading * keys > scores:
        keys = min(keys, max(128, scores // (leading * queries)))
    return Blocks(max(1, min(query.shape[-2], queries)), max(1, keys))


def block_mask(mask: Mask | Array | None, row: Start, column: Start, shape: tuple[int, int], rank: int) -> Array | None:
    """The mask of one block of shape (queries, keys) whose first query is `row` and first key `column`."""
    if mask is None:
        return None
    if isinstance(mask, Mask):
        rows, columns = row + jnp.arange(shape[0]), column + jnp.arange(shape[1])
        return with_rank(mask.allows(rows[:, None], columns[None, :]), rank)
    for axis, start, length in ((-2, row, shape[0]), (-1, column, shape[1])):
        if mask.shape[axis] != 1:
            mask = jax.lax.dynamic_slice_in_dim(mask, start, length, mask.ndim + axis)
    return mask


def masked(scores: Array, allowed: Array | None) -> Array:
    """Scores, −∞ where they are not allowed."""
    if allowed is None:
        return scores
    scores, allowed = same_rank(scores, allowed)
    return jnp.where(allowed, scores, -jnp.inf)


def key_blocks(mask: Mask | Array | None, row: Start, size: Blocks, keys: int) -> tuple[Start, Start]:
    """First and last + 1 of the whole blocks of keys that queries row … row + size.queries − 1 may read."""
    count = keys // size.keys
    first, last = mask.reach(row, size.queries) if isinstance(mask, Mask) else (None, None)
    clip = lambda x: min(max(x, 0), count) if isinstance(x, int) else jnp.clip(x, 0, count)
    first = 0 if first is None else clip(first // size.keys)
    return first, count if last is None else clip(last // size.keys + 1)


def over_keys(step: Callable, carry: Any, mask: Mask | Array | None, row: Start, size: Blocks, keys: int) -> Any:
    """Carry after step(carry, column, length) over all blocks of keys in reach, the short one at the end last."""
    first, last = key_blocks(mask, row, size, keys)
    whole = keys // size.keys
    if isinstance(first, int) and isinstance(last, int) and last - first <= 1:  # no loop where nothing repeats
        carry = step(carry, first * size.keys, size.keys) if last > first else carry
    elif whole:
        carry = jax.lax.fori_loop(first, last, lambda i, c: step(c, i * size.keys, size.keys), carry)
    rest = keys - whole * size.keys
    return if_in_reach(step, carry, mask, row, size, whole * size.keys, rest) if rest else carry


def if_in_reach(
    step: Callable, carry: Any, mask: Mask | Array | None, row: Start, size: Blocks, column: int, length: int
) -> Any:
    """Carry after step(carry, column, length); unchanged if the queries from `row` on reach none of these keys."""
    first, last = mask.reach(row, size.queries) if isinstance(mask, Mask) else (None, None)
    reached = True if last is None else last >= column
    if first is not None:
        reached = reached & (first < column + length)
    if isinstance(reached, bool):
        return step(carry, column, length) if reached else carry
    return jax.lax.cond(reached, lambda c: step(c, column, length), lambda c: c, carry)


def over_queries(step: Callable, carry: Any, queries: int, size: Blocks) -> Any:
    """Carry after step(carry, row, length) over all blocks of queries, the short one at the end last."""
    whole = queries // size.queries
    if whole == 1:
        carry = step(carry, 0, size.queries)
    elif whole:
        carry = jax.lax.fori_loop(0, whole, lambda i, c: step(c, i * size.queries, size.queries), carry)
    rest = queries - whole * size.queries
    return step(carry, whole * size.queries, rest) if rest else carry


def take_block(x: Array, start: Start, length: int, axis: int = -2) -> Array:
    """`length` rows from `start` on, along an axis."""
    if x.shape[axis] == length:
        return x
    return jax.lax.dynamic_slice_in_dim(x, start, length, x.ndim + axis)


def put_block(x: Array, part: Array, start: Start, axis: int) -> Array:
    """Array x with `part` in the place of its rows from `start` on, along an axis."""
    if x.shape == part.shape:
        return part
    return jax.lax.dynamic_update_slice_in_dim(x, part, start, x.ndim + axis)


def leading_axes(mask: Mask | Array | None, rank: int) -> tuple[int, ...]:
    """Leading axes of a mask, which broadcast with the leading axes of the scores. ValueError if it has too many."""
    if mask is None:
        return ()
    shape = (
        mask.shape
        if not isinstance(mask, Mask)
        else jax.eval_shape(lambda m: block_mask(m, 0, 0, (1, 1), rank), mask).shape
    )
    if len(shape) > rank:
        raise ValueError(f"mask must have at most the {rank} axes of query and key, got shape {shape}")
    return shape[:-2]
