"""Powers of rectified scores whose degree is a real number, and can be learned."""

from typing import ClassVar

import jax.numpy as jnp
import numpy as np

from hopfield._arguments import real_scalar
from hopfield._names import Named
from hopfield._numerics import largest, positive_part, wide
from hopfield._pytrees import fill
from hopfield.separations._guards import nonzero, unmasked
from hopfield.separations._powers import clipped_power
from hopfield.separations.base import ByBlocks, Scalar, Separation
from hopfield.separations.simplex import Mask, Scores
from hopfield.separations.streams import Stream, Streaming


class RectifiedPower(Streaming, Separation):
    """F = Σ [z]₊ⁿ/n of a real n ≥ 1, a number that is traced: dense associative memory between the whole degrees.

    At n = 1 every pattern of a positive score weighs one. Below 2 a weight leaves zero
    with an infinite slope; a weight that is zero has none.

    Example:
        >>> from hopfield import separations
        >>> np.round(separations.RectifiedPower(2.5).weights(jnp.array([2.0, 1.0, -1.0])).tolist(), 3).tolist()
        [2.828, 1.0, 0.0]
    """

    degree: Scalar | float = 2.5
    by_blocks: ClassVar[ByBlocks] = "sums"

    def __post_init__(self) -> None:
        found = real_scalar("degree", self.degree, "a finite number of at least 1", 1.0)
        fill(self, degree=jnp.asarray(found, jnp.result_type(float)))

    def potential(self, z, mask=None):
        z, degree = self._wide(z, mask)
        return jnp.sum(clipped_power(z, degree)) / degree

    def weights(self, z, mask=None):
        base, degree = self._wide(z, mask)
        return clipped_power(base, degree - 1.0).astype(z.dtype)

    def shares(self, z, mask=None):
        z = positive_part(unmasked(wide(z), mask))
        return super().shares(z / nonzero(largest(z)), mask)

    def log_sizes(self, z, mask=None):
        z, degree = self._wide(z, mask)
        return jnp.where(z <= 0, -jnp.inf, (degree - 1.0) * jnp.log(jnp.where(z <= 0, 1.0, z)))

    def _wide(self, z: Scores, mask: Mask) -> tuple[Scores, Scalar]:
        """Scores, 0 where masked, and the degree, of the type that sums are carried in."""
        z = unmasked(wide(z), mask)
        return z, jnp.asarray(self.degree, z.dtype)

    def summand(self, scores, beta):
        return np.maximum(scores, 0.0) ** float(self.degree)

    def _regulariser(self, p):
        p, degree = self._wide(p, None)
        dual = degree / (degree - 1.0)
        bounded = jnp.where(jnp.any(p > 1), -jnp.inf, 0.0)  # of n = 1, the most of p·z over 0 ≤ p ≤ 1
        return jnp.where(degree == 1, bounded, -jnp.sum(clipped_power(p, dual)) / dual)

    def block(self, z, values, mask=None):
        return Stream(jnp.zeros((), z.dtype), self.potential(z, mask), self.weights(z, mask) @ values)


NAMES = {"power": Named(RectifiedPower, float)}
