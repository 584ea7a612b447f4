"""Weights as functions of one score and of what its row shares: the form in which a block forms them again.

    p = f(s; found)      u = ∂p/∂s      dp = u ds      dF = Σ p ds      dO = Σ (dp v + p dv) − M Σ dp − N dF

dp is the change of p while what was found stays; M and N are what it costs that it does not. They are all that a
derivative keeps of a row: M = Σ u v / Σ u for α-entmax, whose threshold is fixed by Σ p = 1.
"""

import abc
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from hopfield._numerics import map_rows, positive_part
from hopfield.separations._deformed import log_power
from hopfield.separations._guards import nonzero
from hopfield.separations._powers import POWERS, SLOPES, by_exponent

Found = tuple[Float[Array, "*b T 1"], ...]
LOWEST = -1e30
"""A finite score that stands for −∞, whose derivatives are no numbers."""


class BlockForm(abc.ABC):
    """Weights of a block of scores from what their rows share, and what a change of that adds to a derivative."""

    @abc.abstractmethod
    def weights(self, separation: Any, scores: Array, found: Found) -> Array:
        """Weights [*b, T, S]; 0 at a score of −∞."""

    @abc.abstractmethod
    def slope(self, separation: Any, scores: Array, weights: Array, found: Found) -> Array:
        """u [*b, T, S], the derivative of every weight in its own score while what was found stays."""

    @abc.abstractmethod
    def shared(self, output: Array, moment: Array, mass: Array) -> tuple[Array | None, Array | None]:
        """M and N from the read-out, Σ u v [*b, T, V] and Σ u [*b, T, 1]; None stands for zero."""


class RowForm(BlockForm):
    """A form whose rows are searched for what they share, which needs all of their scores.

    Args:
        quick: whether some exponents have their closed form, which has no derivative in the exponent.
    """

    def __init__(self, quick: bool = True):
        self.quick = quick

    def by_exponent(self, exponent: Array, functions: Sequence[Callable], *arguments: Array) -> Array:
        """Choice of the closed form, if they may be `quick`, as of `simplex.by_exponent`."""
        return by_exponent(exponent, functions, *arguments) if self.quick else functions[0](*arguments, exponent)

    @abc.abstractmethod
    def found(self, separation: Any, scores: Array, weights: Array) -> Found:
        """What rows share, from their scores and weights [*b, T, S]; −∞ is a masked score.

        Its derivatives are those of what fixes it, not those of the weights.
        """

    def potential(self, separation: Any, scores: Array, weights: Array) -> Array:
        """F = p·s + Ω(p) [*b, T, 1], with the derivatives of the weights given."""
        top = jax.lax.stop_gradient(jnp.max(scores, axis=-1, keepdims=True))
        empty = top == -jnp.inf
        top = jnp.where(empty, 0.0, top)
        mean = jnp.sum(weights * (jnp.maximum(scores, LOWEST) - top), axis=-1, keepdims=True)
        entropy = map_rows(separation._regulariser, [weights], [1])[..., None]
        return jnp.where(empty, -jnp.inf, mean + entropy + top)


def settled(excess: Callable[[Array], Array], root: Array) -> Array:
    """A root of excess(root) = 0 [*b, T, 1] found elsewhere, with its derivatives in all that the excess depends on.

    A step of Newton's method at a root is the implicit function theorem, −∂excess/∂s / (∂excess/∂root): the first
    derivative is exact after one, and those up to the third after two.
    """
    root = jax.lax.stop_gradient(root)
    for _ in range(2):
        left, slope = jax.jvp(excess, (root,), (jnp.ones_like(root),))
        root = root - (left - jax.lax.stop_gradient(left)) / nonzero(slope)
    return root


class Exponentials(BlockForm):
    """Softmax: p = e^(s − F)."""

    def weights(self, separation, scores, found):
        return jnp.exp(scores - found[0])

    def slope(self, separation, scores, weights, found):
        return weights

    def shared(self, output, moment, mass):
        return output, None


class Cut(RowForm):
    """α-entmax: p = [x + (α−1)(s − top)]₊^(1/(α−1)), x being the largest weight's power α − 1."""

    def found(self, separation, scores, weights):
        top, peak = _highest(scores, weights)
        left = lambda peak: jnp.sum(self.weights(separation, scores, (top, peak)), axis=-1, keepdims=True)
        return top, settled(left, nonzero(peak))

    def weights(self, separation, scores, found):
        top, peak = found
        gap = jnp.asarray(separation.alpha, scores.dtype) - 1.0
        below = jnp.maximum(scores, LOWEST) - top
        return self.by_exponent(1.0 / gap, POWERS_BELOW, below, peak)

    def slope(self, separation, scores, weights, found):
        gap = jnp.asarray(separation.alpha, scores.dtype) - 1.0
        return self.by_exponent(1.0 / gap, SLOPES, weights)

    def shared(self, output, moment, mass):
        return moment / nonzero(mass), None


def _any(below: Array, peak: Array, exponent: Array) -> Array:
    gap = 1.0 / exponent
    scaled = below * jnp.exp(-gap * jnp.log(peak))
    outside = gap * scaled <= -1.0
    return jnp.where(outside, 0.0, jnp.exp(jnp.log(peak) + log_power(jnp.where(outside, 0.0, scaled), gap)))


def _linear(below: Array, peak: Array, exponent: Array) -> Array:
    return positive_part(peak + below)


def _square(below: Array, peak: Array, exponent: Array) -> Array:
    return jnp.square(positive_part(jnp.sqrt(peak) + 0.5 * below))


POWERS_BELOW = (_any, _any, _linear, _square)


class NormCut(RowForm):
    """α-normmax: p = ‖p‖_α [s − τ]₊^(1/(α−1)), where Σ p^α fixes the threshold and Σ p = 1 the factor."""

    def found(self, separation, scores, weights):
        alpha = jnp.asarray(separation.alpha, scores.dtype)
        power, (top, peak) = 1.0 / (alpha - 1.0), _highest(scores, weights)
        norm = peak * nonzero(jnp.sum((weights / nonzero(peak)) ** alpha, axis=-1, keepdims=True)) ** (1.0 / alpha)
        scores = jnp.maximum(scores, LOWEST)
        sum_of = lambda tau, power: jnp.sum(self.by_exponent(power, POWERS, scores - tau), axis=-1, keepdims=True)
        tau = settled(lambda tau: sum_of(tau, alpha * power), top - (peak / nonzero(norm)) ** (alpha - 1.0))
        return tau, 1.0 / nonzero(sum_of(tau, power))

    def weights(self, separation, scores, found):
        tau, norm = found
        alpha = jnp.asarray(separation.alpha, scores.dtype)
        return norm * self.by_exponent(1.0 / (alpha - 1.0), POWERS, jnp.maximum(scores, LOWEST) - tau)

    def slope(self, separation, scores, weights, found):
        tau, norm = found
        power = 1.0 / (jnp.asarray(separation.alpha, scores.dtype) - 1.0)
        return norm * power * self.by_exponent(power - 1.0, POWERS, jnp.maximum(scores, LOWEST) - tau)

    def shared(self, output, moment, mass):
        return output, moment - output * mass


class Steps(RowForm):
    """Epanechnikov: p = 1[1 + s > 0] / Σ [1 + s]₊."""

    def found(self, separation, scores, weights):
        return (nonzero(self._mass(scores)),)

    def potential(self, separation, scores, weights):
        mass = self._mass(scores)
        return jnp.where(mass == 0, -jnp.inf, jnp.log(nonzero(mass)))

    def weights(self, separation, scores, found):
        inside = jnp.where(jnp.isnan(scores), scores, (scores > -1.0).astype(scores.dtype))
        return inside / found[0]

    def slope(self, separation, scores, weights, found):
        return jnp.zeros_like(weights)

    def shared(self, output, moment, mass):
        return None, output

    def _mass(self, scores: Array) -> Array:
        return jnp.sum(positive_part(1.0 + scores), axis=-1, keepdims=True)


def _highest(scores: Array, weights: Array) -> tuple[Array, Array]:
    """The largest score of each row, 0 where all are −∞, and its weight, as numbers without a derivative."""
    scores, weights = jax.lax.stop_gradient((scores, weights))
    place = jnp.argmax(scores, axis=-1, keepdims=True)
    top, peak = (jnp.take_along_axis(x, place, axis=-1) for x in (scores, weights))
    return jnp.where(top == -jnp.inf, 0.0, top), peak
