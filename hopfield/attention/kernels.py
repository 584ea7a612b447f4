"""Scores beyond bilinear forms: additive scores, and kernels of the distance between query and key."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from hopfield._arguments import positive_array, real_array
from hopfield._arguments import real_vector as check_vector
from hopfield._arrays import length, lengths, same_rank, unread_as_zero
from hopfield._numerics import accumulation_dtype, wide
from hopfield.attention._arguments import Keys, Rows, check_rows, inputs, per_row, squares
from hopfield.attention.core import SOFTMAX, broadcast_with_mask, dense_mask, masked_weights, read
from hopfield.attention.mask_views import MaskLike
from hopfield.metrics import Metric, as_metric


def additive_scores(
    query: Rows,
    key: Keys,
    w_query: Float[Array, "D R"],
    w_key: Float[Array, "K R"],
    vector: Float[Array, "R"],
    bias: Float[Array, "R"] | None = None,
) -> Float[Array, "*b T S"]:
    """S_ij = v · tanh(q_i W_q + k_j W_k + b) (Bahdanau, Cho & Bengio 2015, appendix A.1.2), in memory O(T S R).

    Raises:
        ValueError: a width that does not fit, by name.
    """
    query, key, w_query, w_key, vector = map(
        real_array, ("query", "key", "w_query", "w_key", "vector"), (query, key, w_query, w_key, vector)
    )
    check_vector("vector", vector)
    check_rows("query", query)
    check_rows("key", key)
    for name, rows, projection in (("w_query", query, w_query), ("w_key", key, w_key)):
        if projection.shape != (rows.shape[-1], vector.shape[0]):
            raise ValueError(f"{name} must be [{rows.shape[-1]}, {vector.shape[0]}], got shape {projection.shape}")
    left, right = (wide(query) @ wide(w_query))[..., :, None, :], (wide(key) @ wide(w_key))[..., None, :, :]
    left, right = same_rank(left, right)
    total = left + right
    if bias is not None:
        total = total + jnp.expand_dims(check_vector("bias", real_array("bias", bias), vector), range(total.ndim - 1))
    return jnp.tanh(total) @ vector


def _gaussian(distance: Array) -> Array:
    return -0.5 * distance**2


def kernel_regression(
    query: Rows,
    key: Keys,
    value: Float[Array, "*b S V"],
    *,
    bandwidth: ArrayLike = 1.0,
    log_kernel: Callable[[Array], Array] = _gaussian,
    metric: Metric | ArrayLike | None = None,
    mask: MaskLike = None,
) -> Float[Array, "*b T V"]:
    """Nadaraya–Watson regression, Σ_j κ(‖q − k_j‖/h) v_j / Σ_j κ(‖q − k_j‖/h).

    With the Gaussian kernel and keys of equal norm it is attention at β = 1/h².

    Args:
        bandwidth: h > 0, a number or an array of the leading axes (per head: [H]).
        log_kernel: ln κ as a function of the distance in bandwidths. A query out of the reach of all keys, where κ
            vanishes, reads zero; the Gaussian one, which vanishes nowhere, then reads its nearest key.
        metric: metric of the distance, (q − k) g (q − k) ≥ 0; None for the Euclidean one. Under a trace, where its
            values are not known, a query from which it makes some square negative has the output NaN.
        mask: keys that may be used.
    Raises:
        ValueError: a bandwidth ≤ 0, shapes that do not fit, or a metric that is not positive semidefinite.
    Source: Nadaraya 1964; Watson 1964.
    """
    g = as_metric(metric)
    query, key, value = inputs(query, key, value, g)
    dtype = accumulation_dtype(jnp.promote_types(query.dtype, key.dtype))
    bandwidth = positive_array("bandwidth", bandwidth, dtype, finite=False).astype(dtype)
    mask = dense_mask(mask, (query, key, value), g, (bandwidth,))
    key, value = unread_as_zero(mask, key, value)
    query, key = query.astype(dtype), key.astype(dtype)
    difference = [x[..., None, :] if i == 0 else x[..., None, :, :] for i, x in enumerate((query, key))]
    gap = jnp.subtract(*same_rank(*difference))
    apart = lengths(gap) if g is None else length(squares(g, gap))
    distance, bandwidth = per_row("bandwidth", bandwidth, apart, value)
    distance = distance / bandwidth
    log_kernels = _gaussian_beyond_nearest(distance, mask) if log_kernel is _gaussian else log_kernel(distance)
    return read(masked_weights(log_kernels, SOFTMAX, mask), value)


def _gaussian_beyond_nearest(distance: Array, mask: Array | None) -> Array:
    """Scores −½ (d² − d_least²) of readable keys: the weights of −½ d², which cannot all underflow here."""
    distance, mask = broadcast_with_mask(distance, mask)
    near = distance if mask is None else jnp.where(mask, distance, jnp.inf)
    least = jax.lax.stop_gradient(jnp.min(near, axis=-1, keepdims=True, initial=jnp.inf))
    return -0.5 * (distance - least) * (distance + least)
