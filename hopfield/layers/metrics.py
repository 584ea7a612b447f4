"""Metrics that learn: Flax NNX parameters that make a `hopfield.metrics.Metric`, one for all heads or one per head.

    g = metric()        a pytree with left and right, of the parameters' present values

Every kind of full rank starts as the dot product, so that a layer begins as ordinary attention. Diagonal,
low-rank and definite metrics are positive definite whatever values their parameters take.
"""

import abc
import math
from typing import Literal, get_args

import jax
import jax.numpy as jnp
from flax import nnx
from flax.typing import Dtype
from jax.typing import ArrayLike

from hopfield import metrics
from hopfield._arguments import instance, integer, nearest, shown
from hopfield._names import number_of
from hopfield._pytrees import unchecked
from hopfield.layers._fixed import FixedTree
from hopfield.metrics import Metric, as_metric

FLOOR = 1e-3
"""Least eigenvalue of a learned low-rank or definite metric: g = WᵀW + FLOOR · 1."""


class LearnedMetric(nnx.Module, abc.ABC):
    """Parameters of a metric on vectors of one width; calling it gives the metric.

    Example:
        >>> from hopfield.layers import FullMetric, LearnedMetric
        >>> metric = FullMetric(2)
        >>> isinstance(metric, LearnedMetric), metric().dense().shape
        (True, (2, 2))
    """

    @abc.abstractmethod
    def __call__(self) -> Metric:
        """The metric of the parameters' present values; its leaves have a leading axis of heads, if it has any."""


class FixedMetric(FixedTree, LearnedMetric):
    """A given metric, kept constant: its numbers are swept or loaded, not trained.

    Example:
        >>> from hopfield import metrics
        >>> from hopfield.layers import FixedMetric
        >>> FixedMetric(metrics.Diagonal(jnp.array([1.0, 2.0])))().dense().tolist()
        [[1.0, 0.0], [0.0, 2.0]]
    """

    def __init__(self, metric: Metric | ArrayLike) -> None:
        fixed = as_metric(metric)
        if fixed is None:
            raise ValueError("metric must be a metric or a matrix [N, N], got None")
        super().__init__(fixed)

    def __call__(self) -> Metric:
        return self.value


class DiagonalMetric(LearnedMetric):
    """g = diag(softplus(raw)) with raw [*heads, N]: one positive weight per feature.

    Example:
        >>> from hopfield.layers import DiagonalMetric
        >>> DiagonalMetric(3)().dense().shape
        (3, 3)
    """

    def __init__(self, features: int, heads: int | None = None, *, param_dtype: Dtype = jnp.float32) -> None:
        start = math.log(math.expm1(1.0))  # softplus(start) = 1
        self.raw = nnx.Param(jnp.full((*_leading(heads), integer("features", features)), start, param_dtype))

    def __call__(self) -> Metric:
        return unchecked(metrics.Diagonal, entries=jax.nn.softplus(self.raw[...]))


class LowRankMetric(LearnedMetric):
    """g = WᵀW + FLOOR · 1 with W [*heads, R, N]: of rank R, but for the floor.

    W starts with orthogonal rows of length √(N/R), so that x g y is on average as large as x · y.

    Example:
        >>> from flax import nnx
        >>> from hopfield.layers import LowRankMetric
        >>> LowRankMetric(3, rank=2, rngs=nnx.Rngs(0))().dense().shape
        (3, 3)
    """

    def __init__(
        self,
        features: int,
        heads: int | None = None,
        *,
        rank: int | None = None,
        param_dtype: Dtype = jnp.float32,
        rngs: nnx.Rngs,
    ) -> None:
        rank = _rank(max(1, integer("features", features) // 4) if rank is None else rank, features)
        instance("rngs", rngs, nnx.Rngs)
        keys = jax.random.split(rngs.params(), math.prod(_leading(heads)))
        rows = jax.vmap(lambda key: jax.random.orthogonal(key, features, dtype=jnp.float32)[:rank])(keys)
        rows = rows.reshape(*_leading(heads), rank, features) * math.sqrt(features / rank)
        self.factor = nnx.Param(rows.astype(param_dtype))

    def __call__(self) -> Metric:
        return unchecked(metrics.LowRank, factor=_with_floor(self.factor[...]))


class DefiniteMetric(LearnedMetric):
    """g = L Lᵀ + FLOOR · 1 with L [*heads, N, N] lower triangular: any symmetric matrix with no eigenvalue below it.

    Example:
        >>> from hopfield.layers import DefiniteMetric
        >>> DefiniteMetric(3)().dense().shape
        (3, 3)
    """

    def __init__(self, features: int, heads: int | None = None, *, param_dtype: Dtype = jnp.float32) -> None:
        self.factor = nnx.Param(math.sqrt(1.0 - FLOOR) * _eyes(features, heads, param_dtype))

    def __call__(self) -> Metric:
        return unchecked(metrics.LowRank, factor=_with_floor(jnp.swapaxes(jnp.tril(self.factor[...]), -1, -2)))


class FullMetric(LearnedMetric):
    """g = any matrix [*heads, N, N], symmetric or not. Nothing keeps it definite.

    Example:
        >>> from hopfield.layers import FullMetric
        >>> FullMetric(3)().dense().shape
        (3, 3)
    """

    def __init__(self, features: int, heads: int | None = None, *, param_dtype: Dtype = jnp.float32) -> None:
        self.matrix = nnx.Param(_eyes(features, heads, param_dtype))

    def __call__(self) -> Metric:
        return unchecked(metrics.Full, matrix=self.matrix[...])


class ProjectedMetric(LearnedMetric):
    """x g y = (x W_q + b_q) · (y W_k + b_k) with W [*heads, N, R]; starts with W the first R features and b = 0.

    Example:
        >>> from hopfield.layers import ProjectedMetric
        >>> ProjectedMetric(3, rank=2)().dense().shape
        (4, 4)
    """

    def __init__(
        self, features: int, heads: int | None = None, *, rank: int | None = None, param_dtype: Dtype = jnp.float32
    ) -> None:
        rank = _rank(integer("features", features) if rank is None else rank, features)
        start = _eyes(features, heads, param_dtype)[..., :rank]
        zeros = jnp.zeros((*_leading(heads), rank), param_dtype)
        self.w_query, self.w_key = nnx.Param(start), nnx.Param(start)
        self.b_query, self.b_key = nnx.Param(zeros), nnx.Param(zeros)

    def __call__(self) -> Metric:
        return unchecked(
            metrics.Projected,
            w_query=self.w_query[...],
            w_key=self.w_key[...],
            b_query=self.b_query[...],
            b_key=self.b_key[...],
        )


MetricName = Literal["diagonal", "low_rank", "definite", "full", "projected"]
METRICS: tuple[MetricName, ...] = get_args(MetricName)


def learned_metric(
    kind: MetricName | str, features: int, heads: int | None = None, *, param_dtype: Dtype = jnp.float32, rngs: nnx.Rngs
) -> LearnedMetric:
    """A metric to be learned, by name.

    Args:
        kind: one of METRICS; "low_rank:R" and "projected:R" give their rank, from 1 to N; by default N/4 and N.
        features: width N of the compared vectors of one head.
        heads: number of heads with a metric each; None for one metric that all heads share.
        param_dtype, rngs: as in Flax; only "low_rank" draws random numbers.
    Raises:
        ValueError: an unknown kind, a rank outside 1 … N or for a metric that has none.
    """
    name, rank = parsed(kind)
    if name == "low_rank":
        return LowRankMetric(features, heads, rank=rank, param_dtype=param_dtype, rngs=rngs)
    if name == "projected":
        return ProjectedMetric(features, heads, rank=rank, param_dtype=param_dtype)
    layer = {"diagonal": DiagonalMetric, "definite": DefiniteMetric, "full": FullMetric}[name]
    return layer(features, heads, param_dtype=param_dtype)


def parsed(kind: str) -> tuple[str, int | None]:
    """Name and rank of a metric to learn, "name" or "name:rank". ValueError for any other text."""
    name, colon, text = kind.partition(":") if isinstance(kind, str) else ("", "", "")
    if name not in METRICS:
        known = f"one of {', '.join(METRICS)}, a metric or a matrix"
        raise ValueError(f"metric must be {known}, got {shown(kind)}{nearest(kind, METRICS)}")
    if not colon:
        return name, None
    if name not in ("low_rank", "projected"):
        raise ValueError(f"metric must be {name} without a number, got {kind!r}")
    return name, integer("rank", number_of("metric", kind, text, int))


def _rank(rank: int, features: int) -> int:
    if integer("rank", rank) > features:
        raise ValueError(f"rank must be between 1 and the width {features}, got {rank}")
    return rank


def _leading(heads: int | None) -> tuple[int, ...]:
    return () if heads is None else (integer("heads", heads),)


def _eyes(features: int, heads: int | None, dtype: Dtype) -> jax.Array:
    width = integer("features", features)
    return jnp.broadcast_to(jnp.eye(width, dtype=dtype), (*_leading(heads), width, width))


def _with_floor(factor: jax.Array) -> jax.Array:
    """W with the rows √FLOOR · 1 appended, whose WᵀW is larger by FLOOR · 1."""
    width = factor.shape[-1]
    floor = jnp.asarray(math.sqrt(FLOOR), factor.dtype) * jnp.eye(width, dtype=factor.dtype)
    return jnp.concatenate([factor, jnp.broadcast_to(floor, (*factor.shape[:-2], width, width))], axis=-2)
