"""Softmax of the largest scores alone."""

from functools import partial
from typing import ClassVar

import jax
import jax.numpy as jnp
from flax import struct
from jaxtyping import Array, Bool

from hopfield import _numerics
from hopfield._arguments import integer
from hopfield._names import Named
from hopfield._pytrees import fill
from hopfield.separations.base import Separation
from hopfield.separations.exponential import LogSumExp
from hopfield.separations.jacobians import softmax_jacobian_product
from hopfield.separations.simplex import Mask, Scores, shannon_entropy


class TopK(Separation):
    """F = log-sum-exp of the `count` ≥ 1 largest scores, weights = their softmax.

    Convex, as the maximum over all sets of k patterns.

    Example:
        >>> from hopfield import separations
        >>> np.round(separations.TopK(2).weights(jnp.array([2.0, 1.0, -1.0])).tolist(), 3).tolist()
        [0.731, 0.269, 0.0]
    """

    count: int = struct.field(pytree_node=False, default=8)
    normalised: ClassVar[bool] = True

    def __post_init__(self) -> None:
        fill(self, count=integer("count", self.count))

    def _top_k_mask(self, z: Scores, mask: Mask) -> Bool[Array, "M"]:
        masked = z if mask is None else jnp.where(mask, z, -jnp.inf)
        _, index = _numerics.top_k(jax.lax.stop_gradient(masked), min(self.count, z.size))
        kept = jnp.zeros(z.shape, bool).at[index].set(True)
        return kept if mask is None else kept & mask

    def potential(self, z, mask=None):
        return LogSumExp().potential(z, self._top_k_mask(z, mask))

    def _regulariser(self, p):
        return shannon_entropy(p) + jnp.where(jnp.sum(p > 0) > self.count, -jnp.inf, 0.0)

    def weights(self, z, mask=None):
        return LogSumExp().weights(z, self._top_k_mask(z, mask))

    def jacobian_product(self, p, v):
        return softmax_jacobian_product(p, v)


NAMES = {"top_k": Named(TopK, int), "max": Named(partial(TopK, 1))}
