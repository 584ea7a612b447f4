"""Exact softmax attention in blocks: the online log-sum-exp, in memory that does not grow with the product of lengths.

Scores of one block of queries and keys at a time are formed, absorbed and forgotten (Rabe & Staats 2021,
arXiv:2112.05682; Dao et al. 2022, arXiv:2205.14135). The backward pass forms them again from the log-sum-exp.
"""

import contextlib
import math
from functools import partial
from typing import Any, NamedTuple, cast

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Bool, Float

from hopfield._arguments import flag, integer, real_array, shown
from hopfield._arrays import same_rank, unread_as_zero
from hopfield._numerics import accumulation_dtype, largest, power_of_two, safe_norm, wide
from hopfield.attention import _cut_reads, fused
from hopfield.attention._arguments import Keys, Rows, inputs, inverse_temperature, over_temperature
from hopfield.attention._block_tangents import block_scores, over_rows, tangents
from hopfield.attention._blocks import (
    Blocks,
    block_lengths,
    block_mask,
    leading_axes,
    masked,
    over_keys,
    over_queries,
    put_block,
    take_block,
)
from hopfield.attention._fused_rule import How, read_fused
from hopfield.attention.core import by_row
from hopfield.attention.fused import folded, number
from hopfield.attention.mask_views import allowed
from hopfield.attention.masks import Mask
from hopfield.attention.plans import plan
from hopfield.attention.routes import Shapes, here, route
from hopfield.metrics import Metric, as_metric
from hopfield.separations import LogSumExp, Separation, SoftmaxOne, as_separation
from hopfield.separations.exponential import sums_exponentials
from hopfield.separations.streams import Stream


def attend_blockwise(
    query: Rows,
    key: Keys,
    value: Float[Array, "*b S V"],
    *,
    metric: Metric | ArrayLike | None = None,
    beta: ArrayLike | None = None,
    separation: Separation | str = LogSumExp(),
    bias: Float[Array, "*b T S"] | None = None,
    null_score: ArrayLike | None = None,
    mask: Mask | Bool[Array, "*b T S"] | None = None,
    temperature: ArrayLike | None = None,
    blocks: tuple[int, int] | None = None,
    return_potential: bool = False,
) -> Array | tuple[Array, Array]:
    """softmax((β q g k + bias) / temperature) v [*b, T, V], as `attend` computes it, without ever holding all scores.

    Forwards and backwards one block of scores is all the memory beyond inputs and outputs. Blocks of keys that
    the mask's `band` excludes are skipped, which halves the cost of causal attention. Heads that share keys are leading
    axes of length 1 of key and value, never copied. Reverse-mode differentiable in all floating arguments.

    Args:
        query, key, value: leading axes broadcast as in a matrix product.
        metric: bilinear form g; None for the dot product.
        beta: inverse temperature > 0, a number or per head; 1/√D if None, D the width of the queries.
        separation: softmax or another function of the sum of exponentials, "softmax1", "exponential"; or any other,
            "sparsemax", "entmax:1.5", "topk:8": then a block of queries reads all keys at once.
        bias: real numbers added to the scores, broadcast to [*b, T, S], cut block by block.
        null_score: n, the score of what no key owns, with "softmax1" alone, a number or per head; its zero if None.
        mask: True where a key may be read, as for `attend`. A `Mask` is evaluated block by block, an array is cut.
        temperature: T > 0 by which the scores, with bias and n, are divided, a number or per head.
        blocks: lengths (queries, keys) of the blocks; chosen from the shapes if None.
        return_potential: also return F(scores / temperature) [*b, T], of scores less n; of softmax it is −∞ where
            everything is masked.
    Raises:
        ValueError: shapes that do not fit, the mask's included, or β, a temperature or blocks that are not positive.
    """
    metric, chosen = as_metric(metric), as_separation(separation)
    query, key, value = inputs(query, key, value, metric)
    rate = over_temperature(inverse_temperature(beta, query), temperature, query, key, value)
    scale = number(beta, temperature, query.shape[-1])
    if metric is not None:
        query, key = metric.left(query), metric.right(key)
    bare = bias is None and null_score is None
    if null_score is not None and not isinstance(chosen, SoftmaxOne):
        raise ValueError(f"null_score must be left out but with softmax1, got separation {shown(separation)}")
    plain = bare and blocks is None and not flag("return_potential", return_potential)
    how = kernel_of(chosen, (query, key, value), mask, scale) if plain else None
    if how is not None:
        query = query if scale is not None else folded(query, rate)
        return read_fused(query, key, value, mask, how, _read_in_blocks)
    added = [
        None if x is None else _tempered(name, x, temperature) for name, x in (("bias", bias), ("null", null_score))
    ]
    output, potential = _in_blocks(chosen, (query, key, value), (rate, *added), mask, blocks, return_potential)
    output = output.astype(value.dtype)
    return (output, potential) if return_potential else output


def kernel_of(separation: Separation, rows: tuple[Array, Array, Array], mask: Any, scale: float | None) -> How | None:
    """How a kernel of this machine reads queries, keys and values; None where none does.

    A scale of None is one that multiplies the queries.
    """
    reader = route(separation, Shapes(*rows), mask, here(), folded=scale is None)
    scale = 1.0 if scale is None else scale
    if reader == "Triton":
        return _cut_reads.how_of(separation, scale, mask)
    return fused.how_of(scale, mask) if reader == "cuDNN" and fused.taken(Shapes(*rows), mask) else None


def blockwise(separation: Separation) -> bool:
    """True if `attend_blockwise` has the separation: one for all heads."""
    return sums_exponentials(separation) or all(jnp.ndim(leaf) == 0 for leaf in jax.tree.leaves(separation))


def _tempered(name: str, x: ArrayLike, temperature: ArrayLike | None) -> Array:
    """A bias [..., T, S] or null score [*h] over the temperature [*h]."""
    x = wide(real_array(name, x))
    if temperature is None:
        return x
    warmth = jnp.asarray(temperature, x.dtype)
    return jnp.divide(*same_rank(x, warmth if name == "null" else warmth[..., None, None]))


def _in_blocks(separation: Separation, rows: tuple, factors, mask, blocks, asked: bool) -> tuple[Array, Any]:
    """Read-out and potential (None if none was asked for) of rows that a metric has been applied to.

    Factors are β over the temperature, and bias and null score, which may be None.
    """
    rate, bias, null = factors
    if not blockwise(separation):
        raise ValueError(f"separation must be one for all heads in blocks, got {separation}")
    query, key, value = rows
    size, dtype = None if blocks is None else _as_blocks(blocks), jnp.promote_types(query.dtype, key.dtype)
    query, rate = same_rank(query, rate[..., None, None])
    if dtype == accumulation_dtype(dtype):
        query, rate = (wide(query) * rate).astype(dtype), None
    else:  # a product with β would be rounded to 16 bits, or beyond their range
        shape = jnp.broadcast_shapes(query.shape[:-2], rate.shape[:-2])
        query = jnp.broadcast_to(query.astype(dtype), (*shape, *query.shape[-2:]))
        rate = rate.astype(accumulation_dtype(dtype))
    rank = max(query.ndim, key.ndim, value.ndim)
    if isinstance(mask, Mask):
        mask.fitting(key.shape[-2])
    elif mask is not None:  # a slice of one too short would be moved, not refused
        mask = allowed(mask, query.shape[-2], key.shape[-2], rank)
    query, key, value = (x.reshape((1,) * (rank - x.ndim) + x.shape) for x in (query, key, value))
    rate = None if rate is None else rate.reshape((1,) * (rank - rate.ndim) + rate.shape)
    bias = None if bias is None else _of_all_axes(bias, query, key, value)
    size = block_lengths(query, key) if size is None else size
    if not sums_exponentials(separation):
        return _by_queries((query, key, value), rate, bias, mask, separation, size.queries, asked)
    output, potential = cast(tuple[Array, Array], _compiled(query, key, value, rate, bias, mask, size))
    if separation.is_softmax:
        return output, potential
    if null is not None:
        potential = jnp.subtract(*same_rank(potential, null[..., None]))
    whole = Stream(potential[..., None], jnp.ones_like(potential)[..., None], output.astype(potential.dtype))
    potential, output = cast(LogSumExp, separation).finish(whole)
    return output, potential[..., 0]


def _read_in_blocks(query: Array, key: Array, value: Array, mask: Mask | None, how: How) -> Array:
    factors = jnp.asarray(how.scale), None, None
    output, _ = _in_blocks(as_separation(how.separation), (query, key, value), factors, mask, None, False)
    return output.astype(value.dtype)


def _of_all_axes(bias: Array, *rows: Array) -> Array:
    """A bias with as many axes as the rows. ValueError unless it broadcasts to their scores."""
    query, key, _ = rows
    leading, fits = jnp.broadcast_shapes(*(x.shape[:-2] for x in rows)), 2 <= bias.ndim <= query.ndim
    for n, m in zip(bias.shape[::-1], (*leading, query.shape[-2], key.shape[-2])[::-1], strict=False):
        fits = fits and n in (1, m)
    if not fits:
        scores = [*leading, query.shape[-2], key.shape[-2]]
        raise ValueError(f"bias must broadcast to the scores {scores}, got shape {bias.shape}")
    return bias.reshape((1,) * (query.ndim - bias.ndim) + bias.shape)


@partial(jax.jit, static_argnums=(5, 6))
def _by_queries(rows: tuple, rate, bias, mask, separation: Separation, length: int, asked: bool) -> tuple[Array, Any]:
    """Read-out and potential (None if none was asked for) of blocks of queries that read all keys at once.

    A derivative reads every block again, so that the scores of one block are held at a time.
    """
    query, key, value = rows
    leading = jnp.broadcast_shapes(*(x.shape[:-2] for x in rows), leading_axes(mask, query.ndim))
    length = min(length, max(16, plan().rows // max(1, math.prod(leading) * key.shape[-2])))

    def of_block(part: tuple, row: Any, length: int) -> tuple:
        readable = block_mask(mask, row, 0, (length, key.shape[-2]), query.ndim)
        k, v = unread_as_zero(readable, key, value)
        near = block_mask(bias, row, 0, (length, key.shape[-2]), query.ndim)
        s = masked(block_scores(part[0], k, rate, near), readable)
        s = jnp.broadcast_to(s, (*leading, *s.shape[-2:]))
        p = by_row(separation.weights, s, None).astype(v.dtype)
        output = jnp.matmul(p, v, preferred_element_type=accumulation_dtype(v.dtype)).astype(v.dtype)
        return output, by_row(separation.potential, s, None)[..., None] if asked else None

    output, potential = over_rows(of_block, (query,), length)
    return output, None if potential is None else potential[..., 0]


def _as_blocks(blocks: Any) -> Blocks:
    with contextlib.suppress(TypeError, ValueError):
        queries, keys = blocks
        return Blocks(integer("blocks", queries), integer("blocks", keys))
    raise ValueError(f"blocks must be two positive lengths (queries, keys), got {shown(blocks)}")


class _Sums(NamedTuple):
    """Σ e^(s − shift) v, Σ e^(s − shift) and the shift, the largest score so far, of a block of queries."""

    moment: Array
    mass: Array
    shift: Array


def _longest(key: Array) -> Array:
    """Largest norm of the keys, at any scale. The keys share one scale, since one per key would copy them all."""
    scale = power_of_two(jnp.max(jnp.abs(key), axis=(-2, -1), keepdims=True, initial=0.0))
    squares = jnp.sum(jnp.square(key / scale), axis=-1)
    return scale[..., 0] * jnp.sqrt(largest(squares, axis=-1, keepdims=True))


@partial(jax.custom_jvp, nondiff_argnums=(6,))
def _attend(query: Array, key: Array, value: Array, rate, bias, mask, size: Blocks) -> tuple[Array, Array]:
    """Softmax read-out and log-sum-exp. All arrays have one rank, and the query includes the metric.

    The rate is β of queries and keys of 16 bits [*b, 1, 1], None if the query already includes β.

    Where ‖q‖ max‖k‖, without a bias, bounds all scores well within the range of exp, it stands for the running maximum,
    which saves a pass over every block.
    """
    absorbed = partial(_attend_in_blocks, (query, key, value), rate, bias, mask, size)
    if bias is not None or (query.shape[-2] <= size.queries and key.shape[-2] <= size.keys):
        return absorbed(None)
    dtype = accumulation_dtype(query.dtype)
    bound = jnp.multiply(*same_rank(safe_norm(query.astype(dtype), -1), _longest(key.astype(dtype))))
    bound = bound if rate is None else bound * rate[..., 0]
    smallest = float(jnp.finfo(value.dtype).tiny)  # that e^(−2 bound) may be, as a factor of values in their type
    safe = jnp.max(bound, initial=0.0) < min(40.0, -0.5 * np.log(smallest))  # false for NaN, too
    return jax.lax.cond(safe, lambda: absorbed(bound), lambda: absorbed(None))


def _attend_in_blocks(arrays: tuple, rate, bias, mask, size: Blocks, bound) -> tuple[Array, Array]:
    """Read-out and log-sum-exp block by block, exponentials relative to the bound of each query, or to its maximum."""
    query, key, value = arrays
    dtype, queries, keys = accumulation_dtype(query.dtype), query.shape[-2], key.shape[-2]
    leading = jnp.broadcast_shapes(query.shape[:-2], key.shape[:-2], value.shape[:-2], leading_axes(mask, query.ndim))
    bound = None if bound is None else jnp.broadcast_to(bound, (*leading, query.shape[-2]))

    def rows(carry, row, length):
        q = take_block(query, row, length)

        def absorb(sums, column, width):
            readable = block_mask(mask, row, column, (length, width), q.ndim)
            k, v = unread_as_zero(readable, take_block(key, column, width), take_block(value, column, width))
            s = masked(block_scores(q, k, rate, block_mask(bias, row, column, (length, width), q.ndim)), readable)
            shift = sums.shift if bound is not None else jnp.maximum(sums.shift, jnp.max(s, axis=-1))
            base = (
                shift
                if (mask is None and bias is None) or bound is not None
                else jnp.where(shift == -jnp.inf, 0.0, shift)
            )
            # Without the barrier XLA forms the exponentials twice, once for their sum and once for the product.
            p = jax.lax.optimization_barrier(jnp.exp(s - base[..., None]))
            moment, mass = jnp.matmul(p.astype(v.dtype), v, preferred_element_type=dtype), jnp.sum(p, axis=-1)
            if bound is not None:
                return _Sums(sums.moment + moment, sums.mass + mass, shift)
            fade = jnp.exp(sums.shift - base)
            return _Sums(sums.moment * fade[..., None] + moment, sums.mass * fade + mass, shift)

        zero = jnp.zeros((*leading, length), dtype)
        shift = jnp.full_like(zero, -jnp.inf) if bound is None else take_block(bound, row, length, -1)
        start = _Sums(jnp.zeros((*leading, length, value.shape[-1]), dtype), zero, shift)
        sums = over_keys(absorb, start, mask, row, Blocks(length, size.keys), keys)
        empty = sums.mass == 0  # not mass > 0: a mass that is not a number is that of no empty row
        mass = jnp.where(empty, 1.0, sums.mass)
        potential = jnp.where(empty, -jnp.inf, jnp.log(mass) + sums.shift)
        output, potentials = carry
        read = (sums.moment / mass[..., None]).astype(value.dtype)
        return put_block(output, read, row, -2), put_block(potentials, potential, row, -1)

    empty = jnp.zeros((*leading, queries, value.shape[-1]), value.dtype), jnp.zeros((*leading, queries), dtype)
    return over_queries(rows, empty, queries, size)


@_attend.defjvp
def _attend_jvp(size: Blocks, primals: tuple, moved: tuple) -> tuple:
    output, potential = cast(tuple[Array, Array], _attend(*primals, size))
    # What every score of a row has in common: 0 weight, not NaN, where a row reads nothing.
    base = jnp.where(potential == -jnp.inf, jnp.inf, potential)[..., None]
    return (output, potential), tangents(primals, moved[:5], (base, output), size)


_compiled = partial(jax.jit, static_argnums=(6,))(_attend)
