"""α-entmax at a known threshold: the block-wise part of its computation.

    p_μ = [x + (α−1)(z_μ − top)]₊^(1/(α−1))       x = e^((α−1) ln p_top) such that Σ p = 1

α = 2 is sparsemax, α → 1 softmax, where x rounds to 1 but ln p_top does not: so ln p_top stands for the
threshold −x. It comes from passes over the scores that add up `excess`.
"""

import jax.numpy as jnp
from jaxtyping import Array, Float

from hopfield._pytrees import Node
from hopfield.separations._deformed import log_power, power_logarithm
from hopfield.separations.base import Scalar
from hopfield.separations.simplex import Mask, Scores, tsallis_entropy
from hopfield.separations.streams import Blocks, Stream


class Cut(Blocks, Node):
    """The block-wise part of α-entmax whose threshold is given, one for each query.

    No potential of its own: a threshold that does not belong to the scores makes neither weights nor a gradient.
    """

    alpha: Scalar
    top: Scalar
    """The largest score of all patterns."""
    log_peak: Scalar
    """ln p_top, the logarithm of the largest weight, which tells the threshold; at most 0."""

    def weights(self, z: Scores, mask: Mask = None) -> Scores:
        """Weights [M] of the separation. They sum to 1 if the threshold is right."""
        return jnp.exp(self.log_sizes(z, mask))

    def log_sizes(self, z: Scores, mask: Mask = None) -> Scores:
        """Logarithms of the weights [M], −∞ where a weight is 0."""
        below, outside = self._distance_below_top(z, mask)
        return jnp.where(outside, -jnp.inf, self.log_peak + log_power(below, self.alpha - 1.0))

    def block(self, z: Scores, values: Float[Array, "M V"], mask: Mask = None) -> Stream:
        """Sums of one block of scores and values."""
        p = self.weights(z, mask)
        gain = jnp.sum(jnp.where(p == 0, 0.0, p * (z - self.top))) + tsallis_entropy(p, self.alpha)
        return Stream(jnp.zeros((), p.dtype), gain, p.astype(values.dtype) @ values)

    def finish(self, stream: Stream) -> tuple[Scalar, Float[Array, "V"]]:
        """The potential and the read-out [V] from the sums of all blocks."""
        return stream.mass + self.top, stream.moment

    def excess(self, z: Scores, mask: Mask = None) -> Float[Array, "2"]:
        """Sums Σ p and dΣp/d ln p_top over these scores [2], both additive over blocks."""
        log_p = self.log_sizes(z, mask)
        empty = log_p == -jnp.inf
        log_slope = log_p + (self.alpha - 1.0) * (self.log_peak - jnp.where(empty, 0.0, log_p))
        return jnp.stack([jnp.sum(jnp.exp(log_p)), jnp.sum(jnp.exp(log_slope))])

    def stepped(self, total: Scalar, slope: Scalar) -> Scalar:
        """ln p_top after a step of Newton's method for ‖p‖ = 1, the norm of exponent 1/(α−1) of p^(α−1).

        The norm is convex in x, so that steps from 0 fall to the root; α = 2 takes Michelot's, α → 1 one alone.
        """
        gap = self.alpha - 1.0
        return self.log_peak + log_power(total * power_logarithm(-jnp.log(total), gap) / slope, gap)

    def _distance_below_top(self, z: Scores, mask: Mask) -> tuple[Scores, Array]:
        """Distances (z − top) e^((1−α) log_peak) [M], 0 where masked or outside the support; and where that is."""
        below = (z - self.top) * jnp.exp((1.0 - self.alpha) * self.log_peak)
        outside = (self.alpha - 1.0) * below <= -1.0
        outside = outside if mask is None else outside | ~mask
        return jnp.where(outside, 0.0, below), outside
