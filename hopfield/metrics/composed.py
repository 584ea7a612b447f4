"""Metrics made of parts: query and key projections, with biases, and blocks of components with a metric each."""

import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from hopfield._arguments import real_rows
from hopfield._arrays import block_diagonal, product, same_rank, side_by_side, transposed
from hopfield._pytrees import changed, fill
from hopfield.metrics.forms import Metric, Rows, checked


class Projected(Metric):
    """x g y = (x W_q + b_q) · (y W_k + b_k), the form that query and key projections define.

    With biases it is bilinear in (x, 1) and (y, 1), with the matrix [[W_q W_kᵀ, W_q b_k], [b_q W_kᵀ, b_q · b_k]]
    that `dense` returns. Biases and projections are of one width R.

    Example:
        >>> from hopfield import metrics
        >>> metrics.Projected(jnp.ones((2, 1)), jnp.ones((3, 1))).dense().tolist()
        [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]
    """

    w_query: Float[Array, "*h N R"]
    w_key: Float[Array, "*h K R"]
    b_query: Float[Array, "*h R"] | None = None
    b_key: Float[Array, "*h R"] | None = None

    def __post_init__(self) -> None:
        fill(
            self, w_query=checked("w_query", self.w_query, 2, ", N, R"), w_key=checked("w_key", self.w_key, 2, ", K, R")
        )
        for name in ("b_query", "b_key"):
            if (bias := getattr(self, name)) is not None:
                fill(self, **{name: checked(name, bias, 1, ", R")})
        rank = self.w_query.shape[-1]
        for name in ("w_key", "b_query", "b_key"):
            array = getattr(self, name)
            if array is not None and array.shape[-1] != rank:
                raise ValueError(f"{name} must have w_query's R={rank}, got {array.shape[-1]} (axis -1)")

    widths = property(lambda self: (self.w_query.shape[-2], self.w_key.shape[-2]))
    affine = property(lambda self: self.b_query is not None or self.b_key is not None)

    def _left(self, x: Rows) -> Rows:
        return _project(x, self.w_query, self.b_query)

    def _right(self, y: Rows) -> Rows:
        return _project(y, self.w_key, self.b_key)

    def dense(self) -> Float[Array, "*h N K"]:
        left, right = self.w_query, self.w_key
        if self.affine:
            left, right = _with_bias(left, self.b_query), _with_bias(right, self.b_key)
        return product(left, transposed(right))


def _project(rows: Rows, w: Array, b: Array | None) -> Rows:
    projected_rows = product(rows, w)
    if b is None:
        return projected_rows
    projected_rows, b = same_rank(projected_rows, b[..., None, :])
    return projected_rows + b


def _with_bias(w: Array, b: Array | None) -> Array:
    """Weights [*h, N, R] with the bias, or zeros, as row N + 1."""
    row = jnp.zeros((*w.shape[:-2], 1, w.shape[-1]), w.dtype) if b is None else b[..., None, :]
    leading = jnp.broadcast_shapes(w.shape[:-2], row.shape[:-2])
    parts = [jnp.broadcast_to(part, (*leading, *part.shape[-2:])) for part in (w, row)]
    return jnp.concatenate(parts, axis=-2)


class BlockDiagonal(Metric):
    """x g y = Σ_i x_i g_i y_i of one or more metrics without biases, over consecutive blocks of components.

    Example:
        >>> from hopfield import metrics
        >>> metrics.BlockDiagonal(metrics.Euclidean(1), metrics.Scaled(1, 2.0)).dense().tolist()
        [[1.0, 0.0], [0.0, 2.0]]
    """

    metrics: tuple[Metric, ...]

    def __init__(self, *metrics: Metric) -> None:
        if not metrics:
            raise ValueError("metrics must name at least one metric, got none")
        for part in metrics:
            if not isinstance(part, Metric) or part.affine:
                raise ValueError(f"metrics must be metrics without biases, got {part}")
        fill(self, metrics=metrics)

    replace = changed
    widths = property(lambda self: tuple(map(sum, zip(*(part.widths for part in self.metrics), strict=True))))
    symmetric = property(lambda self: all(part.symmetric for part in self.metrics))
    positive = property(lambda self: all(part.positive for part in self.metrics))

    def split(self, rows: Rows, side: int) -> list[Rows]:
        """Rows cut into the blocks of the left (side 0) or the right (side 1)."""
        ends = np.cumsum([part.widths[side] for part in self.metrics])[:-1]
        return jnp.split(rows, ends.tolist(), axis=-1)

    def _left(self, x: Rows) -> Rows:
        return side_by_side([part.left(rows) for part, rows in zip(self.metrics, self.split(x, 0), strict=True)])

    def _right(self, y: Rows) -> Rows:
        return side_by_side([part.right(rows) for part, rows in zip(self.metrics, self.split(y, 1), strict=True)])

    def dense(self) -> Float[Array, "*h N K"]:
        return block_diagonal([part.dense() for part in self.metrics])


def augmented(x: Rows) -> Rows:
    """Rows [*b, T, N] with a 1 appended [*b, T, N + 1], on which a metric with biases is bilinear."""
    x = real_rows("x", x)
    return jnp.concatenate([x, jnp.ones((*x.shape[:-1], 1), x.dtype)], axis=-1)
