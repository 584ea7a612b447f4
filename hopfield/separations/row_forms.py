"""Weights as functions of one score and of what its row shares: the form in which a block forms them again.

    p = f(s; found)      u = ∂p/∂s      dp = u ds      dF = Σ p ds      dO = Σ (dp v + p dv) − M Σ dp − N dF

dp is the change of p while what was found stays; M and N are what it costs that it does not. They are all that a
derivative keeps of a row: M = Σ u v / Σ u for α-entmax, whose threshold is fixed by Σ p = 1.
"""

import abc
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from jaxtyping import Array, Float

from hopfield._numerics import map_rows, positive_part
from hopfield.separations._deformed import log_power
from hopfield.separations._guards import nonzero
from hopfield.separations.simplex import SLOPES, alpha_norm, by_exponent, clipped_power

Found = tuple[Float[Array, "*b T 1"], ...]
LOWEST = -1e30
"""A finite score that stands for −∞, whose derivatives are no numbers."""


class BlockForm(abc.ABC):
    """Weights of a block of scores from what their rows share, and what a change of that adds to a derivative."""

    @abc.abstractmethod
    def weights(self, separation: Any, scores: Array, found: Found, moves: bool = False) -> Array:
        """Weights [*b, T, S]; 0 at a score of −∞. `moves`: whether they are differentiated in the separation, too."""

    @abc.abstractmethod
    def slope(self, separation: Any, scores: Array, weights: Array, found: Found) -> Array:
        """u [*b, T, S], the derivative of every weight in its own score while what was found stays."""

    @abc.abstractmethod
    def shared(self, output: Array, moment: Array, mass: Array) -> tuple[Array | None, Array | None]:
        """M and N from the read-out, Σ u v [*b, T, V] and Σ u [*b, T, 1]; None stands for zero."""


class RowForm(BlockForm):
    """A form whose rows are searched for what they share, which needs all of their scores."""

    @abc.abstractmethod
    def found(self, separation: Any, scores: Array, weights: Array) -> Found:
        """What rows share, from their scores and weights [*b, T, S]; −∞ is a masked score."""


class Exponentials(BlockForm):
    """Softmax: p = e^(s − F)."""

    def weights(self, separation, scores, found, moves=False):
        return jnp.exp(scores - found[0])

    def slope(self, separation, scores, weights, found):
        return weights

    def shared(self, output, moment, mass):
        return output, None


class Cut(RowForm):
    """α-entmax: p = [x + (α−1)(s − top)]₊^(1/(α−1)), x being the largest weight's power α − 1."""

    def found(self, separation, scores, weights):
        top, peak = _highest(scores, weights)
        return top, jnp.where(peak == 0, 1.0, peak)

    def weights(self, separation, scores, found, moves=False):
        top, peak = found
        gap = jnp.asarray(separation.alpha, scores.dtype) - 1.0
        below = jnp.maximum(scores, LOWEST) - top
        # What is quick for some exponents has no derivative in the exponent.
        quick = (_any, _any, _any, _any) if moves else QUICK
        return by_exponent(1.0 / gap, quick, below, peak)

    def slope(self, separation, scores, weights, found):
        gap = jnp.asarray(separation.alpha, scores.dtype) - 1.0
        return by_exponent(1.0 / gap, SLOPES, weights)

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


QUICK = (_any, _any, _linear, _square)


class NormCut(RowForm):
    """α-normmax: p = ‖p‖_α [s − τ]₊^(1/(α−1)), where Σ p^α fixes the threshold and Σ p = 1 the factor."""

    def found(self, separation, scores, weights):
        alpha = jnp.asarray(separation.alpha, scores.dtype)
        norm = map_rows(partial(alpha_norm, alpha=alpha), [weights], [1])[..., None]
        top, peak = _highest(scores, weights)
        empty = peak == 0
        norm, peak = (jnp.where(empty, 1.0, x) for x in (norm, peak))
        return top - (peak / norm) ** (alpha - 1.0), norm

    def weights(self, separation, scores, found, moves=False):
        tau, norm = found
        alpha = jnp.asarray(separation.alpha, scores.dtype)
        return norm * clipped_power(jnp.maximum(scores, LOWEST) - tau, 1.0 / (alpha - 1.0))

    def slope(self, separation, scores, weights, found):
        tau, norm = found
        power = 1.0 / (jnp.asarray(separation.alpha, scores.dtype) - 1.0)
        return norm * power * clipped_power(jnp.maximum(scores, LOWEST) - tau, power - 1.0)

    def shared(self, output, moment, mass):
        return output, moment - output * mass


class Steps(RowForm):
    """Epanechnikov: p = 1[1 + s > 0] / Σ [1 + s]₊."""

    def found(self, separation, scores, weights):
        return (nonzero(jnp.sum(positive_part(1.0 + scores), axis=-1, keepdims=True)),)

    def weights(self, separation, scores, found, moves=False):
        inside = jnp.where(jnp.isnan(scores), scores, (scores > -1.0).astype(scores.dtype))
        return inside / found[0]

    def slope(self, separation, scores, weights, found):
        return jnp.zeros_like(weights)

    def shared(self, output, moment, mass):
        return None, output


def _highest(scores: Array, weights: Array) -> tuple[Array, Array]:
    """The largest score of each row, 0 where all are −∞, and its weight, both by its place.

    The derivative of a maximum looks for the entry that equals it, and finds none where either is computed anew.
    """
    place = jnp.argmax(jax.lax.stop_gradient(scores), axis=-1, keepdims=True)
    top, peak = (jnp.take_along_axis(x, place, axis=-1) for x in (scores, weights))
    return jnp.where(top == -jnp.inf, 0.0, top), peak
