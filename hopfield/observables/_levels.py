"""Levels of one row of scores or weights: the statistical mechanics that `thermodynamics` works out along an axis.

Functions of `Levels` and a separation, or of weights with the mask of those in use, at the top of a module so that each
is the same object at every call and is compiled once.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jaxtyping import Array, Bool, Float

from hopfield._numerics import largest
from hopfield.observables import weights
from hopfield.separations import Separation, simplex


class Levels(NamedTuple):
    """One row of scores, measured from the best where only differences matter (`top` is zero where they do not)."""

    z: Float[Array, "M"]  # β (s − top), zero where unused
    gap: Float[Array, "M"]  # s − top, zero where unused
    top: Float[Array, ""]
    beta: Float[Array, ""]  # at least the least normal number, at most the largest one with a reciprocal
    exact_beta: Float[Array, ""]  # β itself, 0 and ∞ included
    used: Bool[Array, "M"]


def levels_of(scores: Array, used: Array, beta: Array, separation: Separation) -> Levels:
    """Levels of one row of scores. Scores of −∞ are not used."""
    used = used & (scores != -jnp.inf)
    top = jnp.zeros((), scores.dtype)
    if separation.normalised:  # adding a constant to all scores changes nothing but F
        top = jax.lax.stop_gradient(largest(jnp.where(used, scores, -jnp.inf)))
        top = jnp.where(jnp.any(used), top, 0.0)
    gap = jnp.where(used, jnp.where(used, scores, 0.0) - top, 0.0)
    finite_beta = finite(beta)
    tiny = jnp.finfo(beta.dtype).tiny
    finite_beta = finite_beta + jnp.where(finite_beta < tiny, tiny, 0.0)  # a sum, so that the derivative at β = 0 stays
    return Levels(finite_beta * gap, gap, top, finite_beta, beta, used)


def weights_of(levels: Levels, separation: Separation) -> Array:
    """Weights p = ∇F(β s) [M]."""
    return separation.weights(levels.z, levels.used)


def log_partition(levels: Levels, separation: Separation) -> Array:
    """F(β s); −∞ where F has no finite value."""
    filled, potential = _potential(levels, separation)
    peak = levels.exact_beta * levels.top
    potential = potential + jnp.where(levels.top == 0, 0.0, peak)  # 0·∞ of a best score of zero is zero
    if not separation.normalised:  # F itself may be without bound, and slowly so: log β
        rise = potential - _potential(levels._replace(z=levels.z / 2), separation)[1]
        endless = (levels.exact_beta == jnp.inf) & (rise != 0) & jnp.isfinite(rise)
        potential = potential + jax.lax.stop_gradient(jnp.where(endless, rise * jnp.inf, 0.0))
    return jnp.where(filled, potential, -jnp.inf)


def free_energy(levels: Levels, separation: Separation) -> Array:
    """Φ = −F(β s)/β."""
    filled, potential = _potential(levels, separation)
    return jnp.where(filled, -levels.top - _per_beta(potential, levels), jnp.inf)


def mean_energy(levels: Levels, separation: Separation) -> Array:
    """⟨E⟩ = −Σ p s."""
    return -levels.top - jnp.sum(separation.weights(levels.z, levels.used) * levels.gap)


def thermal_entropy(levels: Levels, separation: Separation) -> Array:
    """S = F(β s) − β s·p."""
    filled, potential = _potential(levels, separation)
    p = separation.weights(levels.z, levels.used)
    if separation.gibbs and not separation.normalised:  # F and the heat grow with β, their difference does not
        return jnp.where(filled, separation.regulariser(p), 0.0)
    heat = jnp.sum(jnp.where(p == 0, 0.0, p * jnp.where(p == 0, 0.0, levels.z)))  # 0·∞ at β = ∞ is no heat
    return jnp.where(filled, potential - heat, 0.0)


def heat_capacity(levels: Levels, separation: Separation) -> Array:
    """C = β² `energy_variance`."""
    variance = energy_variance(levels, separation)
    beta = jnp.where(variance != 0, levels.beta, 0.0)  # β² overflows near ∞, where the variance is zero
    return beta * (beta * variance)


def functional(levels: Levels, separation: Separation, w: Array) -> Array:
    """⟨E⟩ − T Ω(w) of any weights w. It is +∞ where no weights of the separation lie."""
    w = jnp.where(levels.used, w, 0.0)
    energy = -levels.top * jnp.sum(w) - jnp.sum(w * levels.gap)
    entropy = separation.regulariser(w)
    outside = (entropy == -jnp.inf) & ~jnp.isnan(energy)
    return jnp.where(outside, jnp.inf, energy - _per_beta(entropy, levels))


def entropy(w: Array, used: Array) -> Array:
    """H = −Σ p ln p of the shares p."""
    return simplex.shannon_entropy(weights.shares(w, used))


def effective_number(w: Array, used: Array) -> Array:
    """e^H of the shares. It is 0 where all vanish."""
    p = weights.shares(w, used)
    return jnp.where(jnp.all(p == 0), 0.0, jnp.exp(simplex.shannon_entropy(p)))


def normalised_entropy(w: Array, used: Array) -> Array:
    """H / ln M, M being the number in use."""
    count = jnp.sum(used, dtype=w.dtype)
    # One pattern leaves no choice: 0, unless its weight is not a number.
    return jnp.where(count > 1, entropy(w, used) / jnp.log(jnp.maximum(count, 2.0)), 0.0 * entropy(w, used))


def tsallis_entropy(w: Array, used: Array, alpha: Array) -> Array:
    """(1 − Σ p^α)/(α(α−1)) of the shares."""
    return simplex.tsallis_entropy(weights.shares(w, used), alpha)


def renyi_entropy(w: Array, used: Array, alpha: Array) -> Array:
    """ln Σ p^α/(1 − α) of the shares."""
    p = weights.shares(w, used)
    empty = p == 0
    log_p = jnp.log(jnp.where(empty, 1.0, p))
    nothing = jnp.all(empty)
    top = jnp.where(nothing, 0.0, largest(jnp.where(empty, -jnp.inf, log_p)))
    fall = jnp.where(empty, 0.0, log_p - top)
    # ln Σ p^α = (α−1) ln max p + ln Σ p e^((α−1) fall), where neither α → 1 nor α → ∞ cancels.
    power = finite(jnp.asarray(alpha, p.dtype)) - 1.0
    still = power == 0
    excess = jnp.sum(jnp.where(empty, 0.0, p * jnp.expm1(power * fall)))
    slope = jnp.where(still, jnp.sum(p * fall), jnp.log1p(excess) / jnp.where(still, 1.0, power))
    return jnp.where(nothing, 0.0, -top - slope)


def kl_divergence(p: Array, used: Array, q: Array) -> Array:
    """D(p‖q) of the shares."""
    return _divergence(weights.shares(p, used), weights.shares(q, used))


def _potential(levels: Levels, separation: Separation) -> tuple[Array, Array]:
    """Truth of F > −∞, and F of the gaps: F(β s) less β top, or zero."""
    potential = separation.potential(levels.z, levels.used)
    filled = potential != -jnp.inf
    return filled, jnp.where(filled, potential, 0.0)


def _per_beta(x: Array, levels: Levels) -> Array:
    """x / β, infinite at β = 0. There β is the least normal number, at which the quotient is still finite."""
    endless = (levels.beta <= jnp.finfo(x.dtype).tiny) & (x != 0) & ~jnp.isnan(x)
    beyond = jax.lax.stop_gradient(jnp.where(endless, jnp.sign(x) * jnp.inf, 0.0))  # the derivative of x stays
    return x / levels.beta + beyond


def energy_variance(levels: Levels, separation: Separation) -> Array:
    """s·∇²F(β s) s, the variance of the energy, from one derivative of the weights along the gaps."""

    def weights(z: Array) -> Array:
        return separation.weights(z, levels.used)

    return jnp.sum(levels.gap * jax.jvp(weights, (levels.z,), (levels.gap,))[1])


def _divergence(p: Array, q: Array) -> Array:
    empty, alone = p == 0, (p > 0) & (q == 0)
    aside = empty | alone
    ratio = jnp.log(jnp.where(aside, 1.0, p)) - jnp.log(jnp.where(aside, 1.0, q))
    return jnp.sum(jnp.where(alone, jnp.inf, jnp.where(empty, 0.0 * q, p * ratio)))


def mutual_information(w: Array, used: Array, prior: Array) -> Array:
    """I = Σ_i π_i D(p_i ‖ Σ_j π_j p_j) of rows [Q, M], π being the prior."""
    p = jax.vmap(weights.shares)(w, used)
    likely = weights.shares(prior.astype(p.dtype), ~jnp.all(p == 0, axis=1))
    informs = jax.vmap(_divergence, (0, None))(p, likely @ p)
    return jnp.sum(jnp.where(likely == 0, 0.0, likely * informs))


def finite(x: Array) -> Array:
    """x clipped below infinity, so that 0·x is 0."""
    most = 1.0 / jnp.finfo(x.dtype).tiny
    return jnp.where(x > most, most, x)
