"""Arrays: shapes with a name, states, lengths, leading axes that broadcast where ranks differ, products of attention.

Where the derivative of a product is left to JAX, queries × keys are contracted along their first axis: on CPUs XLA does
that on one thread, or copies them. In `row_products`, `weighted_rows` and `softmax_read` the rows of D components are
transposed, and the barriers keep XLA from moving that back to the larger factor.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Bool, Float

from hopfield._arguments import boolean_array, real_array
from hopfield._numerics import largest, power_of_two, saved_for_derivative

Tree = Any
"""Pytree of arrays."""
Scalar = Float[Array, ""]
State = Float[Array, "N"]
Patterns = Float[Array, "M N"]
Scores = Float[Array, "M"]
Mask = Bool[Array, "M"] | None
Known = Bool[Array, "N"] | None
"""Units held fixed."""
Rows = Float[Array, "*b T D"]
Keys = Float[Array, "*b S K"]


def as_known(known, state: State) -> Known:
    """Units held fixed as booleans [N]. None stays None. Raises ValueError for another shape or type."""
    return None if known is None else boolean_array("known", known, real_array("state", state).shape)


def one_state(state: ArrayLike, neurons: int, dtype, name: str = "state") -> State:
    """State [N] of floating type, in at least the precision of `dtype`. ValueError for another shape."""
    if isinstance(state, tuple) and hasattr(state, "state"):  # a corrupted pattern or the end of a retrieval
        raise ValueError(f"{name} must be an array, got {type(state).__name__} (write its .state)")
    array = real_array(name, state, dtype)
    if array.shape != (neurons,):
        raise ValueError(f"{name} must have shape [{neurons}] (batch with jax.vmap), got shape {array.shape}")
    return array.astype(jnp.promote_types(array.dtype, dtype))


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
    """Lengths of rows at any scale; their squares are as smooth as in `length`."""
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
    """Matrix product of the last two axes; leading axes broadcast, also where their number differs."""
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


def _transposed_copy(x: Array) -> Array:
    """A transposed copy of the rows."""
    return jax.lax.optimization_barrier(transposed(x))


@partial(jax.custom_jvp, nondiff_argnums=(2, 3))
def row_products(query: Array, key: Array, precision: Any, dtype: Any) -> Float[Array, "*b T S"]:
    """q_i · k_j of all pairs of rows [*b, T, S], in the type `dtype`."""
    return jnp.matmul(query, transposed(key), precision=precision, preferred_element_type=dtype)


@row_products.defjvp
def _row_products_jvp(precision, dtype, primals, tangents):
    (query, key), (d_query, d_key) = primals, tangents
    multiply = partial(jnp.matmul, precision=precision, preferred_element_type=dtype)
    by_key = transposed(multiply(transposed(_transposed_copy(d_key)), _transposed_copy(query)))
    return multiply(query, transposed(key)), multiply(d_query, transposed(key)) + by_key


@partial(jax.custom_jvp, nondiff_argnums=(2,))
def weighted_rows(weights: Array, value: Array, precision: Any) -> Float[Array, "*b T V"]:
    """Σ_j A_ij v_j [*b, T, V]."""
    return jnp.matmul(weights, value, precision=precision)


@weighted_rows.defjvp
def _weighted_rows_jvp(precision, primals, tangents):
    (weights, value), (d_weights, d_value) = primals, tangents
    multiply = partial(jnp.matmul, precision=precision)
    return multiply(weights, value), multiply(d_weights, value) + _by_value(weights, d_value, multiply)


def _by_value(weights: Array, d_value: Array, multiply: Callable) -> Array:
    """Change of a read-out with its values."""
    return transposed(jax.lax.optimization_barrier(multiply(_transposed_copy(d_value), transposed(weights))))


@partial(jax.custom_jvp, nondiff_argnums=(2,))
def softmax_read(scores: Array, value: Array, precision: Any) -> Float[Array, "*b T V"]:
    """softmax(s) v [*b, T, V]. It is zero, with its derivatives, where all scores of a row are −∞."""
    size, total = _exponentials(scores)
    return jnp.matmul(size, value, precision=precision) / total


@softmax_read.defjvp
def _softmax_read_jvp(precision, primals, tangents):
    (scores, value), (d_scores, d_value) = primals, tangents
    size, total = _exponentials(scores)
    multiply = partial(jnp.matmul, precision=precision)
    output = saved_for_derivative(multiply(size, value) / total)
    moved = size * d_scores
    change = multiply(moved, value) + _by_value(size, d_value, multiply)
    return output, (change - output * jnp.sum(moved, axis=-1, keepdims=True)) / total


def _exponentials(scores: Array) -> tuple[Array, Array]:
    """e^(s − max s) and their sums along the last axis. A row of only −∞ has the sum 1.

    The maximum of XLA on CPUs is −∞ at some shapes for a row of NaN, too.
    """
    top = saved_for_derivative(jax.lax.stop_gradient(jnp.max(scores, axis=-1, keepdims=True, initial=-jnp.inf)))
    size = jax.lax.optimization_barrier(jnp.exp(scores - jnp.where(top == -jnp.inf, 0.0, top)))
    total = saved_for_derivative(jnp.sum(size, axis=-1, keepdims=True))
    return size, jnp.where(total == 0, 1.0, total)
