"""Reading of rows that are searched for their threshold: a block of queries reads all keys, its derivative by blocks.

A row's weights are f(s − τ). The search for τ passes over scores that are held, of one block of queries; what a
derivative keeps of a row is a threshold, Σ u v and Σ u, from which blocks of keys form p and u again, as in flash
attention. In derivatives of higher order the threshold moves by its own constraint: JAX differentiates through a search
in a loop, in place of its rule, where that loop stands in a rule itself.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp
from jax.custom_derivatives import SymbolicZero
from jaxtyping import Array

from hopfield._arrays import unread_as_zero
from hopfield._numerics import accumulation_dtype, is_traced, map_rows
from hopfield.attention._block_tangents import Kept, block_scores, over_rows, tangents
from hopfield.attention._blocks import Blocks, block_mask, if_in_reach, leading_axes, masked, put_block, take_block
from hopfield.attention.core import by_row
from hopfield.attention.masks import Mask
from hopfield.attention.plans import plan
from hopfield.separations.row_forms import RowForm


class Given(NamedTuple):
    """Arrays of one rank, the query with the metric and with β unless there is a rate; mask and separation."""

    query: Array
    key: Array
    value: Array
    rate: Array | None
    mask: Any
    separation: Any


class How(NamedTuple):
    """Lengths of blocks, whether the potential is asked for, and whether the separation has no derivative."""

    size: Blocks
    asked: bool
    quick: bool


def read_rows(rows: Given, size: Blocks, asked: bool) -> tuple:
    """Read-out and, if it is asked for, potential of a separation with a `row_form`; as for `attend_blockwise`."""
    return _compiled(rows, How(size, asked, not is_traced(rows.separation)))


@partial(jax.jit, static_argnums=1)
def _compiled(rows: Given, how: How) -> tuple:
    return cast(tuple, _read(rows, how))


@partial(jax.custom_jvp, nondiff_argnums=(1,))
def _read(rows: Given, how: How) -> tuple[Array, Array | None]:
    return _searched(rows, how, slopes=False)[:2]


@partial(_read.defjvp, symbolic_zeros=True)
def _read_jvp(how: How, primals: tuple[Given], tangent: tuple[Given]) -> tuple:
    (rows,), (moves,) = primals, tangent
    instance = lambda x: jnp.zeros(x.shape, cast(Any, x).dtype) if isinstance(x, SymbolicZero) else x
    fixed = all(isinstance(x, SymbolicZero) for x in jax.tree.leaves(moves.separation))
    along = None if fixed else jax.tree.map(instance, moves.separation)
    moved = (*jax.tree.map(instance, moves[:4]), along)
    output, potential, kept = _searched(rows, how, along, slopes=True)
    d_output, d_potential = tangents(_form(rows, how), rows, moved, kept, how.size)
    return (output, potential), (d_output, d_potential if how.asked else None)


def _form(rows: Given, how: How) -> RowForm:
    return type(rows.separation.row_form)(how.quick)


def _searched(rows: Given, how: How, along: Any = None, *, slopes: bool) -> tuple:
    """Read-out, potential if asked for, and what a derivative keeps, if `slopes`; `along` moves the separation."""
    query, key, value, rate, mask, separation = rows
    size, asked, _ = how
    form = _form(rows, how)
    leading = jnp.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2], leading_axes(mask, query.ndim))
    length = min(size.queries, max(16, plan().rows // (max(1, math.prod(leading)) * max(1, key.shape[-2]))))
    whole = not isinstance(mask, Mask) or mask.band == (None, None)
    size = Blocks(length, key.shape[-2] if whole else size.keys)

    def of_block(part: tuple, row: Any, length: int) -> tuple:
        row_size, (q,) = Blocks(length, size.keys), part
        s = _scores(q, key, rate, mask, row, row_size, leading)
        if not slopes:
            p = by_row(separation.weights, s, None)
            potential = by_row(separation.potential, s, None)[..., None] if asked else None
            return _read_out((p,), value, mask, row, row_size)[0].astype(value.dtype), potential, None
        still, scores = jax.lax.stop_gradient((separation, s))
        found = form.found(separation, s, by_row(still.weights, scores, None))
        p = form.weights(separation, s, found)
        u = form.slope(separation, s, p, found)
        output, moment = _read_out((p, u), value, mask, row, row_size)
        shared = form.shared(output, moment, jnp.sum(u, axis=-1, keepdims=True))
        potential = form.potential(separation, s, p) if asked else None
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
    return _over_keys(put, empty, mask, row, size, key.shape[-2])


def _read_out(factors: tuple[Array, ...], value: Array, mask, row: Any, size: Blocks) -> tuple[Array, ...]:
    """Sums Σ p v [*b, T, V] of every factor p of a block of queries."""
    dtype = accumulation_dtype(value.dtype)

    def add(sums, column, width):
        readable = block_mask(mask, row, column, (size.queries, width), value.ndim)
        (v,) = unread_as_zero(readable, take_block(value, column, width))
        parts = (take_block(factor, column, width, -1).astype(v.dtype) for factor in factors)
        return tuple(s + jnp.matmul(p, v, preferred_element_type=dtype) for s, p in zip(sums, parts, strict=True))

    empty = jnp.zeros((*factors[0].shape[:-1], value.shape[-1]), dtype)
    return _over_keys(add, (empty,) * len(factors), mask, row, size, value.shape[-2])


def _over_keys(step: Callable, carry: Any, mask, row: Any, size: Blocks, keys: int) -> Any:
    """Carry after step(carry, column, length) over all blocks of keys in reach, in a loop of known length.

    It is differentiated backwards where the derivative of `read_rows` is; one of `over_keys` could not be.
    """
    whole = keys // size.keys
    reached = lambda carry, column, length: if_in_reach(step, carry, mask, row, size, column, length)
    if whole == 1:
        carry = reached(carry, 0, size.keys)
    elif whole:
        one = lambda carry, column: (reached(carry, column, size.keys), None)
        carry, _ = jax.lax.scan(one, carry, size.keys * jnp.arange(whole))
    return reached(carry, whole * size.keys, rest) if (rest := keys - whole * size.keys) else carry


def _regulariser_moved(separation: Any, along: Any, weights: Array) -> Array | None:
    """Change of F [*b, T, 1] as the separation moves and the weights stay; None if it stays, too."""
    if along is None:
        return None
    of = lambda separation: map_rows(separation._regulariser, [weights], [1])[..., None]
    return jax.jvp(of, (separation,), (along,))[1]
