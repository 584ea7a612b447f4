"""Separations: convex potentials F over scores, whose gradient is the weight each pattern gets.

A potential fixes the memory: log-sum-exp gives softmax attention, ½‖z‖² the classical Hopfield network, Σ zⁿ/n the dense
memories, Fenchel–Young potentials the sparse ones. Every method takes one vector of scores z = β s [M] and an optional
mask `where` of the patterns in use; fully masked scores have zero weights and, for normalised potentials, F = −∞.
"""

import abc
from typing import ClassVar, NamedTuple

import jax
import jax.numpy as jnp
from flax import struct
from jaxtyping import Array, Bool, Float

from hopfield import simplex
from hopfield.numerics import is_traced
from hopfield.simplex import Mask, Scores, shifted

Scalar = Float[Array, ""]


class Stream(NamedTuple):
    """Partial sums over a block of patterns: Σ of the potential's and of the weighted values' terms, times e^shift."""

    shift: Scalar
    mass: Scalar
    moment: Float[Array, "V"]


class Separation(struct.PyTreeNode, abc.ABC):
    """A potential F(z) over scores with its gradient, the weights."""

    normalised: ClassVar[bool] = False
    """Whether the weights of unmasked scores always sum to one."""
    streaming: ClassVar[bool] = False
    """Whether blocks of patterns can be absorbed one at a time (`block`, `merge`, `finish`)."""
    level_convex: ClassVar[bool] = False
    """Whether F is an increasing function of a convex one (enough for descent where R is constant)."""

    @property
    def convex(self) -> bool:
        """Whether F is convex, the condition of the descent theorem."""
        return True

    @abc.abstractmethod
    def potential(self, z: Scores, where: Mask = None) -> Scalar:
        """F(z)."""

    @abc.abstractmethod
    def weights(self, z: Scores, where: Mask = None) -> Scores:
        """∇F(z) [M]; zero where masked."""

    def shares(self, z: Scores, where: Mask = None) -> Scores:
        """|∇F| / Σ|∇F| [M], the part of the read-out each pattern has; zeros if all weights vanish."""
        size = jnp.abs(self.weights(z, where))
        size = size / _nonzero(jnp.max(size, initial=0.0))
        return size / _nonzero(jnp.sum(size))

    def rise(self, up: Scores, down: Scores, beta: Scalar, where: Mask = None) -> Scalar:
        """[F(β up) − F(β down)] / β for two vectors of scores, without overflow or cancellation where possible."""
        high, low = self.potential(beta * up, where), self.potential(beta * down, where)
        # Equal potentials are a tie even where both are −∞, outside every pattern's support.
        return jnp.where(high == low, 0.0, high - low) / beta

    def block(self, z: Scores, values: Float[Array, "M V"], where: Mask = None) -> Stream:
        """Partial sums of one block of patterns."""
        raise TypeError(f"{type(self).__name__} has no streaming form: its weights need all scores at once")

    def merge(self, a: Stream, b: Stream) -> Stream:
        """Partial sums of two disjoint blocks together."""
        return Stream(a.shift, a.mass + b.mass, a.moment + b.moment)

    def finish(self, stream: Stream) -> tuple[Scalar, Float[Array, "V"]]:
        """F(z) and the read-out Σ_μ ∇F_μ values_μ of all the blocks."""
        return stream.mass, stream.moment


def _nonzero(x: Array) -> Array:
    return jnp.where(x != 0, x, 1.0)


def _unmasked(x: Array, where: Mask) -> Array:
    return x if where is None else jnp.where(where, x, 0.0)


class Polynomial(Separation):
    """F = Σ zⁿ/n, or Σ [z]₊ⁿ/n when rectified: dense associative memory (Krotov & Hopfield 2016, eqs. 1, 6).

    Build with `polynomial(degree, rectified)`. An odd degree without rectification is not convex.
    """

    degree: int = struct.field(pytree_node=False, default=3)
    rectified: bool = struct.field(pytree_node=False, default=False)
    streaming: ClassVar[bool] = True

    @property
    def convex(self) -> bool:
        return self.rectified or self.degree % 2 == 0

    def _base(self, z: Scores, where: Mask) -> Scores:
        z = _unmasked(z, where)
        return jnp.maximum(z, 0.0) if self.rectified else z

    def potential(self, z, where=None):
        return jnp.sum(self._base(z, where) ** self.degree) / self.degree

    def weights(self, z, where=None):
        return self._base(z, where) ** (self.degree - 1)

    def rise(self, up, down, beta, where=None):
        # aⁿ − bⁿ = (a − b) Σ a^k b^(n−1−k): no cancellation, and exact in floating point while scores are integers, so
        # that a spin with zero field is recognised as a tie. β enters last for the same reason.
        a, b = self._base(up, where), self._base(down, where)
        total = sum(a**k * b ** (self.degree - 1 - k) for k in range(self.degree))
        return beta ** (self.degree - 1) * jnp.sum((a - b) * total) / self.degree

    def block(self, z, values, where=None):
        return Stream(jnp.zeros((), z.dtype), self.potential(z, where), self.weights(z, where) @ values)


class Linear(Polynomial):
    """F = ½‖z‖², weights = scores: the classical Hopfield network (Hopfield 1982)."""

    degree: int = struct.field(pytree_node=False, default=2)


class LogSumExp(Separation):
    """F = log Σ exp z, weights = softmax: the modern Hopfield network and attention (Ramsauer et al. 2021, eq. 2)."""

    normalised: ClassVar[bool] = True
    streaming: ClassVar[bool] = True

    def potential(self, z, where=None):
        s, top = shifted(z, where)
        mass = jnp.sum(jnp.exp(s))
        return jnp.where(mass > 0, jnp.log(_nonzero(mass)) + top, -jnp.inf)

    def weights(self, z, where=None):
        s, _ = shifted(z, where)
        w = jnp.exp(s)
        return (w / _nonzero(jnp.sum(w))).astype(z.dtype)

    def shares(self, z, where=None):
        return self.weights(z, where)

    def block(self, z, values, where=None):
        s, top = shifted(z, where)
        w = jnp.exp(s)
        return Stream(top, jnp.sum(w), w.astype(values.dtype) @ values)

    def merge(self, a, b):
        # A block with nothing in it has mass 0 and must not set the shift.
        floor = jnp.minimum(a.shift, b.shift)
        shift = jnp.maximum(jnp.where(a.mass > 0, a.shift, floor), jnp.where(b.mass > 0, b.shift, floor))
        p = jnp.where(a.mass > 0, jnp.exp(a.shift - shift), 0.0)
        q = jnp.where(b.mass > 0, jnp.exp(b.shift - shift), 0.0)
        return Stream(shift, p * a.mass + q * b.mass, p * a.moment + q * b.moment)

    def finish(self, stream):
        filled = stream.mass > 0
        potential = jnp.where(filled, jnp.log(_nonzero(stream.mass)) + stream.shift, -jnp.inf)
        return potential, stream.moment / _nonzero(stream.mass)


class Exponential(LogSumExp):
    """F = Σ exp z: the exponential memory (Demircigil et al. 2017, eq. 6).

    F itself overflows beyond z ≈ 88 in float32. Differences of energy, shares and streams are formed
    relative to the largest score, so the dynamics never depend on that.
    """

    normalised: ClassVar[bool] = False

    def potential(self, z, where=None):
        return jnp.sum(_unmasked(jnp.exp(z), where))

    def weights(self, z, where=None):
        return _unmasked(jnp.exp(z), where)

    def shares(self, z, where=None):
        return LogSumExp.weights(self, z, where)

    def rise(self, up, down, beta, where=None):
        top = jax.lax.stop_gradient(jnp.max(_unmasked(jnp.maximum(up, down), where)))
        gap = jnp.sum(_unmasked(jnp.exp(beta * (up - top)) - jnp.exp(beta * (down - top)), where))
        # gap = 0 is an exact tie even where the common factor overflows (∞·0 would be NaN).
        return jnp.where(gap == 0, 0.0, gap / beta * jnp.exp(beta * top))

    def finish(self, stream):
        scale = jnp.exp(stream.shift)
        return scale * stream.mass, scale * stream.moment


class LogReLU(Separation):
    """F = log Σ [1 + z]₊: with z = −β‖x − ξ‖²/2 the Epanechnikov or log-sum-ReLU memory (Hoover et al. 2025, eq. 6).

    F is an increasing function of the convex Σ[1 + z]₊ but not convex. Weights are 1[1 + z > 0] / Σ[1 + z]₊. Outside
    every pattern's support F = −∞ and all weights are zero.
    """

    streaming: ClassVar[bool] = True
    level_convex: ClassVar[bool] = True

    @property
    def convex(self) -> bool:
        return False

    def potential(self, z, where=None):
        mass = jnp.sum(_unmasked(jnp.maximum(1.0 + z, 0.0), where))
        return jnp.where(mass > 0, jnp.log(_nonzero(mass)), -jnp.inf)

    def weights(self, z, where=None):
        inside = _unmasked((z > -1.0).astype(z.dtype), where)
        return inside / _nonzero(jnp.sum(inside * (1.0 + z)))

    def block(self, z, values, where=None):
        inside = _unmasked((z > -1.0).astype(z.dtype), where)
        return Stream(jnp.zeros((), z.dtype), jnp.sum(inside * (1.0 + z)), inside @ values)

    def finish(self, stream):
        potential = jnp.where(stream.mass > 0, jnp.log(_nonzero(stream.mass)), -jnp.inf)
        return potential, stream.moment / _nonzero(stream.mass)


class Sparsemax(Separation):
    """F = max_p p·z + ½(1 − ‖p‖²) over the simplex, weights = sparsemax, by sorting (Martins & Astudillo 2016)."""

    normalised: ClassVar[bool] = True

    def potential(self, z, where=None):
        return _fenchel_young(self, z, where)

    def regulariser(self, p: Scores) -> Scalar:
        return 0.5 * jnp.sum(p - p * p)

    def weights(self, z, where=None):
        return simplex.sparsemax(z, where).astype(z.dtype)


class Entmax(Separation):
    """F = max_p p·z + H_α(p), weights = α-entmax, 1 < α ≤ 2. Build with `entmax(alpha)`.

    Source: Peters, Niculae & Martins 2019, eq. 6.
    """

    alpha: Scalar
    normalised: ClassVar[bool] = True

    def potential(self, z, where=None):
        return _fenchel_young(self, z, where)

    def regulariser(self, p: Scores) -> Scalar:
        return simplex.tsallis_entropy(p, self.alpha)

    def weights(self, z, where=None):
        return simplex.entmax(z, self.alpha, where).astype(z.dtype)


class Normmax(Separation):
    """F = max_p p·z + 1 − ‖p‖_α, weights = α-normmax, α > 1 (Santos et al. 2024, eq. 11). Build with `normmax(alpha)`."""

    alpha: Scalar
    normalised: ClassVar[bool] = True

    def potential(self, z, where=None):
        return simplex.normmax(z, self.alpha, where)[1]

    def weights(self, z, where=None):
        return simplex.normmax(z, self.alpha, where)[0].astype(z.dtype)


class TopK(Separation):
    """F = log-sum-exp of the k largest scores, weights = their softmax. Build with `top_k(k)`.

    Convex, as the maximum over all sets of k patterns.
    """

    count: int = struct.field(pytree_node=False, default=1)
    normalised: ClassVar[bool] = True

    def _kept(self, z: Scores, where: Mask) -> Bool[Array, "M"]:
        masked = z if where is None else jnp.where(where, z, -jnp.inf)
        _, index = jax.lax.top_k(jax.lax.stop_gradient(masked), min(self.count, z.size))
        kept = jnp.zeros(z.shape, bool).at[index].set(True)
        return kept if where is None else kept & where

    def potential(self, z, where=None):
        return LogSumExp().potential(z, self._kept(z, where))

    def weights(self, z, where=None):
        return LogSumExp().weights(z, self._kept(z, where))


@jax.custom_jvp
def _fenchel_young(separation: Sparsemax | Entmax, z: Scores, where: Mask) -> Scalar:
    """F(z) = p·z + regulariser(p) at p = weights(z); by the envelope theorem its derivative treats p as constant."""
    s, top = shifted(z, where)
    p = separation.weights(z, where).astype(s.dtype)
    value = jnp.sum(jnp.where(p > 0, p * s, 0.0)) + separation.regulariser(p) + top
    return jnp.where(jnp.any(jnp.isfinite(s)), value, -jnp.inf)


@_fenchel_young.defjvp
def _fenchel_young_jvp(primals, tangents):
    separation, z, where = primals
    d_separation, dz, _ = tangents
    p = separation.weights(z, where).astype(shifted(z, where)[0].dtype)
    frozen = jax.lax.stop_gradient(p)
    _, d_regulariser = jax.jvp(lambda sep: sep.regulariser(frozen), (separation,), (d_separation,))
    return _fenchel_young(separation, z, where), jnp.sum(p * dz.astype(p.dtype)) + d_regulariser


def _real(name: str, value, low: float, high: float, contract: str) -> Array:
    if is_traced(value):
        return value
    if not low < float(value) <= high:
        raise ValueError(f"{name} must be {contract}, got {value}")
    return jnp.asarray(float(value))


def polynomial(degree: int = 3, rectified: bool = False) -> Polynomial:
    """Σ zⁿ/n of integer degree n ≥ 2 (n = 2 is the classical network). Raises ValueError for anything else."""
    if isinstance(degree, bool) or not isinstance(degree, int) or degree < 2:
        raise ValueError(f"degree must be an integer of at least 2, got {degree!r}")
    return Polynomial(degree, rectified)


def entmax(alpha: float = 1.5) -> Entmax:
    """α-entmax with 1 < α ≤ 2 (α = 2 is sparsemax, α → 1 softmax). Raises ValueError outside that range."""
    return Entmax(_real("alpha", alpha, 1.0, 2.0, "greater than 1 and at most 2 for entmax"))


def normmax(alpha: float = 2.0) -> Normmax:
    """α-normmax with α > 1 (large α spreads the weight evenly over few patterns). Raises ValueError otherwise."""
    return Normmax(_real("alpha", alpha, 1.0, float("inf"), "greater than 1 for normmax"))


def top_k(count: int = 8) -> TopK:
    """Softmax over the `count` ≥ 1 largest scores. Raises ValueError for anything else."""
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise ValueError(f"count must be a positive integer, got {count!r}")
    return TopK(count)
