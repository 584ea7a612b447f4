"""Attention in numpy and in double precision, written apart from the library's own, for finite differences.

The separations in `WRITTEN` have weights in numpy. Of any other separation, user-defined ones included, JAX gives the
slope of the potential, in JAX's precision: neither its method `weights` nor its Jacobian takes part.
"""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array

from hopfield.metrics import BlockDiagonal, Diagonal, Full, LowRank, Projected, Scaled
from hopfield.separations import (
    Entmax,
    Exponential,
    LogSumExp,
    Normmax,
    Separation,
    SoftmaxOne,
    Sparsemax,
    SteepEntmax,
    TopK,
)

WRITTEN = (Entmax, Exponential, LogSumExp, Normmax, SoftmaxOne, Sparsemax, SteepEntmax, TopK)


def rounding(separation: Separation) -> float:
    """Rounding of the weights, relative to 1."""
    return float(jnp.finfo(np.float64 if type(separation) in WRITTEN else jnp.result_type(float)).eps)


def output_and_weights(
    inputs: dict[str, Any], separation: Separation, mask: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Outputs of attention, and its weights."""
    raw = _form(inputs["metric"], inputs["query"], inputs["key"])
    scores = inputs["beta"][..., None, None] * raw + inputs["bias"]
    z = scores / inputs["temperature"][..., None, None]
    weights = _weights if type(separation) in WRITTEN else _slopes
    p = weights(z, separation, np.broadcast_to(mask, np.broadcast_shapes(z.shape, mask.shape)))
    return p @ inputs["value"], p


def _form(metric: Any, x: np.ndarray, y: np.ndarray) -> Any:
    """Bilinear form x g y of queries and keys in numpy [*b, T, S], the dot product without a metric."""
    match metric:
        case Scaled(scale=scale):
            return scale[..., None, None] * (x @ np.swapaxes(y, -1, -2))
        case Diagonal(entries=entries):
            return (x * entries[..., None, :]) @ np.swapaxes(y, -1, -2)
        case Full(matrix=matrix):
            return x @ matrix @ np.swapaxes(y, -1, -2)
        case LowRank(factor=factor):
            return x @ (np.swapaxes(factor, -1, -2) @ factor) @ np.swapaxes(y, -1, -2)
        case Projected(w_query=wq, w_key=wk, b_query=bq, b_key=bk):
            left = x @ wq + (0.0 if bq is None else bq[..., None, :])
            right = y @ wk + (0.0 if bk is None else bk[..., None, :])
            return left @ np.swapaxes(right, -1, -2)
        case BlockDiagonal(metrics=metrics):
            ends = np.cumsum([(0, 0), *(part.widths for part in metrics)], axis=0)
            pairs = zip(ends[:-1], ends[1:], metrics, strict=True)
            forms = [_form(part, x[..., a[0] : b[0]], y[..., a[1] : b[1]]) for a, b, part in pairs]
            return np.sum(np.broadcast_arrays(*forms), axis=0)
    return x @ np.swapaxes(y, -1, -2)


def _slopes(z: np.ndarray, separation: Separation, mask: np.ndarray) -> np.ndarray:
    """Weights of rows as the slope of their potential. Rows without readable keys are zero."""
    shape = np.broadcast_shapes(z.shape, mask.shape)
    rows, used = (np.broadcast_to(x, shape).reshape(-1, shape[-1]) for x in (z, mask))
    return np.where(mask, np.asarray(_gradients(separation, rows, used), float).reshape(shape), 0.0)


@jax.jit
def _gradients(separation: Separation, rows: Array, used: Array) -> Array:
    return jax.vmap(jax.grad(separation.potential))(rows, used)


def _weights(z: np.ndarray, separation: Separation, mask: np.ndarray) -> np.ndarray:
    """Weights of rows in numpy. Rows without readable keys are zero."""
    z = np.where(mask, z, -np.inf)
    top = np.max(z, axis=-1, keepdims=True)
    z = z - np.where(np.isfinite(top), top, 0.0)
    match separation:
        case Entmax(alpha=alpha):
            a = float(alpha)
            w = _powers(_threshold((a - 1) * z, 1 / (a - 1)), 1 / (a - 1))
        case Sparsemax():
            w = _threshold(z, 1.0)
        case Normmax(alpha=alpha):
            a = float(alpha)
            w = _powers(_threshold(z, a / (a - 1)), 1 / (a - 1))
        case TopK(count=k):
            w = np.where(z >= np.sort(z, axis=-1)[..., -min(int(k), z.shape[-1]), None], np.exp(z), 0.0)
        case Exponential():
            return np.exp(z + np.where(np.isfinite(top), top, 0.0))
        case _:  # softmax, with a score of zero beside them or without
            w = np.exp(z)
    total = np.sum(w, axis=-1, keepdims=True)
    if isinstance(separation, SoftmaxOne):
        total = total + np.exp(-np.where(np.isfinite(top), top, 0.0))
    return w / np.where(total > 0, total, 1.0)


def _powers(u: np.ndarray, exponent: float) -> np.ndarray:
    return np.where(u > 0, np.where(u > 0, u, 1.0) ** exponent, 0.0)


def _threshold(z: np.ndarray, exponent: float) -> np.ndarray:
    """[z − τ]₊ for rows with largest entry 0. τ in [−1, 0] is such that Σ [z − τ]₊^exponent = 1."""
    low, high = np.full((*z.shape[:-1], 1), -1.0), np.zeros((*z.shape[:-1], 1))
    for _ in range(60):
        middle = 0.5 * (low + high)
        below = np.sum(_powers(z - middle, exponent), axis=-1, keepdims=True) < 1
        low, high = np.where(below, low, middle), np.where(below, middle, high)
    return np.maximum(z - 0.5 * (low + high), 0.0)
