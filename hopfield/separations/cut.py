"""α-entmax at a given threshold: what is left of it to do block by block once the threshold is known.

    p_μ = [(α−1)(z_μ − top) − τ]₊^(1/(α−1))       τ such that Σ p = 1

α = 2 is sparsemax. The threshold itself comes from passes over the scores that add up `excess`.
"""

from typing import ClassVar

import jax.numpy as jnp
from jaxtyping import Array, Float

from hopfield._pytrees import Node
from hopfield.separations.base import Scalar, Stream, nonzero
from hopfield.separations.simplex import Mask, Scores


class Cut(Node):
    """The streaming part of a separation, for α-entmax whose threshold is given. Build with `separation.at_threshold`.

    No potential of its own: a threshold that does not belong to the scores makes neither weights nor a gradient.
    """

    alpha: Scalar
    top: Scalar
    """The largest score of all patterns."""
    threshold: Scalar
    """τ, between −1 and 0 where it is right."""
    per_query: ClassVar[bool] = True
    thresholded: ClassVar[bool] = False

    def weights(self, z: Scores, mask: Mask = None) -> Scores:
        """Weights [M], as of the separation, whose sum is 1 where the threshold is right."""
        return self._power(z, mask, 1.0 / (self.alpha - 1.0))

    def log_sizes(self, z: Scores, mask: Mask = None) -> Scores:
        """Logarithms of the weights [M]; −∞ where a weight is 0."""
        p = self.weights(z, mask)
        return jnp.where(p == 0, -jnp.inf, jnp.log(nonzero(p)))

    def block(self, z: Scores, values: Float[Array, "M V"], mask: Mask = None) -> Stream:
        """Sums of one block of scores and values."""
        p = self.weights(z, mask)
        # p·z + H_α(p) with the part of Tsallis' entropy that is the same for all p left to `finish`
        gain = jnp.sum(jnp.where(p == 0, 0.0, p * (z - self.top))) - self._tsallis() * jnp.sum(p**self.alpha)
        return Stream(jnp.zeros((), p.dtype), gain, p.astype(values.dtype) @ values)

    def merge(self, a: Stream, b: Stream) -> Stream:
        """Sums of two blocks as those of both."""
        return Stream(a.shift, a.mass + b.mass, a.moment + b.moment)

    def finish(self, stream: Stream) -> tuple[Scalar, Float[Array, "V"]]:
        """The potential and the read-out [V] from the sums of all blocks."""
        return stream.mass + self.top + self._tsallis(), stream.moment

    def excess(self, z: Scores, mask: Mask = None) -> Float[Array, "2"]:
        """Σ p and −dΣp/dτ of these scores; both add up over blocks."""
        slope = self._power(z, mask, 1.0 / (self.alpha - 1.0) - 1.0) / (self.alpha - 1.0)
        return jnp.stack([jnp.sum(self.weights(z, mask)), jnp.sum(slope)])

    def _tsallis(self):
        return 1.0 / (self.alpha * (self.alpha - 1.0))

    def _power(self, z: Scores, mask: Mask, exponent) -> Array:
        rest = (self.alpha - 1.0) * (z - self.top) - self.threshold
        outside = rest <= 0 if mask is None else (rest <= 0) | ~mask
        return jnp.where(outside, 0.0, jnp.exp(exponent * jnp.log(jnp.where(outside, 1.0, rest))))
