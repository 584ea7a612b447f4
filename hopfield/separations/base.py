"""Base of every separation, and the partial sums by which blocks of patterns can be absorbed."""

import abc
from collections.abc import Callable
from functools import wraps
from typing import Any, ClassVar, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jaxtyping import Array, Float

from hopfield._checks import booleans, real_array, vector
from hopfield._pytrees import Node
from hopfield._shapes import Scalar
from hopfield.separations._guards import nonzero as nonzero
from hopfield.separations._guards import unmasked as unmasked
from hopfield.separations._ties import balance, difference, finite_rise, where_near
from hopfield.separations.jacobians import softmax_jacobian_product
from hopfield.separations.simplex import Mask, Scores


class Stream(NamedTuple):
    """Partial sums over a block of patterns: Σ of the potential's and of the weighted values' terms, times e^shift.

    Example:
        >>> from hopfield import separations
        >>> softmax, z, rows = separations.LogSumExp(), jnp.array([2.0, 1.0]), jnp.eye(2)
        >>> halves = softmax.block(z[:1], rows[:1]), softmax.block(z[1:], rows[1:])
        >>> potential, output = softmax.finish(softmax.merge(*halves))
        >>> jnp.allclose(output, softmax.weights(z)).item()
        True
    """

    shift: Scalar
    mass: Scalar
    moment: Float[Array, "V"]


class Summand(NamedTuple):
    """Functions of one pattern's overlap: its summand in the potential and its weight, both up to a factor."""

    potential: Callable[[np.ndarray], np.ndarray]
    weight: Callable[[np.ndarray], np.ndarray]


ROUNDING = 2.0**-8
"""Distance from 1 that rounding leaves a sum of weights at, in half precision."""


class Separation(Node, abc.ABC):
    """A potential F(z) over scores with its gradient, the weights.

    A subclass must define `potential` and `weights`. It may define, in this order: what is known of F, the flags from
    `normalised` to `quasiconvex`, `convex` and `monotone`; `shares` and `share_form`, where weights overflow;
    `jacobian_product`; `_regulariser`, its entropy; `potential_difference` or `_difference`, and `fields`, where
    potentials cancel; `summand`, `log_weight` and `overlap_terms`, where F is a sum over patterns; `log_sizes`,
    `block`, `merge` and `finish`, where it is `streaming`; `at_threshold`, where it is `thresholded`; `field_block`,
    `field_merge` and `field_finish`, where `fields` of blocks cancel.

    Every method takes one vector of scores z = β s [M] and an optional mask `mask` of the patterns in use. Fully
    masked scores have zero weights and, for normalised potentials, F = −∞. One unmasked score of NaN makes F and the
    shares NaN; so does one of +∞, an overflow that says no more of the weights (F may be +∞ where it is a sum over
    patterns).

    Raises:
        ValueError: scores that are no vector of real numbers, a mask that is not truth values [M].

    Example:
        >>> from hopfield import separations
        >>> softmax, z = separations.find("softmax"), jnp.array([2.0, 1.0])
        >>> jnp.allclose(jax.grad(softmax.potential)(z), softmax.weights(z)).item()
        True
    """

    normalised: ClassVar[bool] = False
    """Whether the weights of unmasked scores always sum to one."""
    streaming: ClassVar[bool] = False
    """Whether blocks of patterns can be absorbed one at a time (`block`, `merge`, `finish`)."""
    thresholded: ClassVar[bool] = False
    """Whether they can be once a threshold of all scores is known, at which `at_threshold` cuts the weights."""
    per_query: ClassVar[bool] = False
    """Whether its numbers belong to one vector of scores, as a threshold does."""
    exponential: ClassVar[bool] = False
    """Whether F is a function of Σ e^z, all that a pass of block-wise attention keeps."""
    gibbs: ClassVar[bool] = False
    """Whether the weights are e^(z − F); a subclass with weights of its own says so itself."""
    quadratic: ClassVar[bool] = False
    """Whether F = ½‖z‖², whose memory on spins is a matrix of couplings."""
    quasiconvex: ClassVar[bool] = False
    """Whether F is an increasing function of a convex one (enough for descent where R is constant)."""

    def __init_subclass__(cls, **options):
        for name in {"potential", "weights", "shares"} & set(vars(cls)):
            setattr(cls, name, _of_scores(vars(cls)[name]))
        cls.gibbs = cls.gibbs and ("gibbs" in vars(cls) or "weights" not in vars(cls))
        super().__init_subclass__(**options)

    @property
    def is_softmax(self) -> bool:
        """Whether the weights are attention's softmax weights, e^(z − F), which sum to one."""
        return self.gibbs and self.normalised

    @property
    def convex(self) -> bool:
        """Whether F is convex, the condition of the descent theorem."""
        return True

    @property
    def monotone(self) -> bool:
        """Whether weights are never negative. A pattern of negative weight repels."""
        return True

    @abc.abstractmethod
    def potential(self, z: Scores, mask: Mask = None) -> Scalar:
        """F(z)."""

    @abc.abstractmethod
    def weights(self, z: Scores, mask: Mask = None) -> Scores:
        """∇F(z) [M]. It is zero where masked."""

    def shares(self, z: Scores, mask: Mask = None) -> Scores:
        """|∇F| / Σ|∇F| [M], the part of the read-out each pattern has. All are zero if all weights vanish."""
        size = jnp.abs(self.weights(z, mask))
        size = size / nonzero(jnp.max(size, initial=0.0))  # NaN stays NaN in the quotients and their sum
        return size / nonzero(jnp.sum(size))

    @property
    def share_form(self) -> "Separation":
        """A separation with the same shares, whose weights overflow nowhere."""
        return self

    def jacobian_product(self, p: Array, v: Array) -> Array:
        """J v = vᵀ J with J = ∂p/∂z, the Hessian of F, worked out by hand at weights p and along v, both [*b, M].

        Raises:
            ValueError: there is none, as where the weights alone do not determine J.
        """
        if self.gibbs:
            return softmax_jacobian_product(p, v)
        raise ValueError(f"separation must have a Jacobian by hand (jacobian_product), got {type(self).__name__}")

    def regulariser(self, p: Scores) -> Scalar:
        """Ω(p), the entropy of this separation: F(z) = max over p of p·z + Ω(p), reached at the weights.

        −∞ where no weights lie: off the simplex if they are normalised, below zero unless they can be negative.

        Raises:
            TypeError: none is known, as for potentials that are not convex.
        """
        p = real_array("p", p)
        total = jnp.sum(p)
        outside = jnp.any(p < 0) if self.monotone else jnp.asarray(False)
        if self.normalised:
            outside |= jnp.abs(total - 1.0) > ROUNDING
        return jnp.where(outside & ~jnp.isnan(total), -jnp.inf, self._regulariser(p))

    def _regulariser(self, p: Scores) -> Scalar:
        """Ω at weights inside its domain."""
        raise TypeError(f"{type(self).__name__} has no regulariser: its potential is no maximum over weights")

    def potential_difference(self, up: Scores, down: Scores, beta: Scalar, mask: Mask = None) -> Scalar:
        """[F(β up) − F(β down)] / β for two vectors of scores, without overflow or cancellation where possible."""
        return difference(self, up, down, beta, mask)

    def _difference(self, up: Scores, down: Scores, beta: Scalar, mask: Mask) -> Scalar:
        rise = finite_rise(up, down, mask)
        # Of scores that all but agree the potentials are no more than their rounding apart.
        size = jax.lax.stop_gradient(beta * jnp.max(jnp.abs(rise), initial=0.0))
        near = size < float(jnp.finfo(rise.dtype).eps) ** 0.5
        mean = lambda: 0.5 * (self.weights(beta * up, mask) + self.weights(beta * down, mask))
        return where_near(
            near, lambda: balance(mean(), rise), lambda: self._difference_of_potentials(up, down, beta, mask)
        )

    def _difference_of_potentials(self, up: Scores, down: Scores, beta: Scalar, mask: Mask) -> Scalar:
        """[F(β up) − F(β down)] / β; equal potentials are a tie even where both are −∞, outside every support."""
        high, low = self.potential(beta * up, mask), self.potential(beta * down, mask)
        return jnp.where(high == low, 0.0, high - low) / beta

    def fields(self, scores: Scores, steps: Float[Array, "M N"], state: Float[Array, "N"], beta, mask: Mask = None):
        """Half the rise of F from spin −1 to +1, for every spin i [N], which moves the scores by steps[:, i]."""

        def field(step, spin):
            up, down = scores + 0.5 * (1.0 - spin) * step, scores - 0.5 * (1.0 + spin) * step
            return 0.5 * self.potential_difference(up, down, beta, mask)

        return jax.vmap(field, (1, 0))(steps, state)

    def summand(self, scores: np.ndarray, beta: float) -> np.ndarray | None:
        """f(β s) of every score alone where F is Σ_μ f(z_μ) or an increasing function of that sum. None elsewhere.

        Up to an increasing linear map that all scores share. This one tells the sum from F's values, in JAX's default
        precision; a separation that knows its f writes it in numpy.
        """
        lift = next((lift for lift in (np.asarray, np.exp) if _adds_up(self, lift)), None)
        if lift is None:
            return None
        alone = np.asarray(jax.vmap(lambda z: self.potential(z[None]))(jnp.asarray(beta * scores)), np.float64)
        return alone if lift is np.asarray else np.exp(alone - np.max(alone))

    def log_weight(self, scores: np.ndarray, beta: float) -> np.ndarray:
        """ln |f′(β s)| of every score alone, up to a common constant. The separation needs a `summand`."""
        z = jnp.asarray(beta * scores)
        with np.errstate(divide="ignore"):
            logs = self.log_sizes(z) if self.streaming else np.log(np.abs(np.asarray(self.weights(z), np.float64)))
        return np.asarray(logs, np.float64)

    def overlap_terms(self, beta: float, held: np.ndarray) -> Summand | None:
        """f and w = f′ as functions of an overlap with spins if F is a function of the sum over patterns; else None.

        Where `summand` scales by the scores it is given, these have one scale for all calls: the least and the largest
        overlap [*b, 2] that patterns have, so that the largest term is within the range of double precision.
        """
        return None

    def log_sizes(self, z: Scores, mask: Mask = None) -> Scores:
        """ln |∇F| [M] up to a number that all patterns share, each entry from its own score only; −∞ where masked.

        Shares and their entropy are formed from it block by block. Only for separations that stream.
        """
        if not self.streaming:
            raise TypeError(f"{type(self).__name__} has no streaming form: its weights need all scores at once")
        size = jnp.abs(self.weights(z, mask))
        return jnp.where(size == 0, -jnp.inf, jnp.log(nonzero(size)))

    def block(self, z: Scores, values: Float[Array, "M V"], mask: Mask = None) -> Stream:
        """Partial sums of one block of patterns."""
        raise TypeError(f"{type(self).__name__} has no streaming form: its weights need all scores at once")

    def merge(self, a: Stream, b: Stream) -> Stream:
        """Partial sums of two disjoint blocks together."""
        return Stream(a.shift, a.mass + b.mass, a.moment + b.moment)

    def finish(self, stream: Stream) -> tuple[Scalar, Float[Array, "V"]]:
        """F(z) and the read-out Σ_μ ∇F_μ values_μ of all the blocks."""
        return stream.mass, stream.moment

    def at_threshold(self, top: Scalar, log_peak: Scalar) -> Any:
        """Weights, block by block, of scores with maximum `top`, whose weight is e^`log_peak`."""
        raise TypeError(f"{type(self).__name__} has no threshold")

    def field_block(self, scores: Scores, steps: Float[Array, "M N"], state: Float[Array, "N"], beta, mask) -> Any:
        """Share of one block of patterns in `fields`: partial sums with spin +1 and with spin −1, for every spin."""
        empty = jnp.zeros((scores.size, 0), scores.dtype)

        def streams(step, spin):
            up, down = scores + 0.5 * (1.0 - spin) * step, scores - 0.5 * (1.0 + spin) * step
            return self.block(beta * up, empty, mask), self.block(beta * down, empty, mask)

        return jax.vmap(streams, (1, 0))(steps, state)

    def field_merge(self, a: Any, b: Any) -> Any:
        """`field_block` of two disjoint blocks together."""
        return tuple(jax.vmap(self.merge)(one, other) for one, other in zip(a, b, strict=True))

    def field_finish(self, sums: Any, beta: Scalar) -> Float[Array, "N"]:
        """`fields` of all the blocks."""
        high, low = (jax.vmap(self.finish)(stream)[0] for stream in sums)
        return 0.5 * jnp.where(high == low, 0.0, high - low) / beta


def _of_scores(method: Callable) -> Callable:
    """Method of scores and a mask with checks: scores are a real vector, the mask has one truth value for each."""

    @wraps(method)
    def checked(self, z, mask=None):
        z = vector("scores", z)
        return method(self, z, None if mask is None else booleans("mask", mask, z.shape))

    return checked


def _adds_up(separation: Separation, lift) -> bool:
    """Whether lift(F) is additive over sets of patterns, to the precision of floats. The empty set counts once."""
    scores = jnp.asarray([0.9, -0.4, 0.2, 1.3])
    masks = np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 1, 1, 1], [0, 0, 0, 0]], bool)
    first, second, both, none = lift(np.asarray([separation.potential(scores, jnp.asarray(mask)) for mask in masks]))
    return bool(abs(first + second - both - none) < 1e-5 * (1 + abs(both)))
