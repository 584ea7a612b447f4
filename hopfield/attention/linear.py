"""Attention in time linear in length: kernels as products of features.

    o_i = φ(q_i) Σ_j φ(k_j) v_jᵀ / φ(q_i) · Σ_j φ(k_j)          φ(q) · φ(k) ≈ exp(β q·k)

The sums are formed once for all queries, or running along the sequence when attention is causal.
"""

import abc
from functools import partial
from typing import Any, ClassVar

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Bool, Float

from hopfield._arguments import flag, integer, random_key, real_array, shown
from hopfield._arrays import product, same_rank, transposed, unread_as_zero
from hopfield._numerics import accumulation_dtype
from hopfield._pytrees import Node, changed, fill
from hopfield.attention._arguments import Keys, Rows, inputs, inverse_temperature, per_row, valid_keys

Features = Float[Array, "*b T M"]


class FeatureMap(Node, abc.ABC):
    """Features φ of vectors, whose inner products approximate a kernel.

    Example:
        >>> from hopfield import attention
        >>> attention.EluPlusOne().of_keys(jnp.array([[0.0, 1.0]])).tolist()
        [[1.0, 2.0]]
    """

    @abc.abstractmethod
    def split(self, x: Rows) -> tuple[Features, Float[Array, "*b T 1"]]:
        """Features as a pair (f, s) with φ(x) = f e^s [*b, T, M]: what can overflow is kept as a logarithm."""

    def __call__(self, x: Rows) -> Features:
        """Features φ(x) [*b, T, M]."""
        features, log_scale = self.split(x)
        return features * jnp.exp(log_scale)

    def of_queries(self, x: Rows) -> Features:
        """Features φ(x) [*b, T, M], each row up to a factor, which cancels between read-out and normalisation."""
        return self.split(x)[0]

    def of_keys(self, x: Rows) -> Features:
        """Features φ(x) [*b, T, M] divided by one factor for all rows, so that the largest is of order one."""
        features, log_scale = self.split(x)
        top = jnp.max(log_scale, axis=-2, keepdims=True, initial=-jnp.inf)
        return features * jnp.exp(log_scale - jax.lax.stop_gradient(top))


class EluPlusOne(FeatureMap):
    """φ(x) = elu(x) + 1 by components. Its kernel differs from softmax's kernel (Katharopoulos et al. 2020, eq. 7).

    Example:
        >>> from hopfield import attention
        >>> attention.EluPlusOne()(jnp.array([[0.0, 2.0]])).tolist()
        [[1.0, 3.0]]
    """

    def split(self, x: Rows) -> tuple[Features, Float[Array, "*b T 1"]]:
        features = jax.nn.elu(real_array("x", x)) + 1.0
        return features, jnp.zeros((*features.shape[:-1], 1), features.dtype)


class _RandomFeatures(FeatureMap):
    """Features of random directions w ~ N(0, 1), of queries and keys scaled by √β."""

    directions: Float[Array, "m D"]
    beta: Float[Array, "*h"]

    def __init__(
        self, key: Array, width: int, features: int, *, beta: ArrayLike | None = None, orthogonal: bool | None = None
    ) -> None:
        orthogonal = self._orthogonal if orthogonal is None else orthogonal
        fill(self, directions=_directions(key, width, features, orthogonal), beta=_rate(beta, width))

    replace = changed
    _orthogonal: ClassVar[bool] = False


class RandomFourier(_RandomFeatures, init=False):
    """φ(x) = e^(‖x‖²/2) [cos w·x, sin w·x] / √m, x scaled by √β: random Fourier features of the kernel exp(β x·y).

    Unbiased, but of either sign: accurate where query and key are near; the error relative to the kernel grows as
    e^(β‖x − y‖²/2), see `PositiveFeatures`.

    Args:
        key: random key that draws the directions w ~ N(0, 1).
        width: D of queries and keys.
        features: number m ≥ 1 of directions, each a cosine and a sine.
        beta: as in `attend`, one number or per head; 1/√D if None.
        orthogonal: directions orthogonal within blocks of D, which lowers the variance; False if None.
    Source: Rahimi & Recht 2007, algorithm 1.

    Example:
        >>> from hopfield import attention
        >>> attention.RandomFourier(jax.random.key(0), 4, 32)(jnp.ones((3, 4))).shape
        (3, 64)
    """

    def split(self, x: Rows) -> tuple[Features, Float[Array, "*b T 1"]]:
        x = _times_root_beta(real_array("x", x), self.directions, self.beta)
        angle = x @ self.directions.T.astype(x.dtype)
        features = jnp.concatenate([jnp.cos(angle), jnp.sin(angle)], axis=-1) / self.directions.shape[0] ** 0.5
        return features, 0.5 * jnp.sum(x * x, axis=-1, keepdims=True)


class PositiveFeatures(_RandomFeatures, init=False):
    """φ(x) = e^(w·x − ‖x‖²/2) / √m, x scaled by √β: FAVOR+, positive random features of the kernel exp(β x·y).

    Unbiased. The relative variance is (e^(β‖x + y‖²) − 1)/m for independent directions: an unlikely key costs little.
    Arguments: as in `RandomFourier`, but directions are orthogonal if `orthogonal` is None.

    Source: Choromanski et al. 2021, lemma 1 and §3.2 (arXiv:2009.14794).

    Example:
        >>> from hopfield import attention
        >>> attention.PositiveFeatures(jax.random.key(0), 4, 32)(jnp.ones((3, 4))).shape
        (3, 32)
    """

    _orthogonal: ClassVar[bool] = True

    def split(self, x: Rows) -> tuple[Features, Float[Array, "*b T 1"]]:
        x = _times_root_beta(real_array("x", x), self.directions, self.beta)
        exponent = x @ self.directions.T.astype(x.dtype) - 0.5 * jnp.sum(x * x, axis=-1, keepdims=True)
        top = jax.lax.stop_gradient(jnp.max(exponent, axis=-1, keepdims=True))
        return jnp.exp(exponent - top) / self.directions.shape[0] ** 0.5, top


def linear_attention(
    query: Rows,
    key: Keys,
    value: Float[Array, "*#b S V"],
    *,
    features: FeatureMap = EluPlusOne(),
    causal: bool = False,
    valid: Bool[Array, "*b S"] | None = None,
    chunk: int = 128,
) -> Float[Array, "*b T V"]:
    """φ(q_i) Σ_j φ(k_j) v_j / φ(q_i) Σ_j φ(k_j) [*b, T, V], in time and memory linear in both lengths.

    Args:
        query, key, value: as in `attend`.
        features: the map φ.
        causal: sums over j ≤ i, formed chunk by chunk; as many queries as keys.
        valid: keys that may be read, [S] of all sequences or with the leading axes of the rows; a query without any
            reads zero, one whose kernels all vanish in rounding NaN.
        chunk: length of the chunks within which causal attention is formed directly.
    Raises:
        ValueError: shapes that do not fit, chunk < 1, or causal attention of unequal lengths.
        TypeError: features without the verbs `of_queries` and `of_keys` of a `FeatureMap`.
    Source: Katharopoulos et al. 2020, eqs. 5 and 9 (arXiv:2006.16236).
    """
    query, key, value = inputs(query, key, value)
    chunk = integer("chunk", chunk)
    if not all(callable(getattr(features, verb, None)) for verb in ("of_queries", "of_keys")):
        raise TypeError(f"features must be a FeatureMap, got {shown(features)}")
    if flag("causal", causal) and query.shape[-2] != key.shape[-2]:
        raise ValueError(f"causal attention must have one query per key, got {query.shape[-2]} and {key.shape[-2]}")
    dtype = accumulation_dtype(value.dtype)
    valid = None if valid is None else valid_keys(valid, query, key, value)
    (value,) = unread_as_zero(None if valid is None else valid[..., None, :], value)
    phi_query = features.of_queries(query.astype(dtype))
    phi_key, log_scale = _features_of_keys(features, key, valid, dtype)
    ones = jnp.ones((*value.shape[:-1], 1), dtype)
    # The normalisation is the read-out of a value that is 1 everywhere.
    wide = jnp.concatenate([value.astype(dtype), ones], axis=-1)
    if causal:
        summed = _causal(phi_query, phi_key, log_scale, wide, min(chunk, max(query.shape[-2], 1)))
        read = jax.lax.cummax(log_scale, axis=log_scale.ndim - 2) > -jnp.inf
    else:
        top = _finite(jax.lax.stop_gradient(jnp.max(log_scale, axis=-2, keepdims=True, initial=-jnp.inf)))
        summed = product(phi_query, product(transposed(phi_key * jnp.exp(log_scale - top)), wide))
        read = jnp.any(log_scale > -jnp.inf, axis=-2, keepdims=True)
    total = summed[..., -1:]
    # Kernels that all vanish have no mean, and no key none to take.
    return (summed[..., :-1] / jnp.where(total == 0, jnp.where(read, jnp.nan, 1.0), total)).astype(value.dtype)


def _features_of_keys(features: FeatureMap, key: Keys, valid: Array | None, dtype: jnp.dtype) -> tuple[Features, Array]:
    """Features φ = f e^s of the keys as a pair (f, s). s is −∞ for keys that may not be read."""
    key = (key if valid is None else _without_invalid(key, valid)).astype(dtype)
    phi, log_scale = features.split(key) if isinstance(features, FeatureMap) else (features.of_keys(key), None)
    log_scale = jnp.zeros((*phi.shape[:-1], 1), phi.dtype) if log_scale is None else log_scale
    if valid is not None:
        log_scale, used = same_rank(log_scale, valid[..., None])
        phi, log_scale = jnp.where(used, phi, 0.0), jnp.where(used, log_scale, -jnp.inf)
    return phi, log_scale


def _finite(scale: Array) -> Array:
    """Reference logarithm of a row; 0 for −∞."""
    return jnp.where(scale == -jnp.inf, 0.0, scale)


def _without_invalid(key: Keys, valid: Bool[Array, "*b S"]) -> Rows:
    """Keys; the first valid key replaces invalid ones, since zero or NaN would set the scale of the features."""
    shape = jnp.broadcast_shapes(key.shape[:-1], valid.shape)
    key, valid = jnp.broadcast_to(key, (*shape, key.shape[-1])), jnp.broadcast_to(valid, shape)[..., None]
    first = jnp.take_along_axis(key, jnp.argmax(valid, axis=-2, keepdims=True), axis=-2)
    return jnp.where(valid, key, jnp.where(jnp.any(valid, axis=-2, keepdims=True), first, 0.0))


@partial(jax.jit, static_argnames=("chunk",))
def _causal(phi_query: Features, phi_key: Features, log_scale: Array, value: Array, chunk: int) -> Array:
    """Σ_(j ≤ i) φ(q_i)·φ(k_j) v_j: directly within a chunk, through the running sum of φ(k) vᵀ before it.

    Each query's sum is relative to the largest scale among the keys up to it: no later key may make it vanish.
    """
    length = value.shape[-2]
    leading = jnp.broadcast_shapes(*(x.shape[:-2] for x in (phi_query, phi_key, log_scale, value)))
    count = -(-length // chunk)

    def chunked(x: Array, fill: float = 0.0) -> Array:
        x = jnp.broadcast_to(x, (*leading, *x.shape[-2:]))
        x = jnp.pad(x, [(0, 0)] * len(leading) + [(0, count * chunk - length), (0, 0)], constant_values=fill)
        return jnp.moveaxis(x.reshape((*leading, count, chunk, x.shape[-1])), -3, 0)

    past = jnp.tri(chunk, dtype=bool)

    def step(before: tuple[Array, Array], part: tuple[Array, Array, Array, Array]) -> tuple[Any, Array]:
        (sums, top), (q, k, scale, v) = before, part
        highest = jax.lax.stop_gradient(jnp.maximum(jax.lax.cummax(scale, axis=scale.ndim - 2), top))
        unit, last = _finite(highest), _finite(highest[..., -1:, :])
        near = product(q, transposed(k)) * jnp.exp(jnp.where(past, transposed(scale) - unit, -jnp.inf))
        reads = product(q, sums) * jnp.exp(top - unit) + product(near, v)
        sums = sums * jnp.exp(top - last) + product(transposed(k * jnp.exp(scale - last)), v)
        return (sums, highest[..., -1:, :]), reads

    start = jnp.zeros((*leading, phi_key.shape[-1], value.shape[-1]), value.dtype)
    none = jnp.full((*leading, 1, 1), -jnp.inf, log_scale.dtype)
    parts = chunked(phi_query), chunked(phi_key), chunked(log_scale, -jnp.inf), chunked(value)
    _, reads = jax.lax.scan(step, (start, none), parts)
    return jnp.moveaxis(reads, 0, -3).reshape((*leading, count * chunk, value.shape[-1]))[..., :length, :]


def _times_root_beta(x: Rows, directions: Float[Array, "m D"], beta: Array) -> Rows:
    """√β x; a β with axes is per head. ValueError for vectors of another width than the directions."""
    if x.shape[-1] != directions.shape[-1]:
        raise ValueError(
            f"features must be of the rows' width {x.shape[-1]}, got those of width {directions.shape[-1]}"
        )
    x, factor = per_row("beta", jnp.sqrt(beta).astype(x.dtype), x)
    return x * factor


def _rate(beta: ArrayLike | None, width: int) -> Array:
    return inverse_temperature(beta, jnp.zeros((1, width)))


def _directions(key: Array, width: int, features: int, orthogonal: bool) -> Float[Array, "m D"]:
    """Standard normal rows. If asked, rows are orthogonal within blocks of `width`."""
    random_key("key", key)
    width, features = integer("width", width), integer("features", features)
    if not flag("orthogonal", orthogonal):
        return jax.random.normal(key, (features, width))
    turn, length = jax.random.split(key)
    drawn = jax.random.normal(turn, (-(-features // width), width, width))
    frames, triangle = jax.lax.map(lambda x: tuple(jnp.linalg.qr(x)), drawn)  # not at once, as in random_features
    # Signs that make the frame uniform over rotations: QR alone prefers some (Mezzadri 2007).
    frames = frames * jnp.sign(jnp.diagonal(triangle, axis1=-2, axis2=-1))[:, None, :]
    norms = jnp.linalg.norm(jax.random.normal(length, (features, width)), axis=-1, keepdims=True)
    return jnp.swapaxes(frames, -1, -2).reshape((-1, width))[:features] * norms
