"""Singular values of metrics, from the parts that a metric is made of."""

import jax.numpy as jnp
from jaxtyping import Array, Float

from hopfield._arrays import side_by_side
from hopfield._numerics import wide
from hopfield.metrics.composed import BlockDiagonal
from hopfield.metrics.forms import Diagonal, Euclidean, LowRank, Metric, Scaled


def singular_values(metric: Metric) -> Float[Array, "*h N"]:
    """Singular values of a metric in falling order, zero where they are rounding.

    Singular values of WᵀW come from W, with W's digits; entries of a diagonal and blocks round by themselves.
    """
    if isinstance(metric, BlockDiagonal):
        values = side_by_side([singular_values(part) for part in metric.metrics])
        lacking = [(0, 0)] * (values.ndim - 1) + [(0, min(metric.widths) - values.shape[-1])]
        return -jnp.sort(-jnp.pad(values, lacking), axis=-1)
    if isinstance(metric, Diagonal | Euclidean | Scaled):
        return -jnp.sort(-jnp.abs(jnp.diagonal(metric.dense(), axis1=-2, axis2=-1)), axis=-1)
    factor = metric.factor if isinstance(metric, LowRank) else metric.dense()
    values = jnp.linalg.svd(wide(factor), compute_uv=False)
    rounding = values[..., :1] * max(factor.shape[-2:]) * jnp.finfo(values.dtype).eps
    values = jnp.where(values <= rounding, 0.0, values)
    lacking = [(0, 0)] * (values.ndim - 1) + [(0, factor.shape[-1] - values.shape[-1])]
    return jnp.pad(values**2, lacking) if isinstance(metric, LowRank) else values
