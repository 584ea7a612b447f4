"""The log of a sum of rectified scores: memories with compact support."""

from typing import ClassVar

import jax.numpy as jnp
import numpy as np

from hopfield._names import Named
from hopfield._numerics import positive_part
from hopfield.separations._guards import nonzero, unmasked
from hopfield.separations.base import ByBlocks, Scalar, Separation
from hopfield.separations.simplex import Mask, Scores
from hopfield.separations.streams import Stream, Streaming


class LogReLU(Streaming, Separation):
    """F = log Σ [1 + z]₊: with z = −β‖x − ξ‖²/2 the Epanechnikov or log-sum-ReLU memory (Hoover et al. 2025, eq. 6).

    F is an increasing function of the convex Σ[1 + z]₊ but not convex. Weights are 1[1 + z > 0] / Σ[1 + z]₊. Outside
    every pattern's support F = −∞ and all weights are zero.

    Example:
        >>> from hopfield import separations
        >>> np.round(separations.LogReLU().weights(jnp.array([0.0, -0.5, -2.0])).tolist(), 3).tolist()
        [0.667, 0.667, 0.0]
    """

    quasiconvex: ClassVar[bool] = True
    by_blocks: ClassVar[ByBlocks] = "sums"

    @property
    def convex(self) -> bool:
        return False

    def potential(self, z, mask=None):
        mass = self._inside(z, mask)[1]
        return jnp.where(mass == 0, -jnp.inf, jnp.log(nonzero(mass)))

    def weights(self, z, mask=None):
        inside, mass = self._inside(z, mask)
        return inside / nonzero(mass)

    def log_sizes(self, z, mask=None):
        return jnp.log(self._inside(z, mask)[0])

    def summand(self, scores, beta):
        return np.maximum(1.0 + beta * scores, 0.0)

    def block(self, z, values, mask=None):
        inside, mass = self._inside(z, mask)
        return Stream(jnp.zeros((), z.dtype), mass, inside @ values)

    def finish(self, stream):
        potential = jnp.where(stream.mass == 0, -jnp.inf, jnp.log(nonzero(stream.mass)))
        return potential, stream.moment / nonzero(stream.mass)

    def _inside(self, z: Scores, mask: Mask) -> tuple[Scores, Scalar]:
        """Support and mass: 1 inside and 0 outside [M], NaN where z is NaN or +∞; and Σ [1 + z]₊."""
        z = unmasked(z, mask)
        z = jnp.where(z == jnp.inf, jnp.nan, z)
        inside = unmasked(jnp.where(jnp.isnan(z), z, (z > -1.0).astype(z.dtype)), mask)
        return inside, jnp.sum(unmasked(positive_part(1.0 + z), mask))


NAMES = {"epanechnikov": Named(LogReLU)}
