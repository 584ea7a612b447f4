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

from hopfield._arguments import integer, real_array
from hopfield._arrays import product, same_rank, transposed
from hopfield._numerics import is_traced, nan_outside
from hopfield._pytrees import Node, fill, unchecked

Rows = Float[Array, "..."]
"""Vectors as rows [*b, T, N]."""


class Metric(Node, abc.ABC):
    """A bilinear form x g y = left(x) · right(y) between vectors of widths N and K.

    Example:
        >>> from hopfield import metrics
        >>> metrics.Scaled(2, 3.0).form(jnp.array([[1.0, 2.0]]), jnp.array([[1.0, 1.0]])).tolist()
        [[9.0]]
    """

    @property
    @abc.abstractmethod
    def widths(self) -> tuple[int, int]:
        """(N, K), the widths of the left and the right argument."""

    @property
    def leading(self) -> tuple[int, ...]:
        """Leading axes *h of `dense`, which count its heads."""
        return jax.eval_shape(self.dense).shape[:-2]

    @property
    def symmetric(self) -> bool:
        """True if x g y = y g x whatever the parameters are."""
        return False

    @property
    def positive(self) -> bool:
        """True if x g x ≥ 0 whatever the parameters are (semi-definite: some x ≠ 0 may have length zero)."""
        return False

    @property
    def affine(self) -> bool:
        """True if biases make the metric a form on vectors with a 1 appended, as `dense` then is."""
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
        return self._left(of_width("x", x, self.widths[0]))

    def right(self, y: Rows) -> Rows:
        """Keys y [*b, S, K] in the space of the comparison [*b, S, R]. ValueError for another width than K."""
        return self._right(of_width("y", y, self.widths[1]))

    def form(self, x: Rows, y: Rows) -> Float[Array, "*b T S"]:
        """x_i g y_j for every pair of a row i of x [*b, T, N] and a row j of y [*b, S, K]."""
        return product(self.left(x), transposed(self.right(y)))


def of_width(name: str, rows: Rows, width: int) -> Rows:
    """Rows of vectors of a metric's width. ValueError otherwise."""
    rows = real_array(name, rows)
    if rows.ndim < 2:
        raise ValueError(f"{name} must be rows of vectors [..., T, {width}], got shape {rows.shape}")
    if rows.shape[-1] != width:
        raise ValueError(f"{name} must have the metric's width {width}, got {rows.shape[-1]} (axis -1)")
    return rows


class Euclidean(Metric):
    """x g y = x · y, g_ab = δ_ab on vectors of one width.

    Example:
        >>> from hopfield import metrics
        >>> metrics.Euclidean(2).dense().tolist()
        [[1.0, 0.0], [0.0, 1.0]]
    """

    width: int = struct.field(pytree_node=False)
    widths = property(lambda self: (self.width, self.width))
    symmetric = property(lambda self: True)
    positive = property(lambda self: True)

    def __post_init__(self) -> None:
        fill(self, width=integer("width", self.width))

    def _left(self, x: Rows) -> Rows:
        return x

    def _right(self, y: Rows) -> Rows:
        return y

    def dense(self) -> Float[Array, "*h N K"]:
        return jnp.eye(self.width)


class Scaled(Metric):
    """x g y = scale x · y, scale > 0 [*h]; 1/√width if None: at β = 1 scaled dot-product attention.

    Example:
        >>> from hopfield import metrics
        >>> metrics.Scaled(2, 3.0).dense().tolist()
        [[3.0, 0.0], [0.0, 3.0]]
    """

    width: int = struct.field(pytree_node=False)
    scale: Float[Array, "*h"]
    widths = property(lambda self: (self.width, self.width))
    symmetric = property(lambda self: True)
    positive = property(lambda self: True)

    def __init__(self, width: int, scale: ArrayLike | None = None) -> None:
        width = integer("width", width)
        value = jnp.asarray(1.0 / math.sqrt(width)) if scale is None else checked("scale", scale, 0, "")
        if is_traced(value):
            value = nan_outside(value, value > 0)
        elif not (np.asarray(value) > 0).all():
            raise ValueError(f"scale must be positive, got {scale}")
        fill(self, width=width, scale=value)

    def _left(self, x: Rows) -> Rows:
        x, scale = same_rank(x, jnp.asarray(self.scale)[..., None, None])
        return x * scale

    def _right(self, y: Rows) -> Rows:
        return y

    def dense(self) -> Float[Array, "*h N K"]:
        scale, eye = same_rank(jnp.asarray(self.scale)[..., None, None], jnp.eye(self.width))
        return scale * eye


class Diagonal(Metric):
    """x g y = Σ_a entries_a x_a y_a, finite entries [*h, N] of either sign.

    Example:
        >>> from hopfield import metrics
        >>> metrics.Diagonal(jnp.array([1.0, 2.0])).dense().tolist()
        [[1.0, 0.0], [0.0, 2.0]]
    """

    entries: Float[Array, "*h N"]

    def __post_init__(self) -> None:
        fill(self, entries=checked("entries", self.entries, 1, ", N"))

    widths = property(lambda self: (self.entries.shape[-1],) * 2)
    symmetric = property(lambda self: True)

    def _left(self, x: Rows) -> Rows:
        x, entries = same_rank(x, self.entries[..., None, :])
        return x * entries

    def _right(self, y: Rows) -> Rows:
        return y

    def dense(self) -> Float[Array, "*h N K"]:
        entries, eye = same_rank(
            self.entries[..., None, :], jnp.eye(self.widths[0], dtype=jnp.result_type(self.entries))
        )
        return entries * eye


class Full(Metric):
    """x g y with any finite matrix g [*h, N, K], asymmetric ones included.

    Example:
        >>> from hopfield import metrics
        >>> metrics.Full(jnp.array([[1.0, 2.0], [0.0, 1.0]])).dense().tolist()
        [[1.0, 2.0], [0.0, 1.0]]
    """

    matrix: Float[Array, "*h N K"]

    def __post_init__(self) -> None:
        fill(self, matrix=checked("matrix", self.matrix, 2, ", N, K"))

    widths = property(lambda self: self.matrix.shape[-2:])

    def _left(self, x: Rows) -> Rows:
        return product(x, self.matrix)

    def _right(self, y: Rows) -> Rows:
        return y

    def dense(self) -> Float[Array, "*h N K"]:
        return self.matrix


class LowRank(Metric):
    """g = Wᵀ W with a finite factor W [*h, R, N]: symmetric, positive semi-definite, of rank R at most.

    Source: Kataru 2026, eq. 9.

    Example:
        >>> from hopfield import metrics
        >>> metrics.LowRank(jnp.array([[1.0, 1.0]])).dense().tolist()
        [[1.0, 1.0], [1.0, 1.0]]
    """

    factor: Float[Array, "*h R N"]

    def __post_init__(self) -> None:
        fill(self, factor=checked("factor", self.factor, 2, ", R, N"))

    widths = property(lambda self: (self.factor.shape[-1],) * 2)
    symmetric = property(lambda self: True)
    positive = property(lambda self: True)

    def _left(self, x: Rows) -> Rows:
        return product(x, transposed(self.factor))

    def _right(self, y: Rows) -> Rows:
        return product(y, transposed(self.factor))

    def dense(self) -> Float[Array, "*h N K"]:
        return product(transposed(self.factor), self.factor)


def checked(name: str, value: ArrayLike, rank: int, axes: str) -> Array:
    """`value` as a float array of at least `rank` axes, none of the last ones empty, all finite."""
    array = real_array(name, value)
    if array.ndim < rank or 0 in array.shape[array.ndim - rank :]:
        raise ValueError(f"{name} must have axes [*heads{axes}], none empty, got shape {array.shape}")
    if not is_traced(array):
        with jax.ensure_compile_time_eval():
            finite = bool(jnp.all(jnp.isfinite(array)))
        if not finite:
            raise ValueError(f"{name} must be finite, got NaN or infinite entries")
    return array


def as_metric(metric: Metric | ArrayLike | None, name: str = "metric") -> Metric | None:
    """A metric, or an array [*heads, N, K] as a full one. None, the plain dot product, stays None.

    Raises ValueError for anything else, as the name of a metric that layers learn.
    """
    if metric is None or isinstance(metric, Metric):
        return metric
    if isinstance(metric, str):
        raise ValueError(
            f"{name} must be a Metric or a matrix, got {metric!r}; names are for layers (AssociationOptions(metric=…))"
        )
    return unchecked(Full, matrix=checked(name, metric, 2, ", N, K"))
