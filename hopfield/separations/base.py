"""Base of every separation: what a potential and its gradient determine."""

import abc
from typing import ClassVar, Literal, get_args

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from hopfield._arguments import check_methods, of_scores, real_array
from hopfield._arrays import Scalar
from hopfield._pytrees import Node
from hopfield.separations._guards import nonzero as nonzero
from hopfield.separations._guards import unmasked as unmasked
from hopfield.separations._ties import balance, difference, finite_rise, where_near
from hopfield.separations.jacobians import softmax_jacobian_product
from hopfield.separations.simplex import Mask, Scores
from hopfield.separations.streams import Streaming

Blockwise = Literal["sums", "threshold"]
ByBlocks = Blockwise | None
BY_BLOCKS: tuple[Blockwise, ...] = get_args(Blockwise)
_TOLD_OF = {
    "gibbs": {"potential", "weights"},
    "by_blocks": {"potential", "weights", "shares", "log_sizes"},
}
"""Promises of a separation about its methods; a class that redefines one of the methods does not inherit them."""
ROUNDING = 2.0**-8
"""Distance from 1 that rounding leaves a sum of weights at, in half precision."""


class Separation(Node, abc.ABC):
    """A potential F(z) over scores with its gradient, the weights.

    A subclass must define `potential` and `weights`, and what it knows of them: `normalised`, `gibbs`, `quasiconvex`,
    `convex` and `monotone`. It may define `shares` and `share_form`, where weights overflow; `jacobian_product`;
    `_regulariser`, its entropy; `potential_difference` or `_difference`, and `fields`, where potentials cancel. To be
    read block by block it states `Streaming` beside this class.

    Every method takes one vector of scores z = β s [M] and an optional mask `mask` of the patterns in use. Fully
    masked scores have zero weights and, for normalised potentials, F = −∞. One unmasked score of NaN makes F and the
    shares NaN; so does a score of +∞, an overflow (F may be +∞ if F is a sum over patterns).

    Raises:
        ValueError: scores that are no vector of real numbers, a mask that is not truth values [M].

    Example:
        >>> from hopfield import separations
        >>> softmax, z = separations.find("softmax"), jnp.array([2.0, 1.0])
        >>> jnp.allclose(jax.grad(softmax.potential)(z), softmax.weights(z)).item()
        True
    """

    normalised: ClassVar[bool] = False
    """True if the weights of unmasked scores always sum to one."""
    gibbs: ClassVar[bool] = False
    """True if the weights are e^(z − F); a subclass with a potential or weights of its own says so itself."""
    quasiconvex: ClassVar[bool] = False
    """True if F is an increasing function of a convex one (enough for descent where R is constant)."""
    by_blocks: ClassVar[ByBlocks] = None
    """How weights are read block by block: by sums that are merged (`Streaming`); as α-entmax of `alpha`, after passes
    for the threshold of all scores; or not, as they need all scores at once. A subclass with a potential, weights or
    shares of its own says so itself."""

    def __init_subclass__(cls, **options):
        check_methods(cls, potential=of_scores, weights=of_scores, shares=of_scores)
        for name, functions in _TOLD_OF.items():
            told, own = (_place(cls, names) for names in ({name}, functions))
            if told > own:
                setattr(cls, name, getattr(Separation, name))
        _check_by_blocks(cls)
        super().__init_subclass__(**options)

    @property
    def is_softmax(self) -> bool:
        """True if the weights are attention's softmax weights, e^(z − F), which sum to one."""
        return self.gibbs and self.normalised

    @property
    def convex(self) -> bool:
        """True if F is convex, the condition of the descent theorem."""
        return True

    @property
    def monotone(self) -> bool:
        """True if weights are never negative. A pattern of negative weight repels."""
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
            ValueError: no Jacobian exists, as where the weights alone do not determine J.
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


def _place(cls: type, names: set[str]) -> int:
    """How far from a class, along its bases, the first one is that defines or annotates one of the names."""
    told = (names & {*vars(base), *vars(base).get("__annotations__", ())} for base in cls.__mro__)
    return next((place for place, found in enumerate(told) if found), len(cls.__mro__))


def _check_by_blocks(cls: type) -> None:
    """Check that a class has the methods that its `by_blocks` promises."""
    found, got = cls.by_blocks, f"got {cls.by_blocks!r} of {cls.__name__}"
    if found not in (None, *BY_BLOCKS):
        raise ValueError(f"by_blocks must be None or one of {', '.join(BY_BLOCKS)}, {got}")
    if found == "sums" and not issubclass(cls, Streaming):
        raise ValueError(f"by_blocks must be None, or the class one of separations.Streaming, {got}")
    if found == "threshold" and _place(cls, {"alpha"}) == len(cls.__mro__):
        raise ValueError(f"by_blocks must be None where there is no alpha, {got}")
