"""The log of a sum of rectified scores: memories with compact support."""

from typing import ClassVar

import jax.numpy as jnp

from hopfield.separations.base import Separation, Stream, nonzero, unmasked


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
        mass = jnp.sum(unmasked(jnp.maximum(1.0 + z, 0.0), where))
        return jnp.where(mass > 0, jnp.log(nonzero(mass)), -jnp.inf)

    def weights(self, z, where=None):
        inside = unmasked((z > -1.0).astype(z.dtype), where)
        return inside / nonzero(jnp.sum(inside * (1.0 + z)))

    def log_sizes(self, z, where=None):
        return jnp.where(unmasked(z > -1.0, where), 0.0, -jnp.inf).astype(z.dtype)

    def block(self, z, values, where=None):
        inside = unmasked((z > -1.0).astype(z.dtype), where)
        return Stream(jnp.zeros((), z.dtype), jnp.sum(inside * (1.0 + z)), inside @ values)

    def finish(self, stream):
        potential = jnp.where(stream.mass > 0, jnp.log(nonzero(stream.mass)), -jnp.inf)
        return potential, stream.moment / nonzero(stream.mass)
