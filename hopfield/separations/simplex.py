"""Exact maps from scores onto the probability simplex: thresholds of sparsemax, entmax and normmax.

Each map is p_μ = [z_μ − τ]₊^(1/(α−1)) up to scale, with a threshold τ from a normalisation, found by Newton's method.
"""

import math

import jax
import jax.numpy as jnp
import numpy as np
from jax.custom_derivatives import SymbolicZero
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from hopfield._arguments import real_array
from hopfield._arrays import Mask, Scores
from hopfield._numerics import by_its_rule, largest, positive_part, saved_for_derivative, while_loop, wide
from hopfield.separations._deformed import power_logarithm
from hopfield.separations._powers import by_exponent, cases, clipped_power, power_of, slope_of

STEPS = 64
"""Newton steps at most."""
PART = 8
"""The first guess looks at one score of so many."""


def shifted(z: Scores, mask: Mask) -> tuple[Scores, Float[Array, ""]]:
    """Scores minus the largest unmasked score (masked: −∞), and this largest score (0 if all are masked).

    One NaN or +∞ among the unmasked scores makes all of them NaN: beyond +∞ no score can be compared.
    """
    z = wide(real_array("z", z))
    if mask is not None:
        z = jnp.where(mask, z, -jnp.inf)
    top = jax.lax.stop_gradient(largest(z))
    top = saved_for_derivative(jnp.where(top == -jnp.inf, 0.0, jnp.where(top == jnp.inf, jnp.nan, top)))
    return z - top, top


def _step(u: Array, tau: Array, total: Array, exponent: Array, power: int | None) -> Array:
    """Threshold after one step of Newton's method, in the norm, for Σ [u − τ]₊^(`exponent` + 1) = `total`."""
    # The sums of the quick cases are written apart, since XLA puts into memory what two sums share.
    above, below = jnp.maximum(u - tau, 0.0), jnp.minimum(tau - u, 0.0)
    if power == 0:
        return tau - (jnp.sum(below) + total) / jnp.sum(jnp.ceil(above))  # u ≤ 0 and τ ≥ −1: ceil counts
    if power == 1:
        size = jnp.sum(below * below)
        return tau + (size - jnp.sqrt(total * size)) / jnp.sum(above)
    powers = power_of(u - tau, exponent, power)
    size = jnp.sum(powers * above)
    return tau + (size - size * (total / size) ** (1.0 / (exponent + 1.0))) / jnp.sum(powers)


NEWTON = cases(_step)


@jax.custom_jvp
def _threshold(u: Scores, exponent: Array) -> Float[Array, ""]:
    """τ ≤ 0 with Σ [u − τ]₊^exponent = 1 for scores whose largest is 0, by Newton's method from an exponent of 1 on.

    The norm ‖[u − τ]₊‖ of that exponent is convex and falls with τ, so that a Newton step from anywhere ends at or
    below the root, and further steps rise to the root until rounding ends them; for sparsemax these are Michelot's
    steps (1986). Among many scores a subset is solved first, for a start near the root. Below exponent 1 the sum is
    bisected.
    """
    start = jnp.full((), -1.0, u.dtype)
    if isinstance(u.size, int) and u.size >= 4 * PART:  # an exported length may be none
        start = _newton_iterations(u[::PART], exponent, start, 1.0 / PART)
        start = jnp.maximum(_newton_step(u, exponent, start, 1.0), -1.0)
    tau = _bisected(u, exponent, _newton_iterations(u, exponent, start, 1.0))
    lost = jnp.isnan(jnp.sum(jnp.maximum(u, -1.0))) | jnp.isnan(exponent)
    return jnp.where(lost, jnp.nan, tau)


def _newton_iterations(u: Scores, exponent: Array, start: Array, total: float) -> Array:
    """Threshold τ with Σ [u − τ]₊^exponent = `total`, by Newton's steps from `start` until it no longer rises."""

    def rise(state):
        tau, _, count = state
        new = _newton_step(u, exponent, tau, total)
        return jnp.where(new > tau, new, tau), new > tau, count + 1

    return while_loop(lambda state: state[1] & (state[2] < STEPS), rise, (start, exponent >= 1, 0))[0]


def _bisected(u: Scores, exponent: Array, tau: Array) -> Array:
    """τ, or if the exponent is below 1 the threshold by halving the logarithm of −τ, from −1 to −(size)^(−1/exponent).

    The sum falls with τ but is neither convex nor concave then: its slope is infinite at every score.
    """

    def halve(state):
        low, high, _, count = state
        middle = -jnp.sqrt(low * high)
        above = jnp.sum(power_of(u - middle, exponent, None)) > 1.0
        between = (low < middle) & (middle < high)
        return jnp.where(above, middle, low), jnp.where(above, high, middle), between, count + 1

    low, high = jnp.full((), -1.0, u.dtype), -(jnp.full((), u.size, u.dtype) ** (-1.0 / exponent))
    low = while_loop(lambda state: state[2] & (state[3] < STEPS), halve, (low, high, exponent < 1, 0))[0]
    return jnp.where(exponent < 1, low, tau)


def _newton_step(u: Scores, exponent: Array, tau: Array, total: float) -> Array:
    """Threshold after one step of Newton's method for Σ [u − τ]₊^exponent = `total`; τ itself if no u is above it."""
    new = by_exponent(exponent - 1.0, NEWTON, u, tau, jnp.full((), total, u.dtype))
    return jnp.where(jnp.isnan(new), tau, new)  # none lies above: rows that read nothing


def _threshold_jvp(primals, tangents):
    (u, exponent), (du, d_exponent) = primals, tangents
    tau = saved_for_derivative(by_its_rule(_threshold)(u, exponent))
    rest = u - tau
    power = by_its_rule(clipped_power)
    slope = exponent * power(rest, exponent - 1.0)
    tangent = jnp.zeros_like(tau)
    if not isinstance(du, SymbolicZero):
        tangent += jnp.sum(slope * du)
    if not isinstance(d_exponent, SymbolicZero):
        logarithm = jnp.log(jnp.where(rest <= 0, 1.0, rest))
        tangent += jnp.sum(power(rest, exponent) * logarithm) * d_exponent
    return tau, tangent / jnp.sum(slope)


_threshold.defjvp(_threshold_jvp, symbolic_zeros=True)


@jax.jit
def sparsemax(z: Scores, mask: Mask = None) -> Scores:
    """Euclidean projection of the scores on the simplex. It is zero where everything is masked."""
    s, _ = shifted(z, mask)
    return positive_part(s - _threshold(s, jnp.ones((), s.dtype)))


@jax.jit
def entmax(z: Scores, alpha: Float[Array, ""], mask: Mask = None) -> Scores:
    """argmax over the simplex of p·z + H_α(p), H_α Tsallis' entropy, 1 < α ≤ 3 (Peters, Niculae & Martins 2019)."""
    s, _ = shifted(z, mask)
    alpha = jnp.asarray(alpha, s.dtype)
    absent = s == -jnp.inf
    s = jnp.where(absent, -1e30, s)  # a finite stand-in: (α−1)·(−∞) has no tangent in α
    return jnp.where(absent, 0.0, _entmax(s, alpha - 1.0))


@jax.custom_jvp
def _entmax(s: Scores, gap: Array) -> Scores:
    """[1 + gap (s − λ)]₊^(1/gap) of scores whose largest is 0, gap = α − 1, with λ such that they add up to 1."""
    scaled = gap * s
    weights = by_exponent(1.0 / gap, RELATIVE, scaled, saved_for_derivative(_threshold(scaled, 1.0 / gap)))
    total = saved_for_derivative(jnp.sum(weights))
    return weights / jnp.where(total == 0, 1.0, total)


def _relative(u: Array, tau: Array, exponent: Array, power: int | None) -> Array:
    """[u − τ]₊^exponent, of any exponent in units of [−τ]^exponent, lest rounding u − τ grows with the exponent."""
    if power is not None:
        return power_of(u - tau, exponent, power)
    cut = u <= tau
    return jnp.where(cut, 0.0, jnp.exp(exponent * jnp.log1p(jnp.where(cut, 0.0, u / -tau))))


RELATIVE = cases(_relative)
SERIES = np.array([1.0 / math.factorial(j + 2) for j in range(12, -1, -1)])


def _entmax_jvp(primals, tangents):
    (s, gap), (ds, d_gap) = primals, tangents
    p = by_its_rule(_entmax)(s, gap)
    slope = by_its_rule(slope_of)(p, gap)
    change = jnp.zeros_like(p)
    if not isinstance(ds, SymbolicZero):
        change += slope * ds
    if not isinstance(d_gap, SymbolicZero):
        log_p = jnp.log(jnp.where(p == 0, 1.0, p))
        w = gap * log_p
        # (p − p^(1−gap) − p w)/gap², whose terms cancel to p log²p (−1/2 + w/6 − …) as gap → 0
        near = jnp.abs(w) < 0.5
        series = jnp.polyval(jnp.asarray(SERIES, p.dtype), jnp.where(near, -w, 0.0))  # Σ (−w)^j/(j+2)!
        far = (p - slope - p * w) / jnp.where(near, 1.0, gap * gap)
        change += jnp.where(near, -p * log_p**2 * series, far) * d_gap
    total = jnp.sum(slope)
    return p, change - slope * (jnp.sum(change) / jnp.where(total == 0, 1.0, total))


_entmax.defjvp(_entmax_jvp, symbolic_zeros=True)


def shannon_entropy(p: Scores, axis: int | None = None) -> Array:
    """H(p) = −Σ p ln p in nats, 0 ln 0 = 0. The derivative at p = 0 is taken as zero instead of +∞."""
    p = real_array("p", p)
    empty = p <= 0  # not p > 0, which would take what is not a number for no weight
    return -jnp.sum(jnp.where(empty, 0.0, p * jnp.log(jnp.where(empty, 1.0, p))), axis=axis)


def tsallis_entropy(p: Scores, alpha: ArrayLike) -> Float[Array, ""]:
    """H_α(p) = (Σ p − Σ p^α) / (α(α−1)), α > 0. In this convention α = 1 is Shannon's and α = 2 is ½(1 − ‖p‖²)."""
    p = real_array("p", p)
    alpha, empty = jnp.asarray(alpha, p.dtype), p <= 0
    return -jnp.sum(jnp.where(empty, 0.0, p * power_logarithm(jnp.log(jnp.where(empty, 1.0, p)), alpha - 1.0))) / alpha


def alpha_norm(p: Scores, alpha: ArrayLike) -> Float[Array, ""]:
    """‖p‖_α = (Σ p^α)^(1/α) of non-negative numbers, for α however large."""
    p = real_array("p", p)
    top = largest(p)
    top = jnp.where(top <= 0, 1.0, top)
    return top * clipped_power(jnp.sum(clipped_power(p / top, jnp.asarray(alpha, p.dtype))), 1.0 / alpha)


@jax.jit
def normmax(z: Scores, alpha: Float[Array, ""], mask: Mask = None) -> tuple[Scores, Float[Array, ""]]:
    """argmax over the simplex of p·z + 1 − ‖p‖_α, and that maximum, α > 1 (Blondel, Martins & Niculae 2020, §4.3).

    Stationarity gives p ∝ [z − τ]₊^(1/(α−1)) with Σ [z − τ]₊^(α/(α−1)) = 1, and the maximum is τ + 1.
    """
    s, top = shifted(z, mask)
    alpha = jnp.asarray(alpha, s.dtype)
    absent = s == -jnp.inf
    s = jnp.where(absent, -1e30, s)
    tau = _threshold(s, alpha / (alpha - 1.0))
    weights = clipped_power(s - tau, 1.0 / (alpha - 1.0))
    total = jnp.sum(weights)
    p = jnp.where(absent, 0.0, weights / jnp.where(total == 0, 1.0, total))
    return p, jnp.where(jnp.all(absent), -jnp.inf, tau + top + 1.0)
