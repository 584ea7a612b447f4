"""Ring attention: a sequence in pieces over devices, keys and values sent round (Liu et al. 2023, arXiv:2310.01889)."""

from functools import partial

import jax
import jax.numpy as jnp
from jax.sharding import Mesh, PartitionSpec
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from hopfield._arguments import flag, instance, one_of
from hopfield._arrays import same_rank
from hopfield._numerics import wide
from hopfield.attention._arguments import Keys, Rows, inputs, inverse_temperature
from hopfield.attention.blockwise import attend_blockwise
from hopfield.attention.masks import causal


def attend_ring(
    query: Rows,
    key: Keys,
    value: Float[Array, "*b S V"],
    *,
    mesh: Mesh,
    axis: str = "sequence",
    beta: ArrayLike | None = None,
    is_causal: bool = False,
) -> Float[Array, "*b T V"]:
    """softmax(β q k) v, each device with one piece of the queries, keys and values along their axis of tokens.

    Keys and values pass from device to device, and what their pieces read is merged by log-sum-exps, so that a device
    holds the scores of a block. In causal attention it leaves out pieces that come later. A gradient keeps the keys
    and values that passed, no scores.

    Args:
        query, key, value: of one length, which the devices of the axis divide.
        mesh, axis: devices, and the axis of theirs that tokens are spread over.
        beta: inverse temperature > 0, a number or per head; 1/√D if None.
        is_causal: whether a token reads itself and those before it alone.
    Raises:
        ValueError: lengths that differ or that the devices do not divide, or an axis that the mesh lacks.
    """
    query, key, value = inputs(query, key, value, None)
    one_of("axis", axis, instance("mesh", mesh, Mesh).axis_names)
    count, length = mesh.shape[axis], query.shape[-2]
    if {key.shape[-2], value.shape[-2]} != {length} or length % count:
        raise ValueError(f"query, key and value must have one length, a multiple of {count}, got {length} queries")
    query, rate = same_rank(query, inverse_temperature(beta, query)[..., None, None])
    query = (wide(query) * rate).astype(query.dtype)
    return _compiled(query, key, value, mesh, axis, flag("is_causal", is_causal))


@partial(jax.jit, static_argnums=(3, 4, 5))
def _compiled(query: Array, key: Array, value: Array, mesh: Mesh, axis: str, is_causal: bool) -> Array:
    ranks = query.ndim, key.ndim, value.ndim
    *pieces, output = (PartitionSpec(*[None] * (n - 2), axis, None) for n in (*ranks, max(ranks)))
    turn = partial(_read_ring, axis=axis, count=mesh.shape[axis], is_causal=is_causal)
    return jax.shard_map(turn, mesh=mesh, in_specs=tuple(pieces), out_specs=output, check_vma=False)(query, key, value)


def _read_ring(query: Array, key: Array, value: Array, *, axis: str, count: int, is_causal: bool) -> Array:
    """What this device's queries read of all pieces, its own first and then of every device before it."""
    place = jax.lax.axis_index(axis)
    read = partial(attend_blockwise, query, beta=1.0, return_potential=True)
    onward = [(i, (i + 1) % count) for i in range(count)]
    output, total = read(key, value, mask=causal() if is_causal else None)

    def absorb(found: tuple, key: Array, value: Array) -> tuple:
        output, total = found
        piece, mass = read(key, value)
        both = jnp.logaddexp(total, mass)
        shares = (jnp.exp(x - both)[..., None] for x in (total, mass))
        return sum(share * wide(x) for share, x in zip(shares, (output, piece), strict=True)), both

    def turned(carry: tuple, turn: Array) -> tuple:
        found, key, value = carry
        key, value = (jax.lax.ppermute(x, axis, onward) for x in (key, value))
        reads = (turn <= place) | (not is_causal)
        found = jax.lax.cond(reads, absorb, lambda found, key, value: found, found, key, value)
        return (found, key, value), None

    start = ((wide(output), total), key, value)
    (output, _), _, _ = jax.lax.scan(turned, start, jnp.arange(1, count))[0]
    return output.astype(value.dtype)
