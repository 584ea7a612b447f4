"""Arrays whose leading axes broadcast even where their number differs: products of them, biases, rows nobody reads."""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Bool, Float

from hopfield._checks import real_array
from hopfield._numerics import largest, power_of_two


@jax.custom_jvp
def length(square: Float[Array, "*b"]) -> Float[Array, "*b"]:
    """√q with a zero gradient at q = 0. Its square has the first and second derivatives of q there."""
    return jnp.sqrt(square)


@length.defjvp
def _length_jvp(primals, tangents):
    # Its value is kept off zero by much less than rounding, so that 2 √q (√q)′ = q′ at zero as elsewhere.
    (square,), (moved,) = primals, tangents
    floor = float(jnp.finfo(square.dtype).tiny)
    small = square < floor
    root = jnp.where(small, floor**0.5, jnp.sqrt(jnp.where(small, 1.0, square)))
    root = jnp.where(square < 0, jnp.nan, root)
    return root, moved / (2 * root)


def lengths(rows: Float[Array, "*b N"]) -> Float[Array, "*b"]:
    """Lengths of rows at any scale, their squares as smooth as of `length`."""
    scale = power_of_two(largest(jnp.abs(rows), axis=-1, keepdims=True))
    return scale[..., 0] * length(jnp.sum(jnp.square(rows / scale), axis=-1))


def same_rank(a: Array, b: Array) -> tuple[Array, Array]:
    """Both arrays with the same number of axes. The array with fewer axes gets leading ones of length 1."""
    if a.ndim == b.ndim:
        return a, b
    rank = max(a.ndim, b.ndim)
    return a.reshape((1,) * (rank - a.ndim) + a.shape), b.reshape((1,) * (rank - b.ndim) + b.shape)


def with_rank(x: Array, rank: int) -> Array:
    """An array [*b, T, S] with axes of length 1 after its leading ones, `rank` axes in all."""
    return x if rank <= x.ndim else x.reshape((*x.shape[:-2], *(1,) * (rank - x.ndim), *x.shape[-2:]))


def product(a: Array, b: Array) -> Array:
    """Matrix product of the last two axes, the leading ones broadcast even where their number differs."""
    return jnp.matmul(*same_rank(a, b))


def transposed(a: Array) -> Array:
    """The last two axes swapped."""
    return jnp.swapaxes(a, -1, -2)


def block_diagonal(parts: list[Array]) -> Array:
    """Matrices [*h, N_i, K_i] along the diagonal of one [*h, Σ N_i, Σ K_i], their leading axes broadcast."""
    leading = jnp.broadcast_shapes(*(part.shape[:-2] for part in parts))
    width = sum(part.shape[-1] for part in parts)
    rows, before = [], 0
    for part in parts:
        part = jnp.broadcast_to(part, (*leading, *part.shape[-2:]))
        after = width - before - part.shape[-1]
        rows.append(jnp.pad(part, [(0, 0)] * len(leading) + [(0, 0), (before, after)]))
        before += part.shape[-1]
    return jnp.concatenate(rows, axis=-2)


def side_by_side(parts: Sequence[Array]) -> Array:
    """Rows [*h, N_i] side by side [*h, Σ N_i], their leading axes broadcast."""
    leading = jnp.broadcast_shapes(*(part.shape[:-1] for part in parts))
    return jnp.concatenate([jnp.broadcast_to(part, (*leading, part.shape[-1])) for part in parts], axis=-1)


def with_bias(scores: Array, bias: ArrayLike) -> Array:
    """Scores [*b, T, S] plus a bias. ValueError unless it is real numbers [..., T or 1, S or 1] that broadcast."""
    bias = real_array("bias", bias)
    plain, added = same_rank(scores, bias.astype(scores.dtype))
    try:
        fits = jnp.broadcast_shapes(plain.shape, added.shape)[-2:] == scores.shape[-2:]
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(f"bias must broadcast to the scores {list(scores.shape)}, got shape {bias.shape}")
    return plain + added


def unread_as_zero(mask: Array | None, *rows: Array) -> tuple[Array, ...]:
    """Keys or values with zeros in rows that no query may read: a NaN there would spread, as 0 · NaN is NaN."""
    return rows if mask is None else tuple(_read_by_some(jnp.any(mask, axis=-2), x) for x in rows)


def _read_by_some(read: Bool[Array, "*b S"], rows: Array) -> Array:
    read = read.reshape((1,) * (rows.ndim - 1 - read.ndim) + read.shape)
    beyond = read.ndim + 1 - rows.ndim  # leading axes that share these rows, here and those of length 1
    shared = [i for i in range(read.ndim - 1) if i < beyond or rows.shape[i - beyond] == 1]
    read = jnp.any(read, axis=tuple(shared), keepdims=True)
    read = read.reshape(read.shape[beyond:])
    if any(n not in (1, m) for n, m in zip(read.shape, rows.shape[:-1], strict=True)):
        raise ValueError(f"mask must fit the rows {list(rows.shape[:-1])} of keys and values, got {list(read.shape)}")
    return jnp.where(read[..., None], rows, 0.0)


def common_axes(names: str, *leading: tuple[int, ...]) -> tuple[int, ...]:
    """Axes that leading ones of the arrays `names` broadcast to. ValueError unless they do."""
    try:
        return jnp.broadcast_shapes(*leading)
    except ValueError:
        got = ", ".join(map(str, leading))
        raise ValueError(f"leading axes of {names} must broadcast, got {got}") from None
