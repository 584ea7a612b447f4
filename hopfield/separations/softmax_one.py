"""Softmax with a zero score that no pattern owns: weights that add up to less than one where no pattern matches."""

from typing import ClassVar

import jax
import jax.numpy as jnp

from hopfield._names import Named
from hopfield.separations.base import ROUNDING, ByBlocks, Scalar
from hopfield.separations.exponential import LogSumExp
from hopfield.separations.simplex import Mask, Scores, shannon_entropy


class SoftmaxOne(LogSumExp):
    """F = log(1 + Σ exp z), weights = exp z / (1 + Σ exp z): softmax₁, attention with one more key, of score zero.

    The remainder of the weight, 1 − Σ p = e^(−F), says how little any pattern matches. Ω is Shannon's entropy of the
    weights and the remainder.

    Example:
        >>> from hopfield.separations import SoftmaxOne
        >>> SoftmaxOne().leftover(jnp.array([0.0, 0.0])).item()
        0.3333333432674408

    Source: Miller 2023, "Attention is off by one"; in Hopfield layers Hu et al. 2024 (arXiv:2404.03828).
    """

    normalised: ClassVar[bool] = False
    gibbs: ClassVar[bool] = True
    by_blocks: ClassVar[ByBlocks] = "sums"

    def potential(self, z, mask=None):
        return jax.nn.softplus(super().potential(z, mask))

    def weights(self, z, mask=None):
        total = LogSumExp.potential(self, z, mask)
        return (LogSumExp.weights(self, z.astype(total.dtype), mask) * jax.nn.sigmoid(total)).astype(z.dtype)

    def leftover(self, z: Scores, mask: Mask = None) -> Scalar:
        """1 − Σ p = 1/(1 + Σ exp z): the weight of the key of score zero. It is 1 where everything is masked."""
        return jax.nn.sigmoid(-LogSumExp.potential(self, z, mask))

    def _regulariser(self, p):
        left = 1.0 - jnp.sum(p)
        entropy = shannon_entropy(p) + shannon_entropy(jnp.maximum(left, 0.0)[None])
        return jnp.where(left < -ROUNDING, -jnp.inf, entropy)

    def shares(self, z, mask=None):
        return LogSumExp.weights(self, z, mask)

    def finish(self, stream):
        total, read = super().finish(stream)
        return jax.nn.softplus(total), jax.nn.sigmoid(total) * read


NAMES = {"softmax1": Named(SoftmaxOne)}
