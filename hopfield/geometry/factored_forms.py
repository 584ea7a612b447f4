"""Heads as bilinear forms of low rank: how far apart two attention heads are.

A head compares x and y by x J y with J = W_Q W_Kᵀ = U Σ Vᵀ: a subspace U for queries, one V for keys and the coupling
strengths Σ, a point of Gr(r, n) × Gr(r, n) × Rʳ. Leading axes *b broadcast. J itself, [n, n], is never formed.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from hopfield._arguments import instance, real_array, real_scalar, shown
from hopfield._arrays import transposed
from hopfield._numerics import accumulation_dtype, safe_norm, wide
from hopfield.geometry.subspaces import grassmann_distance


class FactoredForm(NamedTuple):
    """A bilinear form J = left diag(values) rightᵀ. Build with `factored`.

    Example:
        >>> from hopfield.geometry import factored
        >>> form = factored(jnp.eye(3), 2 * jnp.eye(3))
        >>> form.values.round(4).tolist()
        [2.0, 2.0, 2.0]
    """

    left: Float[Array, "*b n r"]
    """U, orthonormal: where queries are read."""
    values: Float[Array, "*b r"]
    """Σ ≥ 0, descending: how strongly the directions are coupled."""
    right: Float[Array, "*b k r"]
    """V, orthonormal: where keys are read."""


def factored(
    query: ArrayLike, key: ArrayLike, query_bias: ArrayLike | None = None, key_bias: ArrayLike | None = None
) -> FactoredForm:
    """Singular value decomposition of J = W_Q W_Kᵀ from QR of its factors, in O(n r²) instead of O(n³).

    Args:
        query, key: W_Q [*b, n, r] and W_K [*b, k, r] with r ≤ n and r ≤ k, so that q = x W_Q and k = y W_K.
        query_bias, key_bias: [*b, r]; either of them makes J act on vectors with a 1 appended, of shape [n + 1, k + 1].

    Raises:
        ValueError for shapes that do not fit.

    Source: for the appended 1 the block matrix [[W_Q W_Kᵀ, W_Q b_K], [b_Q W_Kᵀ, b_Q·b_K]].
    """
    query, key = real_array("query", query), real_array("key", key)
    if query.ndim < 2 or key.ndim < 2 or query.shape[-1] != key.shape[-1]:
        raise ValueError(f"query and key must be [..., n, r] and [..., k, r], got shapes {query.shape}, {key.shape}")
    if query_bias is not None or key_bias is not None:
        query, key = _with_bias("query_bias", query, query_bias), _with_bias("key_bias", key, key_bias)
    if query.shape[-1] > min(query.shape[-2], key.shape[-2]):
        raise ValueError(f"query and key must have at most as many columns as rows, got {query.shape}, {key.shape}")
    dtype = accumulation_dtype(jnp.promote_types(query.dtype, key.dtype))
    (u, r_query), (v, r_key) = jnp.linalg.qr(query.astype(dtype)), jnp.linalg.qr(key.astype(dtype))
    inner_left, values, inner_right = jnp.linalg.svd(r_query @ transposed(r_key), full_matrices=False)
    return FactoredForm(u @ inner_left, values, v @ transposed(inner_right))


def _with_bias(name: str, weights: Array, bias: ArrayLike | None) -> Array:
    shape = (*weights.shape[:-2], weights.shape[-1])
    bias = jnp.zeros(shape, weights.dtype) if bias is None else real_array(name, bias)
    if bias.shape != shape:
        raise ValueError(f"{name} must have shape {shape}, got {bias.shape}")
    return jnp.concatenate([weights, bias[..., None, :].astype(weights.dtype)], axis=-2)


def product_distance(
    first: FactoredForm, second: FactoredForm, *, weights: tuple[float, float, float] = (1.0, 1.0, 1.0)
) -> Float[Array, "*b"]:
    """d² = w_0 d(U, U')² + w_1 d(V, V')² + w_2 ‖Σ − Σ'‖² on Gr × Gr × Rʳ.

    The terms differ in unit: angles do not grow with the weights of a head, its singular values do. Forms whose
    difference is small can be far apart here, since the order and mixing of near-equal values play no part in J.
    Raises ValueError for forms of different rank and for weights below 0.
    """
    _check_forms(first, second)
    if first.values.shape[-1] != second.values.shape[-1]:
        raise ValueError(f"second must have rank {first.values.shape[-1]}, got {second.values.shape[-1]}")
    parts = (
        grassmann_distance(first.left, second.left),
        grassmann_distance(first.right, second.right),
        safe_norm(jnp.subtract(*jnp.broadcast_arrays(wide(first.values), wide(second.values))), axis=-1),
    )
    contract = "three finite numbers of at least 0"
    if not isinstance(weights, Sequence) or len(weights) != len(parts):
        raise ValueError(f"weights must be {contract}, got {shown(weights)}")
    sizes = [math.sqrt(real_scalar("weights", weight, contract, 0.0)) for weight in weights]
    scaled = [size * part for size, part in zip(sizes, parts, strict=True)]
    return safe_norm(jnp.stack(jnp.broadcast_arrays(*scaled), axis=-1), axis=-1)


def frobenius_distance(first: FactoredForm, second: FactoredForm) -> Float[Array, "*b"]:
    """‖J − J'‖_F, with no cancellation for forms that are nearly equal."""
    return _product_norm(*_difference(first, second))


def data_weighted_distance(
    first: FactoredForm, second: FactoredForm, queries: ArrayLike, keys: ArrayLike | None = None
) -> Float[Array, "*b"]:
    """‖C_q^½ (J − J') C_k^½‖_F with C = XᵀX / T: the root mean square difference of the scores of all pairs of rows.

    Args:
        first, second: forms [n, k] (with biases, the rows need the 1 appended).
        queries: rows X [T, n] that the forms are compared on.
        keys: rows [S, k]; None for the queries.

    Raises:
        ValueError for rows of another width.
    """
    left, right = _difference(first, second)
    sides = []
    for name, rows, side in (("queries", queries, left), ("keys", queries if keys is None else keys, right)):
        rows = wide(real_array(name, rows))
        if rows.ndim != 2 or rows.shape[-1] != side.shape[-2]:
            raise ValueError(f"{name} must be rows [T, {side.shape[-2]}], got shape {rows.shape}")
        # The r factor stands for the rows: ‖X D‖ = ‖R D‖, and R is no larger than the form is wide.
        sides.append(jnp.einsum("tn,...nr->...tr", jnp.linalg.qr(rows, mode="r"), side) / math.sqrt(rows.shape[0]))
    return _product_norm(*sides)


def _check_forms(first: FactoredForm, second: FactoredForm) -> None:
    """Check that both are factored forms. TypeError otherwise."""
    instance("first", first, FactoredForm)
    instance("second", second, FactoredForm)


def _difference(first: FactoredForm, second: FactoredForm) -> tuple[Array, Array]:
    """Factors of J − J' = [U Σ, −U' Σ'] [V, V']ᵀ."""
    _check_forms(first, second)
    if (first.left.shape[-2], first.right.shape[-2]) != (second.left.shape[-2], second.right.shape[-2]):
        widths = (first.left.shape[-2], first.right.shape[-2])
        raise ValueError(f"second must be a form {widths}, got {(second.left.shape[-2], second.right.shape[-2])}")
    first, second = (FactoredForm(*map(wide, form)) for form in (first, second))
    leading = jnp.broadcast_shapes(first.values.shape[:-1], second.values.shape[:-1])
    scaled = (first.left * first.values[..., None, :], -second.left * second.values[..., None, :])
    pairs = (scaled, (first.right, second.right))
    joined = [[jnp.broadcast_to(part, leading + part.shape[-2:]) for part in pair] for pair in pairs]
    return jnp.concatenate(joined[0], axis=-1), jnp.concatenate(joined[1], axis=-1)


@jax.custom_jvp
def _product_norm(a: Array, b: Array) -> Array:
    """‖A Bᵀ‖_F through R factors. Their product is small where A Bᵀ is; a trace of Gram matrices would cancel."""
    small_a, small_b = jnp.linalg.qr(a, mode="r"), jnp.linalg.qr(b, mode="r")
    return safe_norm((small_a @ transposed(small_b)).reshape((*a.shape[:-2], -1)), axis=-1)


@_product_norm.defjvp
def _product_norm_jvp(primals, tangents):
    """d‖D‖ = ⟨D, dD⟩ / ‖D‖ by Gram matrices, since QR has no derivative at dependent columns. It is zero at D = 0."""
    (a, b), (da, db) = primals, tangents
    norm = _product_norm(a, b)
    grams = [transposed(x) @ y for x, y in ((a, a), (a, da), (b, b), (b, db))]
    slope = jnp.sum(grams[1] * grams[2] + grams[0] * grams[3], axis=(-2, -1))
    return norm, jnp.where(norm > 0, slope / jnp.where(norm > 0, norm, 1.0), 0.0)
