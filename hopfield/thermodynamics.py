"""Statistical mechanics of the weights: patterns are levels of energy E_μ = −s_μ, occupied with p = ∇F(β s) at T = 1/β.

With log-sum-exp this is the canonical ensemble: p = e^(β s)/Z, F = ln Z, free energy Φ = −T ln Z, and S is Shannon's
entropy. Any other separation enters by its potential F, and S is the entropy that belongs to it (Tsallis' for entmax):

    Φ = −F(β s)/β = ⟨E⟩ − T S      ⟨E⟩ = −s·p      S = F(β s) − β s·p = Ω(p)
    dΦ/dT = −S                     d⟨E⟩/dT = β² s·∇²F(β s) s, for log-sum-exp Var(E)/T²

and for convex F the weights minimise ⟨E⟩ − T Ω, Ω = `separation.regulariser`.

Every function works along one axis of an array of scores or of weights, and shares these conventions:

    beta        0 ≤ β ≤ ∞, one number or an array that broadcasts against the other axes; the ends give the limits
                (equal weights, the best scores alone) of separations whose weights sum to one
    where       patterns in use, broadcast against the scores; scores of −∞ are left out as well
    precision   that of the scores and at least float32; `gibbs` gives back half precision
    gradients   finite at masked patterns and at weights of zero, where −ln p is taken as zero

A row with no pattern in use has zero weights, zero energy and entropies, F = −∞ and Φ = +∞ for normalised weights.
Logarithms are natural, Boltzmann's constant is 1.
"""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Bool, Float

from hopfield import measures, simplex
from hopfield.numerics import accumulation_dtype, along_axis, is_traced, map_rows
from hopfield.separations import LogSumExp, Separation

Rows = Float[Array, "*axes"]
PerRow = Float[Array, "..."]
Where = Bool[Array, "..."] | None
SOFTMAX = LogSumExp()


class _Levels(NamedTuple):
    """One row of scores, measured from the best where only differences matter (`top` is zero where they do not)."""

    z: Float[Array, "M"]  # β (s − top), zero where unused
    gap: Float[Array, "M"]  # s − top, zero where unused
    top: Float[Array, ""]
    beta: Float[Array, ""]
    used: Bool[Array, "M"]


def gibbs(
    scores: Rows, beta: ArrayLike = 1.0, *, axis: int = -1, where: Where = None, separation: Separation = SOFTMAX
) -> Rows:
    """Weights p = ∇F(β s), e^(β s)/Z for log-sum-exp; of the scores' own precision."""

    def weights(levels: _Levels) -> Array:
        return separation.weights(levels.z, levels.used)

    found = jnp.moveaxis(_of_levels(weights, scores, beta, axis, where, separation), -1, axis)
    dtype = jnp.asarray(scores).dtype
    return found.astype(dtype) if jnp.issubdtype(dtype, jnp.floating) else found


def log_partition(
    scores: Rows, beta: ArrayLike = 1.0, *, axis: int = -1, where: Where = None, separation: Separation = SOFTMAX
) -> PerRow:
    """F(β s), for log-sum-exp ln Z = ln Σ e^(β s)."""

    def potential(levels: _Levels) -> Array:
        filled, found = _potential(levels, separation)
        return jnp.where(filled, found + levels.beta * levels.top, -jnp.inf)

    return _of_levels(potential, scores, beta, axis, where, separation)


def free_energy(
    scores: Rows, beta: ArrayLike = 1.0, *, axis: int = -1, where: Where = None, separation: Separation = SOFTMAX
) -> PerRow:
    """Φ = −F(β s)/β, for log-sum-exp −T ln Z: from −max s at β = ∞ to −T ln M, without bound, as β → 0."""

    def free(levels: _Levels) -> Array:
        filled, found = _potential(levels, separation)
        return jnp.where(filled, -levels.top - found / levels.beta, jnp.inf)

    return _of_levels(free, scores, beta, axis, where, separation)


def mean_energy(
    scores: Rows, beta: ArrayLike = 1.0, *, axis: int = -1, where: Where = None, separation: Separation = SOFTMAX
) -> PerRow:
    """⟨E⟩ = −Σ p s."""

    def mean(levels: _Levels) -> Array:
        return -levels.top - jnp.sum(separation.weights(levels.z, levels.used) * levels.gap)

    return _of_levels(mean, scores, beta, axis, where, separation)


def thermal_entropy(
    scores: Rows, beta: ArrayLike = 1.0, *, axis: int = -1, where: Where = None, separation: Separation = SOFTMAX
) -> PerRow:
    """S = F(β s) − β s·p = −dΦ/dT: Shannon's entropy of the weights for log-sum-exp, Tsallis' for entmax."""

    def entropy_(levels: _Levels) -> Array:
        filled, found = _potential(levels, separation)
        p = separation.weights(levels.z, levels.used)
        heat = jnp.sum(jnp.where(p != 0, p * jnp.where(p != 0, levels.z, 0.0), 0.0))  # 0·∞ at β = ∞ is no heat
        return jnp.where(filled, found - heat, 0.0)

    return _of_levels(entropy_, scores, beta, axis, where, separation)


def energy_variance(
    scores: Rows, beta: ArrayLike = 1.0, *, axis: int = -1, where: Where = None, separation: Separation = SOFTMAX
) -> PerRow:
    """s·∇²F(β s) s, for log-sum-exp the variance of the energy Σ p (s − ⟨s⟩)²; = −d⟨E⟩/dβ."""

    def variance(levels: _Levels) -> Array:
        return _variance(levels, separation)

    return _of_levels(variance, scores, beta, axis, where, separation)


def heat_capacity(
    scores: Rows, beta: ArrayLike = 1.0, *, axis: int = -1, where: Where = None, separation: Separation = SOFTMAX
) -> PerRow:
    """C = d⟨E⟩/dT = T dS/dT = β² `energy_variance`, zero at both ends of β."""

    def capacity(levels: _Levels) -> Array:
        variance = _variance(levels, separation)
        beta = jnp.where(variance != 0, levels.beta, 0.0)  # β² overflows near ∞, where the variance is zero
        return beta * (beta * variance)

    return _of_levels(capacity, scores, beta, axis, where, separation)


def variational_free_energy(
    weights: Rows,
    scores: Rows,
    beta: ArrayLike = 1.0,
    *,
    axis: int = -1,
    where: Where = None,
    separation: Separation = SOFTMAX,
) -> PerRow:
    """⟨E⟩ − T Ω(w) of any weights w: never below `free_energy` for convex F, and equal to it at `gibbs` alone.

    Args:
        weights: where w is allowed to lie: on the simplex if the separation's weights are normalised; shape of scores.
        scores: s, the energies being −s.
        beta, axis, where: as in the module's conventions.
        separation: Ω is its `regulariser`, Shannon's entropy for log-sum-exp and Tsallis' for entmax.
    Raises:
        TypeError: the separation has no regulariser.
    """

    def functional(levels: _Levels, w: Array) -> Array:
        w = jnp.where(levels.used, w, 0.0)
        energy = -levels.top * jnp.sum(w) - jnp.sum(w * levels.gap)
        return energy - separation.regulariser(w) / levels.beta

    return _of_levels(functional, scores, beta, axis, where, separation, weights)


def entropy(weights: Rows, *, axis: int = -1, where: Where = None) -> PerRow:
    """Shannon's entropy H = −Σ p ln p with p = |w| / Σ|w|, in nats: from 0 to ln M."""
    return _of_weights(measures.entropy, weights, axis, where)


def normalised_entropy(weights: Rows, *, axis: int = -1, where: Where = None) -> PerRow:
    """H / ln M with M the number of patterns in use, from 0 to 1; a single pattern leaves no choice and gives 0."""

    def share(w: Array, used: Array) -> Array:
        count = jnp.sum(used, dtype=w.dtype)
        most = jnp.log(jnp.maximum(count, 2.0))
        return jnp.where(count > 1, measures.entropy(w, used) / most, 0.0)

    return _of_weights(share, weights, axis, where)


def effective_number(weights: Rows, *, axis: int = -1, where: Where = None) -> PerRow:
    """Effective number of patterns e^H: from 1 (one pattern) to M (all); 0 where all weights are zero or masked."""
    return _of_weights(measures.effective_number, weights, axis, where)


def tsallis_entropy(weights: Rows, alpha: ArrayLike, *, axis: int = -1, where: Where = None) -> PerRow:
    """H_α = (1 − Σ p^α) / (α(α−1)) with p = |w| / Σ|w|, α > 0: Shannon's at α = 1, Gini's ½(1 − Σ p²) at α = 2.

    The factor 1/α, absent in Tsallis (1988), makes α-entmax its maximiser (Peters, Niculae & Martins 2019, eq. 9).
    """
    _check("alpha", alpha, lambda a: (a > 0) & (a < np.inf), "positive and finite")

    def row(w: Array, used: Array) -> Array:
        return simplex.tsallis_entropy(measures.shares(w, used), alpha)

    return _of_weights(row, weights, axis, where)


def renyi_entropy(weights: Rows, alpha: ArrayLike, *, axis: int = -1, where: Where = None) -> PerRow:
    """H_α = ln Σ p^α / (1 − α) with p = |w| / Σ|w|, 0 ≤ α ≤ ∞; never rises with α.

    α = 0 counts the patterns of any weight (ln of their number), 1 is Shannon's, 2 gives ln of the participation
    ratio, ∞ is −ln max p. Source: Rényi (1961).
    """
    _check("alpha", alpha, lambda a: a >= 0, "between 0 and infinity")

    def row(w: Array, used: Array) -> Array:
        p = measures.shares(w, used)
        held = p > 0
        log_p = jnp.log(jnp.where(held, p, 1.0))
        top = jnp.max(jnp.where(held, log_p, -jnp.inf))
        fall = jnp.where(held, log_p - jnp.where(jnp.any(held), top, 0.0), 0.0)
        # ln Σ p^α = (α−1) ln max p + ln Σ p e^((α−1) fall), where neither α → 1 nor α → ∞ cancels.
        power = _finite(jnp.asarray(alpha, p.dtype)) - 1.0
        still = power == 0
        excess = jnp.sum(jnp.where(held, p * jnp.expm1(power * fall), 0.0))
        slope = jnp.where(still, jnp.sum(p * fall), jnp.log1p(excess) / jnp.where(still, 1.0, power))
        return jnp.where(jnp.any(held), -top - slope, 0.0)

    return _of_weights(row, weights, axis, where)


def kl_divergence(weights: Rows, reference: Rows, *, axis: int = -1, where: Where = None) -> PerRow:
    """D(p‖q) = Σ p ln(p/q) ≥ 0, both normalised along the axis and broadcast against each other; +∞ where q = 0 < p."""
    weights, reference = jnp.asarray(weights), jnp.asarray(reference)
    shape = jnp.broadcast_shapes(weights.shape, reference.shape)

    def row(p: Array, used: Array, q: Array) -> Array:
        return _divergence(measures.shares(p, used), measures.shares(q, used))

    return _of_weights(row, jnp.broadcast_to(weights, shape), axis, where, jnp.broadcast_to(reference, shape))


def mutual_information(
    weights: Rows, prior: Array | None = None, *, axis: int = -1, rows: int = -2, where: Where = None
) -> PerRow:
    """I = Σ_i π_i D(p_i ‖ Σ_j π_j p_j), what the pattern tells about the row (query) that attends to it, in nats.

    Zero if all rows are equal, H(π) if no two rows share a pattern; never above ln of the number of patterns.

    Args:
        weights: of every row, normalised along `axis`.
        prior: π, the rows' own weights, along the last of the axes that are left [..., rows]; None means equal.
        axis: patterns.
        rows: rows; those without weight, such as padding, are left out.
        where: patterns in use, broadcast against the weights.
    """
    weights = jnp.asarray(weights)
    shape = weights.shape
    used = jnp.ones(shape, bool) if where is None else jnp.broadcast_to(where, shape)
    weights, used = (jnp.moveaxis(a, (rows, axis), (-2, -1)) for a in (weights, used))
    prior = jnp.ones((), weights.dtype) if prior is None else jnp.asarray(prior)

    def table(w: Array, used: Array, prior: Array) -> Array:
        p = jax.vmap(measures.shares)(w, used)
        likely = measures.shares(prior.astype(p.dtype), jnp.any(p > 0, axis=1))
        informs = jax.vmap(_divergence, (0, None))(p, likely @ p)
        return jnp.sum(jnp.where(likely > 0, likely * informs, 0.0))

    return map_rows(table, (weights, used, jnp.broadcast_to(prior, weights.shape[:-1])), (2, 2, 1))


def _potential(levels: _Levels, separation: Separation) -> tuple[Array, Array]:
    """Whether F is above −∞, and F of the gaps: F(β s) less β top; zero where it is not."""
    found = separation.potential(levels.z, levels.used)
    filled = found > -jnp.inf
    return filled, jnp.where(filled, found, 0.0)


def _variance(levels: _Levels, separation: Separation) -> Array:
    def weights(z: Array) -> Array:
        return separation.weights(z, levels.used)

    return jnp.sum(levels.gap * jax.jvp(weights, (levels.z,), (levels.gap,))[1])


def _divergence(p: Array, q: Array) -> Array:
    held, shared = p > 0, (p > 0) & (q > 0)
    ratio = jnp.log(jnp.where(shared, p, 1.0)) - jnp.log(jnp.where(shared, q, 1.0))
    return jnp.sum(jnp.where(shared, p * ratio, jnp.where(held, jnp.inf, 0.0)))


def _levels(scores: Array, used: Array, beta: Array, separation: Separation) -> _Levels:
    used = used & (scores != -jnp.inf)
    top = jnp.zeros((), scores.dtype)
    if separation.normalised:  # adding a constant to all scores changes nothing but F
        top = jax.lax.stop_gradient(jnp.max(jnp.where(used, scores, -jnp.inf), initial=-jnp.inf))
        top = jnp.where(jnp.any(used), top, 0.0)
    gap = jnp.where(used, jnp.where(used, scores, 0.0) - top, 0.0)
    return _Levels(beta * gap, gap, top, beta, used)


def _of_levels(function: Callable, scores, beta, axis: int, where: Where, separation: Separation, *more) -> Array:
    """`function` of every row's levels, and of the rows of more arrays, along the axis."""
    scores = jnp.asarray(scores)
    dtype = accumulation_dtype(scores.dtype)
    _check("beta", beta, lambda b: b >= 0, "between 0 and infinity")
    beta = _finite(jnp.asarray(beta, dtype))
    tiny = jnp.finfo(dtype).tiny
    beta = beta + jnp.where(beta < tiny, tiny, 0.0)  # a sum, so that the derivative at β = 0 stays
    rows, used, *others = along_axis(axis, where, scores, *more)
    beta = jnp.broadcast_to(beta, rows.shape[:-1])

    def row(scores: Array, used: Array, beta: Array, *others: Array) -> Array:
        return function(_levels(scores, used, beta, separation), *others)

    return map_rows(row, (rows, used, beta, *others), (1, 1, 0, *(1 for _ in others)))


def _of_weights(function: Callable, weights, axis: int, where: Where, *more) -> Array:
    """`function(row, mask, …)` of every row of the weights, and of the rows of more arrays, along the axis."""
    rows = along_axis(axis, where, jnp.asarray(weights), *more)
    return map_rows(function, rows, [1] * len(rows))


def _finite(x: Array) -> Array:
    """x, no larger than the largest number with a reciprocal: it has the limits of ∞ and does not make 0·∞."""
    most = 1.0 / jnp.finfo(x.dtype).tiny
    return jnp.where(x > most, most, x)


def _check(name: str, value: ArrayLike, inside: Callable, contract: str) -> None:
    if not is_traced(value) and not np.all(inside(np.asarray(value))):
        raise ValueError(f"{name} must be {contract}, got {value}")
