"""Parametrisations of a metric g: the bilinear form x g y = left(x) · right(y) between queries x and keys y.

Leaves may have leading axes *h, one metric per head, which broadcast against the leading axes *b of x and y from the
right as in a matrix product. A metric need be neither symmetric nor square: query and key projections are one too.
"""

import abc
import math

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from hopfield._numerics import is_traced
from hopfield._pytrees import Node
from hopfield.metrics._arrays import aligned, block_diagonal, product, transposed

Rows = Float[Array, "*axes"]
"""Vectors as rows [*b, T, N]."""


class Metric(Node, abc.ABC):
    """A bilinear form x g y = left(x) · right(y) between vectors of widths N and K."""

    @property
    @abc.abstractmethod
    def widths(self) -> tuple[int, int]:
        """(N, K), the widths of what stands to the left and to the right."""

    @property
    def symmetric(self) -> bool:
        """Whether x g y = y g x whatever the parameters are."""
        return False

    @property
    def positive(self) -> bool:
        """Whether x g x ≥ 0 whatever the parameters are (semi-definite: some x ≠ 0 may have length zero)."""
        return False

    @property
    def affine(self) -> bool:
        """Whether biases make it a form on vectors with a 1 appended, as `dense` then is."""
        return False

    @abc.abstractmethod
    def _left(self, x: Rows) -> Rows: ...

    @abc.abstractmethod
    def _right(self, y: Rows) -> Rows: ...

    @abc.abstractmethod
    def dense(self) -> Float[Array, "*h N K"]:
        """g as matrices [*h, N, K]; with biases [*h, N + 1, K + 1], acting on vectors with a 1 appended."""

    def left(self, x: Rows) -> Rows:
        """Queries x [*b, T, N] in the space of the comparison [*b, T, R]. ValueError for another width than N."""
        return self._left(_of_width("x", x, self.widths[0]))

    def right(self, y: Rows) -> Rows:
        """Keys y [*b, S, K] in the space of the comparison [*b, S, R]. ValueError for another width than K."""
        return self._right(_of_width("y", y, self.widths[1]))

    def form(self, x: Rows, y: Rows) -> Float[Array, "*b T S"]:
        """x_i g y_j for every pair of a row i of x [*b, T, N] and a row j of y [*b, S, K]."""
        return product(self.left(x), transposed(self.right(y)))


def _of_width(name: str, rows: Rows, width: int) -> Rows:
    if rows.ndim < 2:
        raise ValueError(f"{name} must be rows of vectors [..., T, {width}], got shape {rows.shape}")
    if rows.shape[-1] != width:
        raise ValueError(f"{name} must have the metric's width {width}, got {rows.shape[-1]} (axis -1)")
    return rows


class Identity(Metric):
    """x g y = x · y, the Euclidean metric. Build with `euclidean(n)`."""

    width: int = struct.field(pytree_node=False)
    widths = property(lambda self: (self.width, self.width))
    symmetric = property(lambda self: True)
    positive = property(lambda self: True)

    def _left(self, x):
        return x

    def _right(self, y):
        return y

    def dense(self):
        return jnp.eye(self.width)


class Scaled(Metric):
    """x g y = scale x · y with a positive scale [*h]. Build with `scaled(n, scale)`."""

    scale: Float[Array, "*h"]
    width: int = struct.field(pytree_node=False)
    widths = property(lambda self: (self.width, self.width))
    symmetric = property(lambda self: True)
    positive = property(lambda self: True)

    def _left(self, x):
        x, scale = aligned(x, jnp.asarray(self.scale)[..., None, None])
        return x * scale

    def _right(self, y):
        return y

    def dense(self):
        scale, eye = aligned(jnp.asarray(self.scale)[..., None, None], jnp.eye(self.width))
        return scale * eye


class Diagonal(Metric):
    """x g y = Σ_a entries_a x_a y_a, entries [*h, N] of either sign. Build with `diagonal(entries)`."""

    entries: Float[Array, "*h N"]
    widths = property(lambda self: (self.entries.shape[-1],) * 2)
    symmetric = property(lambda self: True)

    def _left(self, x):
        x, entries = aligned(x, self.entries[..., None, :])
        return x * entries

    def _right(self, y):
        return y

    def dense(self):
        entries, eye = aligned(self.entries[..., None, :], jnp.eye(self.widths[0], dtype=self.entries.dtype))
        return entries * eye


class Full(Metric):
    """x g y with any matrix g [*h, N, K], asymmetric ones included. Build with `full(matrix)`."""

    matrix: Float[Array, "*h N K"]
    widths = property(lambda self: self.matrix.shape[-2:])

    def _left(self, x):
        return product(x, self.matrix)

    def _right(self, y):
        return y

    def dense(self):
        return self.matrix


class LowRank(Metric):
    """g = Wᵀ W with a factor W [*h, R, N]: symmetric, positive semi-definite, of rank R at most.

    Build with `low_rank(factor)`. Source: Kataru 2026, eq. 9.
    """

    factor: Float[Array, "*h R N"]
    widths = property(lambda self: (self.factor.shape[-1],) * 2)
    symmetric = property(lambda self: True)
    positive = property(lambda self: True)

    def _left(self, x):
        return product(x, transposed(self.factor))

    def _right(self, y):
        return product(y, transposed(self.factor))

    def dense(self):
        return product(transposed(self.factor), self.factor)


class Projected(Metric):
    """x g y = (x W_q + b_q) · (y W_k + b_k), the form that query and key projections define.

    With biases it is bilinear in (x, 1) and (y, 1), with the matrix [[W_q W_kᵀ, W_q b_k], [b_q W_kᵀ, b_q · b_k]]
    that `dense` returns. Build with `projected(w_query, w_key, b_query, b_key)`.
    """

    w_query: Float[Array, "*h N R"]
    w_key: Float[Array, "*h K R"]
    b_query: Float[Array, "*h R"] | None = None
    b_key: Float[Array, "*h R"] | None = None
    widths = property(lambda self: (self.w_query.shape[-2], self.w_key.shape[-2]))
    affine = property(lambda self: self.b_query is not None or self.b_key is not None)

    def _left(self, x):
        return _project(x, self.w_query, self.b_query)

    def _right(self, y):
        return _project(y, self.w_key, self.b_key)

    def dense(self):
        left, right = self.w_query, self.w_key
        if self.affine:
            left, right = _with_bias(left, self.b_query), _with_bias(right, self.b_key)
        return product(left, transposed(right))


def _project(rows: Rows, w: Array, b: Array | None) -> Rows:
    projected_rows = product(rows, w)
    if b is None:
        return projected_rows
    projected_rows, b = aligned(projected_rows, b[..., None, :])
    return projected_rows + b


def _with_bias(w: Array, b: Array | None) -> Array:
    """Weights [*h, N, R] with the bias, or zeros, as row N + 1."""
    row = jnp.zeros((*w.shape[:-2], 1, w.shape[-1]), w.dtype) if b is None else b[..., None, :]
    leading = jnp.broadcast_shapes(w.shape[:-2], row.shape[:-2])
    parts = [jnp.broadcast_to(part, (*leading, *part.shape[-2:])) for part in (w, row)]
    return jnp.concatenate(parts, axis=-2)


class Block(Metric):
    """x g y = Σ_i x_i g_i y_i over consecutive blocks of components. Build with `block(*metrics)`."""

    metrics: tuple[Metric, ...]
    widths = property(lambda self: tuple(map(sum, zip(*(part.widths for part in self.metrics), strict=True))))
    symmetric = property(lambda self: all(part.symmetric for part in self.metrics))
    positive = property(lambda self: all(part.positive for part in self.metrics))

    def split(self, rows: Rows, side: int) -> list[Rows]:
        """Rows cut into the blocks of the left (side 0) or the right (side 1)."""
        ends = np.cumsum([part.widths[side] for part in self.metrics])[:-1]
        return jnp.split(rows, ends.tolist(), axis=-1)

    def _left(self, x):
        return _joined([part.left(rows) for part, rows in zip(self.metrics, self.split(x, 0), strict=True)])

    def _right(self, y):
        return _joined([part.right(rows) for part, rows in zip(self.metrics, self.split(y, 1), strict=True)])

    def dense(self):
        return block_diagonal([part.dense() for part in self.metrics])


def _joined(parts: list[Rows]) -> Rows:
    leading = jnp.broadcast_shapes(*(part.shape[:-1] for part in parts))
    return jnp.concatenate([jnp.broadcast_to(part, (*leading, part.shape[-1])) for part in parts], axis=-1)


def _checked(name: str, value: ArrayLike, rank: int, axes: str) -> Array:
    """`value` as a float array of at least `rank` axes, none of the last ones empty, all finite."""
    array = jnp.asarray(value)
    array = array if jnp.issubdtype(array.dtype, jnp.floating) else array.astype(float)
    if array.ndim < rank or 0 in array.shape[array.ndim - rank :]:
        raise ValueError(f"{name} must have axes [*heads{axes}], none empty, got shape {array.shape}")
    if not is_traced(array):
        with jax.ensure_compile_time_eval():
            finite = bool(jnp.all(jnp.isfinite(array)))
        if not finite:
            raise ValueError(f"{name} must be finite, got NaN or infinite entries")
    return array


def _width(n: int) -> int:
    if n < 1:
        raise ValueError(f"n must be a positive width, got {n}")
    return int(n)


def euclidean(n: int) -> Identity:
    """The Euclidean metric g_ab = δ_ab on vectors of width n."""
    return Identity(_width(n))


def scaled(n: int, scale: ArrayLike | None = None) -> Scaled:
    """g_ab = scale δ_ab, scale > 0 [*heads]; 1/√n if None: at β = 1 scaled dot-product attention."""
    if scale is None:
        return Scaled(jnp.asarray(1.0 / math.sqrt(_width(n))), n)
    value = _checked("scale", scale, 0, "")
    if not is_traced(value) and not (np.asarray(value) > 0).all():
        raise ValueError(f"scale must be positive, got {scale}")
    return Scaled(value, _width(n))


def diagonal(entries: ArrayLike) -> Diagonal:
    """g_ab = entries_a δ_ab, finite entries [*heads, N] of either sign."""
    return Diagonal(_checked("entries", entries, 1, ", N"))


def full(matrix: ArrayLike) -> Full:
    """g_ab = matrix_ab, a finite matrix [*heads, N, K], symmetric or not."""
    return Full(_checked("matrix", matrix, 2, ", N, K"))


def low_rank(factor: ArrayLike) -> LowRank:
    """g = Wᵀ W with a finite factor W [*heads, R, N]."""
    return LowRank(_checked("factor", factor, 2, ", R, N"))


def block(*metrics: Metric) -> Block:
    """Block-diagonal metric of one or more metrics without biases, each acting on its own consecutive components."""
    if not metrics:
        raise ValueError("metrics must name at least one metric, got none")
    for part in metrics:
        if not isinstance(part, Metric) or part.affine:
            raise ValueError(f"metrics must be metrics without biases, got {part}")
    return Block(metrics)


def projected(
    w_query: ArrayLike, w_key: ArrayLike, b_query: ArrayLike | None = None, b_key: ArrayLike | None = None
) -> Projected:
    """(x W_q + b_q) · (y W_k + b_k) from W_q [*heads, N, R], W_k [*heads, K, R] and biases [*heads, R].

    Raises:
        ValueError: the projections or a bias differ in their width R.
    """
    wq, wk = _checked("w_query", w_query, 2, ", N, R"), _checked("w_key", w_key, 2, ", K, R")
    rank = wq.shape[-1]
    bq = None if b_query is None else _checked("b_query", b_query, 1, ", R")
    bk = None if b_key is None else _checked("b_key", b_key, 1, ", R")
    for name, array in (("w_key", wk), ("b_query", bq), ("b_key", bk)):
        if array is not None and array.shape[-1] != rank:
            raise ValueError(f"{name} must have w_query's R={rank}, got {array.shape[-1]} (axis -1)")
    return Projected(wq, wk, bq, bk)


def as_metric(metric: Metric | ArrayLike | None) -> Metric | None:
    """A metric as it is, an array [*heads, N, K] as a full one; None, the plain dot product, stays None."""
    return metric if metric is None or isinstance(metric, Metric) else full(metric)


def augmented(x: Rows) -> Rows:
    """Rows [*b, T, N] with a 1 appended [*b, T, N + 1], on which a metric with biases is bilinear."""
    return jnp.concatenate([x, jnp.ones((*x.shape[:-1], 1), x.dtype)], axis=-1)
