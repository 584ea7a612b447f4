"""Powers of the scores: the classical network and its dense generalisations."""

import math
from functools import partial
from typing import ClassVar

import jax
import jax.numpy as jnp
import numpy as np
from flax import struct

from hopfield._arguments import flag, integer
from hopfield._names import Named
from hopfield._numerics import EXACT_DEGREE, anywhere, largest, positive_part, power_of_two, power_scale, wide
from hopfield._pytrees import fill
from hopfield.separations._guards import faint, nonzero, scaled, unmasked
from hopfield.separations.base import ByBlocks, Separation
from hopfield.separations.simplex import Mask, Scores
from hopfield.separations.streams import Stream, Streaming, Summand

NEVER_CANCELS = 8
"""The largest degree whose expansion leaves a float32 four digits at any step: its terms cancel by 3ⁿ at most."""
CANCELLATION = 3.0**NEVER_CANCELS


class Polynomial(Streaming, Separation):
    """F = Σ zⁿ/n, or Σ [z]₊ⁿ/n when rectified: dense associative memory (Krotov & Hopfield 2016, eqs. 1, 6).

    The degree is an integer of at least 2; 2 is the classical network. An odd degree is not convex unless rectified.

    Example:
        >>> from hopfield import separations
        >>> np.round(separations.Polynomial(3).weights(jnp.array([2.0, 1.0, -1.0])).tolist(), 3).tolist()
        [4.0, 1.0, 1.0]
    """

    degree: int = struct.field(pytree_node=False, default=3)
    rectified: bool = struct.field(pytree_node=False, default=False)
    by_blocks: ClassVar[ByBlocks] = "sums"

    def __post_init__(self) -> None:
        fill(self, degree=integer("degree", self.degree, 2), rectified=flag("rectified", self.rectified))

    @property
    def convex(self) -> bool:
        return self.rectified or self.degree % 2 == 0

    @property
    def monotone(self) -> bool:
        return self.rectified or self.degree % 2 == 1

    def _base(self, z: Scores, mask: Mask) -> Scores:
        z = unmasked(z, mask)
        return positive_part(z) if self.rectified else z

    def potential(self, z, mask=None):
        return jnp.sum(self._base(z, mask) ** self.degree) / self.degree

    def weights(self, z, mask=None):
        return self._base(z, mask) ** (self.degree - 1)

    def shares(self, z, mask=None):
        # The scale of the scores is immaterial to them, but not to the range of their powers.
        z = unmasked(wide(z), mask)
        return super().shares(z / power_scale(largest(jnp.abs(z)), self.degree), mask)

    def log_sizes(self, z, mask=None):
        size = jnp.abs(self._base(z, mask))
        return jnp.where(size == 0, -jnp.inf, (self.degree - 1) * jnp.log(nonzero(size)))

    def summand(self, scores, beta):
        return (np.maximum(scores, 0.0) if self.rectified else 1.0 * np.asarray(scores)) ** self.degree

    def log_weight(self, scores, beta):
        with np.errstate(divide="ignore"):
            return (self.degree - 1) * np.log(np.maximum(scores, 0.0) if self.rectified else np.abs(scores))

    def _regulariser(self, p):
        if not self.convex:
            return super()._regulariser(p)
        dual = self.degree / (self.degree - 1)
        size = jnp.abs(p)
        size = jnp.where(size == 0, 0.0, jnp.where(size == 0, 1.0, size) ** dual)
        outside = jnp.any(p < 0) if self.rectified else False
        return -jnp.sum(size) / dual + jnp.where(outside, -jnp.inf, 0.0)

    def potential_difference(self, up, down, beta, mask=None):
        # aⁿ − bⁿ = (a − b) Σ a^k b^(n−1−k): no cancellation, and exact in floating point while scores are integers, so
        # that a spin with zero field is recognised as a tie. β enters last for the same reason.
        a, b = self._base(up, mask), self._base(down, mask)
        scale = power_scale(largest(jnp.maximum(jnp.abs(a), jnp.abs(b))), self.degree)
        a, b = a / scale, b / scale
        total = sum(a**k * b ** (self.degree - 1 - k) for k in range(self.degree))
        return scaled(jnp.sum((a - b) * total), self._factor(beta, scale)) / self.degree

    def fields(self, scores, steps, state, beta, mask=None):
        if self.rectified or self.degree > EXACT_DEGREE:
            return Separation.fields(self, scores, steps, state, beta, mask)
        if self.degree <= NEVER_CANCELS:
            return self._fields_by_expansion(scores, steps, state, beta, mask)
        sizes = (jnp.abs(jax.lax.stop_gradient(x)) for x in (unmasked(scores, mask), steps))
        largest_score, largest_step = map(largest, sizes)
        lost = anywhere(largest_step > largest_score * (CANCELLATION ** (1 / self.degree) - 1.0))
        alone = partial(Separation.fields, self)
        return jax.lax.cond(lost, alone, self._fields_by_expansion, scores, steps, state, beta, mask)

    def _fields_by_expansion(self, scores, steps, state, beta, mask):
        """`fields` by products of matrices, into which the powers of scores s + (1 − x) t/2 and s − (1 + x) t/2 expand.

        The terms may be larger than what they add up to by (1 + t/s)ⁿ.
        """
        # A masked score is left out of its powers as well, since 0⁰ = 1.
        n, s = self.degree, unmasked(scores, mask)
        scale = power_of_two(jnp.maximum(largest(jnp.abs(s)), largest(jnp.abs(steps))))
        # Powers of two, so that nothing is rounded; the steps keep their own, and are the same for every state.
        step_scale = power_of_two(largest(jnp.abs(steps)))
        s, steps = s / scale, steps / step_scale
        terms = [
            math.comb(n, k) * _rise(state, k) * (step_scale / scale) ** k * (unmasked(s ** (n - k), mask) @ steps**k)
            for k in range(1, n + 1)
        ]
        return 0.5 * scaled(sum(terms), self._factor(beta, scale)) / n

    def _factor(self, beta, scale):
        return scale * jnp.maximum((beta * scale) ** (self.degree - 1), faint(scale.dtype))

    def field_block(self, scores, steps, state, beta, mask):
        return self.fields(scores, steps, state, beta, mask)  # they add up over patterns

    def field_merge(self, a, b):
        return a + b

    def field_finish(self, sums, beta):
        return sums

    def overlap_terms(self, beta, held):
        # Whole numbers by a power of two, exact below 2^53, so that a field of zero is the tie it is.
        scale = np.exp2(np.ceil(np.log2(np.maximum(np.max(np.abs(held), axis=-1), 1.0))))
        base = (lambda s: np.maximum(s, 0.0) / scale) if self.rectified else (lambda s: s / scale)
        return Summand(lambda s: base(s) ** self.degree, lambda s: base(s) ** (self.degree - 1))

    def block(self, z, values, mask=None):
        return Stream(jnp.zeros((), z.dtype), self.potential(z, mask), self.weights(z, mask) @ values)


class Linear(Polynomial):
    """F = ½‖z‖², weights = scores: the classical Hopfield network (Hopfield 1982).

    Example:
        >>> from hopfield import separations
        >>> np.round(separations.Linear().weights(jnp.array([2.0, 1.0, -1.0])).tolist(), 3).tolist()
        [2.0, 1.0, -1.0]
    """

    degree: int = struct.field(pytree_node=False, default=2)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.degree != 2:
            raise ValueError(f"degree must be 2 for Linear (write separations.Polynomial), got {self.degree}")
        if self.rectified:
            raise ValueError("rectified must be False for Linear (write separations.Polynomial), got True")


def _rise(state, power: int):
    """Rise ((1 − x)^k − (−1 − x)^k)/2^k of a k-th power with a unit x [N]; of a spin exactly (−x)^(k−1)."""
    return (0.5 * (1.0 - state)) ** power - (-0.5 * (1.0 + state)) ** power


def _rectified(degree: int = 2) -> Polynomial:
    return Polynomial(degree, rectified=True)


NAMES = {"linear": Named(Linear), "polynomial": Named(Polynomial, int), "rectified": Named(_rectified, int)}
