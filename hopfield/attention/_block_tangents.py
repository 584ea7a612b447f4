"""Derivatives of block-wise attention: how read-out and log-sum-exp move with the inputs, block by block.

From weights p = e^(s − F) that are formed again, dF = Σ p ds and dO = Σ p ds v + Σ p dv − O dF. This is forward mode.
It is linear in the tangents, and its transpose, which JAX derives of the same loops, is the backward pass of
flash attention: dS = p ∘ (dO vᵀ − rowsum(dO ∘ O) + dF). No block's scores outlive it in either direction.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array

from hopfield._arrays import transposed, unread_as_zero
from hopfield._numerics import KEPT, accumulation_dtype, wide
from hopfield.attention._blocks import Blocks, block_mask, if_in_reach, masked, take_block


def block_scores(query: Array, key: Array, rate: Array | None = None, bias: Array | None = None) -> Array:
    """Scores β q kᵀ + bias [*b, T, S], in the type that sums are carried in."""
    products = jnp.matmul(query, transposed(key), preferred_element_type=accumulation_dtype(query.dtype))
    products = products if rate is None else products * rate
    return products if bias is None else products + bias.astype(products.dtype)


def tangents(primals: tuple, moved: tuple, kept: tuple[Array, Array], size: Blocks) -> tuple[Array, Array]:
    """Tangents of read-out and potential along tangents of the inputs, from F [*b, T, 1] and the read-out."""
    query, key, value, rate, bias, mask = primals
    d_query, d_key, d_value = map(wide, moved[:3])  # their transposes are sums over blocks

    def rows(part: tuple, row: Any, length: int) -> tuple[Array, Array]:
        q, d_q, base, output = part
        step = partial(_moved_by_block, (mask, rate, moved[3], bias, moved[4]), (row, q, d_q, base))
        d_o, d_potential = _over_keys(step, output, (key, value, d_key, d_value), mask, row, size)
        return (d_o - output.astype(d_o.dtype) * d_potential).astype(value.dtype), d_potential

    d_output, d_potential = over_rows(rows, (query, d_query, *kept), size.queries)
    return d_output, d_potential[..., 0]


def _moved_by_block(fixed: tuple, rows: tuple, sums: tuple, keys: tuple, column: Any) -> tuple:
    """Sums Σ p ds v + Σ p dv and Σ p ds [*b, T, 1], with the share of one block of keys added."""
    mask, rate, d_rate, bias, d_bias = fixed
    row, q, d_q, base = rows
    cut: Any = lambda x: block_mask(x, row, column, (q.shape[-2], keys[0].shape[-2]), q.ndim)
    readable = cut(mask)
    dtype = accumulation_dtype(q.dtype)
    k, v, d_k, d_v = unread_as_zero(readable, *keys)
    s = block_scores(q, k)
    scores = s if rate is None else s * rate
    p = jnp.exp(masked(scores if bias is None else scores + cut(bias).astype(s.dtype), readable) - base)
    q, k, v = (x.astype(dtype) for x in (q, k, v))
    d_s = block_scores(d_q, k) + block_scores(q, d_k)
    d_s = d_s if rate is None else d_s * rate + s * d_rate
    d_s = d_s if bias is None else d_s + cut(d_bias).astype(d_s.dtype)
    p, d_p = jnp.broadcast_arrays(p, p * d_s)
    return jax.tree.map(jnp.add, sums, (d_p @ v + p @ d_v, jnp.sum(d_p, axis=-1, keepdims=True)))


def _over_keys(step: Callable, like: Array, keys: tuple, mask: Any, row: Any, size: Blocks) -> tuple:
    """Sums after step(sums, keys, column) over all blocks of keys in reach, in memory of one block."""
    count, whole = keys[0].shape[-2], keys[0].shape[-2] // size.keys
    dtype = accumulation_dtype(like.dtype)
    sums = jnp.zeros(like.shape, dtype), jnp.zeros((*like.shape[:-1], 1), dtype)

    @partial(jax.checkpoint, prevent_cse=False, static_argnums=3)
    def reached(sums, keys, column, width):
        absorb = lambda sums, column, _: step(sums, keys, column)
        return if_in_reach(absorb, sums, mask, row, Blocks(like.shape[-2], size.keys), column, width)

    if whole == 1:
        sums = reached(sums, tuple(take_block(x, 0, size.keys) for x in keys), 0, size.keys)
    elif whole:
        parts = jax.tree.map(partial(split, length=size.keys), keys)
        one = lambda sums, part: (reached(sums, *part, size.keys), None)
        sums, _ = jax.lax.scan(one, sums, (parts, size.keys * jnp.arange(whole)))
    if rest := count - whole * size.keys:
        sums = reached(sums, tuple(take_block(x, whole * size.keys, rest) for x in keys), whole * size.keys, rest)
    return sums


def over_rows(rows: Callable, parts: tuple, length: int) -> Any:
    """Results of rows(parts, row, length) over all blocks of queries, joined; a short one at the end."""
    count, whole = parts[0].shape[-2], parts[0].shape[-2] // length
    found = []
    if whole == 1:
        found.append(rows(jax.tree.map(lambda x: take_block(x, 0, length), parts), 0, length))
    elif whole:
        kept = jax.checkpoint_policies.save_only_these_names(KEPT)
        one = jax.checkpoint(lambda part, row: rows(part, row, length), prevent_cse=False, policy=kept)
        starts = length * jnp.arange(whole)
        blocks = jax.lax.scan(
            lambda _, part: (None, one(*part)), None, (jax.tree.map(partial(split, length=length), parts), starts)
        )[1]
        found.append(jax.tree.map(joined, blocks))
    if rest := count - whole * length:
        found.append(rows(jax.tree.map(lambda x: take_block(x, whole * length, rest), parts), whole * length, rest))
    return jax.tree.map(lambda *x: jnp.concatenate(x, axis=-2), *found) if len(found) > 1 else found[0]


def split(x: Array, length: int) -> Array:
    """The whole blocks of rows (axis −2), along a new first axis."""
    whole = x.shape[-2] // length
    x = take_block(x, 0, whole * length)
    return jnp.moveaxis(x.reshape((*x.shape[:-2], whole, length, x.shape[-1])), -3, 0)


def joined(x: Array) -> Array:
    """Blocks of rows along the first axis as one array of rows."""
    x = jnp.moveaxis(x, 0, -3)
    return x.reshape((*x.shape[:-3], -1, x.shape[-1]))
