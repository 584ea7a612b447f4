"""Reading of rows that are searched for their threshold: a block of queries reads all keys, its derivative by blocks.

A row's weights are f(s − τ). The search for τ passes over scores that are held, of one block of queries; what a
derivative keeps of a row is a threshold, Σ u v and Σ u, from which blocks of keys form p and u again, as in flash
attention. Where the search itself is differentiated once more, the block is formed again.
"""

import math
from functools import partial
from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp
from jax.custom_derivatives import SymbolicZero
from jaxtyping import Array

from hopfield._arrays import unread_as_zero
from hopfield._numerics import accumulation_dtype, map_rows
from hopfield.attention._block_tangents import Kept, block_scores, over_rows, tangents
from hopfield.attention._blocks import Blocks, block_mask, leading_axes, masked, over_keys, put_block, take_block
from hopfield.attention.core import by_row
from hopfield.attention.masks import Mask
from hopfield.attention.plans import plan


class Given(NamedTuple):
    """Arrays of one rank, the query with the metric and with β unless there is a rate; mask and separation."""

    query: Array
    key: Array
    value: Array
    rate: Array | None
    mask: Any
    separation: Any


@partial(jax.jit, static_argnums=(1, 2))
def read_rows(rows: Given, size: Blocks, asked: bool) -> tuple:
    """Read-out and, if it is asked for, potential of a separation with a `row_form`; as for `attend_blockwise`."""
    return cast(tuple, _read(rows, size, asked))


@partial(jax.custom_jvp, nondiff_argnums=(1, 2))
def _read(rows: Given, size: Blocks, asked: bool) -> tuple[Array, Array | None]:
    return _searched(rows, size, asked, slopes=False)[:2]


@partial(_read.defjvp, symbolic_zeros=True)
def _read_jvp(size: Blocks, asked: bool, primals: tuple[Given], tangent: tuple[Given]) -> tuple:
    (rows,), (moves,) = primals, tangent
    instance = lambda x: jnp.zeros(x.shape, cast(Any, x).dtype) if isinstance(x, SymbolicZero) else x
    fixed = all(isinstance(x, SymbolicZero) for x in jax.tree.leaves(moves.separation))
    along = None if fixed else jax.tree.map(instance, moves.separation)
    moved = (*jax.tree.map(instance, moves[:4]), along)
    output, potential, kept = _searched(rows, size, asked, along, slopes=True)
    d_output, d_potential = tangents(rows.separation.row_form, rows, moved, kept, size)
    return (output, potential), (d_output, d_potential if asked else None)


def _searched(rows: Given, size: Blocks, asked: bool, along: Any = None, *, slopes: bool) -> tuple:
    """Read-out, potential if asked for, and what a derivative keeps, if `slopes`; `along` moves the separation."""
    query, key, value, rate, mask, separation = rows
    leading = jnp.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2], leading_axes(mask, query.ndim))
    length = min(size.queries, max(16, plan().rows // (max(1, math.prod(leading)) * max(1, key.shape[-2]))))
    whole = not isinstance(mask, Mask) or mask.band == (None, None)
    size = Blocks(length, key.shape[-2] if whole else size.keys)

    def of_block(part: tuple, row: Any, length: int) -> tuple:
        row_size, (q,) = Blocks(length, size.keys), part
        s = _scores(q, key, rate, mask, row, row_size, leading)
        p = by_row(separation.weights, s, None)
        potential = by_row(separation.potential, s, None)[..., None] if asked else None
        if not slopes:
            return _read_out((p,), value, mask, row, row_size)[0].astype(value.dtype), potential, None
        found = separation.row_form.found(separation, s, p)
        u = separation.row_form.slope(separation, s, p, found)
        output, moment = _read_out((p, u), value, mask, row, row_size)
        shared = separation.row_form.shared(output, moment, jnp.sum(u, axis=-1, keepdims=True))
        kept = Kept(found, shared[0], shared[1], _regulariser_moved(separation, along, p))
        return output.astype(value.dtype), potential, kept

    output, potential, kept = over_rows(of_block, (query,), length)
    return output, None if potential is None else potential[..., 0], kept


def _scores(q: Array, key: Array, rate, mask, row: Any, size: Blocks, leading: tuple[int, ...]) -> Array:
    """Scores of a block of queries with all keys [*leading, T, S], −∞ where they are masked."""

    def put(scores, column, width):
        readable = block_mask(mask, row, column, (size.queries, width), q.ndim)
        (k,) = unread_as_zero(readable, take_block(key, column, width))
        block = masked(block_scores(q, k, rate), readable)
        return put_block(scores, jnp.broadcast_to(block, (*leading, *block.shape[-2:])), column, -1)

    empty = jnp.full((*leading, size.queries, key.shape[-2]), -jnp.inf, accumulation_dtype(q.dtype))
    return over_keys(put, empty, mask, row, size, key.shape[-2])


def _read_out(factors: tuple[Array, ...], value: Array, mask, row: Any, size: Blocks) -> tuple[Array, ...]:
    """Sums Σ p v [*b, T, V] of every factor p of a block of queries."""
    dtype = accumulation_dtype(value.dtype)

    def add(sums, column, width):
        readable = block_mask(mask, row, column, (size.queries, width), value.ndim)
        (v,) = unread_as_zero(readable, take_block(value, column, width))
        parts = (take_block(factor, column, width, -1).astype(v.dtype) for factor in factors)
        return tuple(s + jnp.matmul(p, v, preferred_element_type=dtype) for s, p in zip(sums, parts, strict=True))

    empty = jnp.zeros((*factors[0].shape[:-1], value.shape[-1]), dtype)
    return over_keys(add, (empty,) * len(factors), mask, row, size, value.shape[-2])


def _regulariser_moved(separation: Any, along: Any, weights: Array) -> Array | None:
    """Change of F [*b, T, 1] as the separation moves and the weights stay; None if it stays, too."""
    if along is None:
        return None
    of = lambda separation: map_rows(separation._regulariser, [weights], [1])[..., None]
    return jax.jvp(of, (separation,), (along,))[1]
