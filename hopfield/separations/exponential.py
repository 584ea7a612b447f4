"""Exponentials of the scores: softmax attention and the exponential memory."""

from typing import ClassVar, TypeGuard

import jax
import jax.numpy as jnp
import numpy as np

from hopfield._names import Named
from hopfield._numerics import accumulation_dtype, anywhere, largest, wide
from hopfield.separations._guards import faint, nonzero, scaled, unmasked
from hopfield.separations._ties import balance, finite_rise, where_near, zero_within_rounding
from hopfield.separations.base import ByBlocks, Separation
from hopfield.separations.jacobians import of_width
from hopfield.separations.simplex import shannon_entropy, shifted
from hopfield.separations.streams import Stream, Streaming, Summand

WIDEST = 40.0
"""Change of β s by one spin up to which the terms of all spins have a common scale: e^−40 is a normal float32."""


class LogSumExp(Streaming, Separation):
    """F = log Σ exp z, weights = softmax: the modern Hopfield network and attention (Ramsauer et al. 2021, eq. 2).

    Example:
        >>> from hopfield import separations
        >>> np.round(separations.LogSumExp().weights(jnp.array([2.0, 1.0, -1.0])).tolist(), 3).tolist()
        [0.705, 0.259, 0.035]
    """

    normalised: ClassVar[bool] = True
    gibbs: ClassVar[bool] = True
    by_blocks: ClassVar[ByBlocks] = "sums"

    def potential(self, z, mask=None):
        s, top = shifted(z, mask)
        mass = jnp.sum(jnp.exp(s))
        return jnp.where(mass == 0, -jnp.inf, jnp.log(nonzero(mass)) + top)

    def weights(self, z, mask=None):
        s, _ = shifted(z, mask)
        w = jnp.exp(s)
        return (w / nonzero(jnp.sum(w))).astype(z.dtype)

    def _difference(self, up, down, beta, mask):
        # Also ln(1 + Σ w (e^δ − 1)) with the weights at `down`, which keeps its digits where the scores all but agree.
        rise = beta * finite_rise(wide(up), wide(down), mask)
        near = jax.lax.stop_gradient(jnp.max(jnp.abs(rise), initial=0.0)) < 0.5
        growth = lambda: jnp.expm1(jnp.where(near, rise, 0.0))
        change = lambda: balance(self.weights(beta * wide(down), mask), growth())
        return where_near(
            near, lambda: jnp.log1p(change()) / beta, lambda: self._difference_of_potentials(up, down, beta, mask)
        )

    def _regulariser(self, p):
        return shannon_entropy(p)

    def shares(self, z, mask=None):
        return self.weights(z, mask)

    def summand(self, scores, beta):
        return np.exp(beta * (scores - np.max(scores)))

    def log_weight(self, scores, beta):
        return beta * scores

    def overlap_terms(self, beta, held):
        # Differences of f over one spin are in proportion to f: they lose nothing where f is small.
        term = lambda s: np.exp(np.minimum(beta * (s - held[..., 1]), 700.0))  # beyond, no pattern is
        return Summand(term, term)

    def log_sizes(self, z, mask=None):
        return z if mask is None else jnp.where(mask, z, -jnp.inf)

    def block(self, z, values, mask=None):
        z = wide(z)
        z = z if mask is None else jnp.where(mask, z, -jnp.inf)
        # Not `shifted`, which looks for a NaN once more: here it is in the sums, whatever the shift.
        top = jax.lax.stop_gradient(jnp.max(z, initial=-jnp.inf))
        top = jnp.where(jnp.isinf(top), 0.0, top)
        # Without the barrier XLA may form the exponentials twice, once for their sum and once for the product.
        w = jax.lax.optimization_barrier(jnp.exp(z - top))
        moment = jnp.matmul(w.astype(values.dtype), values, preferred_element_type=accumulation_dtype(values.dtype))
        return Stream(top, jnp.sum(w), moment)

    def merge(self, a, b):
        # A block with nothing in it has mass 0 and must not set the shift.
        floor = jnp.minimum(a.shift, b.shift)
        shift = jnp.maximum(jnp.where(a.mass == 0, floor, a.shift), jnp.where(b.mass == 0, floor, b.shift))
        p = jnp.where(a.mass == 0, 0.0, jnp.exp(a.shift - shift))
        q = jnp.where(b.mass == 0, 0.0, jnp.exp(b.shift - shift))
        return Stream(shift, p * a.mass + q * b.mass, p * a.moment + q * b.moment)

    def finish(self, stream):
        potential = jnp.where(stream.mass == 0, -jnp.inf, jnp.log(nonzero(stream.mass)) + stream.shift)
        return potential, stream.moment / nonzero(stream.mass)


def sums_exponentials(separation: Separation) -> TypeGuard[LogSumExp]:
    """True if F is a function of Σ e^z, all that a pass of block-wise attention keeps."""
    return isinstance(separation, LogSumExp) and separation.by_blocks == "sums"


class Exponential(LogSumExp):
    """F = Σ exp z: the exponential memory (Demircigil et al. 2017, eq. 6).

    F and its weights overflow beyond z ≈ 88 in float32. Differences of energy, shares and streams are formed relative
    to the largest score, so that the dynamics on spins and on spheres never depend on it. A difference that is no more
    than the rounding of its terms is zero, a tie.

    Example:
        >>> from hopfield import separations
        >>> np.round(separations.Exponential().weights(jnp.array([2.0, 1.0, -1.0])).tolist(), 3).tolist()
        [7.389, 2.718, 0.368]
    """

    normalised: ClassVar[bool] = False
    by_blocks: ClassVar[ByBlocks] = "sums"

    @property
    def share_form(self):
        return LogSumExp()

    def potential(self, z, mask=None):
        return jnp.sum(self.weights(z, mask))

    def weights(self, z, mask=None):
        return unmasked(jnp.exp(unmasked(z, mask)), mask)  # e^z of a masked score may overflow: 0·∞ in its gradient

    def jacobian_product(self, p, v):
        return p * of_width(v, p)  # each weight is its own slope

    def _regulariser(self, p):
        return jnp.sum(p) + shannon_entropy(p)

    def shares(self, z, mask=None):
        return LogSumExp.weights(self, z, mask)

    def potential_difference(self, up, down, beta, mask=None):
        gap = _gap(up, down, beta, mask)
        return _times_exp(zero_within_rounding(gap.moment, gap.mass), gap.shift) / beta

    def fields(self, scores, steps, state, beta, mask=None):
        return self.field_finish(self.field_block(scores, steps, state, beta, mask), beta)

    def finish(self, stream):
        scale = jnp.exp(stream.shift)
        return scale * stream.mass, scale * stream.moment

    def field_block(self, scores, steps, state, beta, mask):
        return _gaps(scores, steps, state, beta, mask)

    def field_merge(self, a, b):
        return jax.vmap(self.merge)(a, b)

    def field_finish(self, sums, beta):
        return 0.5 * _times_exp(zero_within_rounding(sums.moment, sums.mass), sums.shift) / beta


def _drop(x):
    """Fall 1 − e^(−|x|) with the sign of x: precise for small x and exactly odd, so that opposite terms cancel."""
    return jnp.sign(x) * -jnp.expm1(-jnp.abs(x))


@jax.custom_jvp
def _gaps(scores, steps, state, beta, mask) -> Stream:
    """Stream of the change of Σ e^(β s) with every spin [N]: moment and mass as in `_gap`."""
    size = jnp.abs(beta * steps)
    widest = largest(size)
    # Beside the largest term of all spins that of another one must not vanish.
    apart = ~(widest < WIDEST) | jnp.any((size != widest) & (size != 0))
    ways = (steps > 0).astype(steps.dtype), (steps < 0).astype(steps.dtype)  # here, where loops form them once
    one_by_one = lambda: _gaps_one_by_one(scores, steps, state, beta, mask)
    return jax.lax.cond(anywhere(apart), one_by_one, lambda: _gaps_of_spins(scores, ways, widest, state, beta, mask))


@_gaps.defjvp
def _slopes(primals, tangents):
    return _gaps(*primals), jax.jvp(_gaps_one_by_one, primals, tangents)[1]


def _gaps_one_by_one(scores, steps, state, beta, mask) -> Stream:
    def gap(step, spin):
        return _gap(scores + 0.5 * (1.0 - spin) * step, scores - 0.5 * (1.0 + spin) * step, beta, mask)

    return jax.vmap(gap, (1, 0))(steps, state)


def _gaps_of_spins(scores, ways, widest, state, beta, mask) -> Stream:
    """`_gaps` where all steps are ±w/β or 0: a flip multiplies a pattern's term by e^±w, and two sums are enough.

    Args:
        ways: two arrays [M, N], 1 for a step up and 1 for a step down, else 0.
        widest: w.
        scores, state, beta, mask: as in `fields`.
    """
    s, top = shifted(beta * scores, mask)
    weights = jax.lax.optimization_barrier(jnp.exp(s).astype(ways[0].dtype))
    up, down = (weights @ way for way in ways)
    level = jnp.where(jnp.abs(state) <= 1, state, jnp.nan)
    # The factors of a spin's two flips, relative to the largest that any spin has: neither of the sums can overflow.
    fall, rise = jnp.exp(-0.5 * (1.0 + level) * widest), jnp.exp(-0.5 * (1.0 - level) * widest)
    up, down = -jnp.expm1(-widest) * fall * up, -jnp.expm1(-widest) * rise * down
    return Stream(jnp.broadcast_to(top + widest, state.shape), up + down, up - down)


def _gap(up, down, beta, mask) -> Stream:
    """Stream of a difference of two sums: moment Σ e^(β up) − e^(β down), mass the sum of its terms' sizes."""
    larger, top = shifted(beta * jnp.maximum(up, down), mask)
    terms = jnp.exp(larger) * _drop(beta * (up - down))
    return Stream(top, jnp.sum(jnp.abs(terms)), jnp.sum(terms))


def _times_exp(gap, exponent):
    """Product gap · e^exponent, which keeps the sign of the gap where the exponential underflows."""
    return scaled(gap, jnp.maximum(jnp.exp(exponent), faint(gap.dtype)))


NAMES = {"softmax": Named(LogSumExp), "exponential": Named(Exponential)}
