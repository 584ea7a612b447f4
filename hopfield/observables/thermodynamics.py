"""Statistical mechanics of the weights: patterns are levels of energy E_μ = −s_μ, occupied with p = ∇F(β s) at T = 1/β.

With log-sum-exp this is the canonical ensemble: p = e^(β s)/Z, F = ln Z, free energy Φ = −T ln Z, and S is Shannon's
entropy. Any other separation enters by its potential F, and S is the entropy that belongs to it (Tsallis' for entmax):

    Φ = −F(β s)/β = ⟨E⟩ − T S      ⟨E⟩ = −s·p      S = F(β s) − β s·p = Ω(p)
    dΦ/dT = −S                     d⟨E⟩/dT = β² s·∇²F(β s) s, for log-sum-exp Var(E)/T²

and for convex F the weights minimise ⟨E⟩ − T Ω, Ω = `separation.regulariser`.

Every function works along one axis of an array of scores or of weights, and shares these conventions:

    beta        0 ≤ β ≤ ∞, one number or an array that broadcasts with the other axes, which it may add to: [B] with
                scores [M], [B, 1] with [T, M] for a sweep; the ends give the limits (equal weights, the best scores
                alone) of separations whose weights sum to one
    mask        patterns in use, broadcast against the scores; scores of −∞ are left out as well
    precision   the scores', at least float32; `boltzmann_weights` gives back half precision
    gradients   finite at masked patterns and at weights of zero, where −ln p is taken as zero

A row with no pattern in use has zero weights, zero energy and entropies, F = −∞ and Φ = +∞ for normalised weights.
Logarithms are natural, Boltzmann's constant is 1.
"""

from collections.abc import Callable
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Bool, Float

from hopfield._arguments import axis_of, boolean_array, native, real_array, shown
from hopfield._numerics import accumulation_dtype, along_axis, is_traced, map_rows, nan_outside
from hopfield.observables import _levels
from hopfield.separations import LogSumExp, Separation, as_separation

Rows = Float[Array, "*axes"]
PerRow = Float[Array, "..."]
Mask = Bool[Array, "..."] | None
SOFTMAX = LogSumExp()


def boltzmann_weights(
    scores: Rows, beta: ArrayLike = 1.0, *, axis: int = -1, mask: Mask = None, separation: Separation | str = SOFTMAX
) -> Rows:
    """Weights p = ∇F(β s), which are e^(β s)/Z for log-sum-exp, in the precision of the scores."""
    scores = real_array("scores", scores)
    p = _of_levels(_levels.weights_of, scores, beta, axis, mask, separation)
    p = jnp.moveaxis(p, -1, axis if axis < 0 else axis - scores.ndim)
    return p.astype(scores.dtype)


def log_partition(
    scores: Rows, beta: ArrayLike = 1.0, *, axis: int = -1, mask: Mask = None, separation: Separation | str = SOFTMAX
) -> PerRow:
    """F(β s), for log-sum-exp ln Z = ln Σ e^(β s): from ln M at β = 0 to ±∞, the sign of max s, at β = ∞.

    With a best score of zero it ends at the logarithm of the number of patterns that share it.
    """
    return _of_levels(_levels.log_partition, scores, beta, axis, mask, separation)


def free_energy(
    scores: Rows, beta: ArrayLike = 1.0, *, axis: int = -1, mask: Mask = None, separation: Separation | str = SOFTMAX
) -> PerRow:
    """Φ = −F(β s)/β, for log-sum-exp −T ln Z: from −max s at β = ∞ to −T ln M, without bound, as β → 0."""
    return _of_levels(_levels.free_energy, scores, beta, axis, mask, separation)


def mean_energy(
    scores: Rows, beta: ArrayLike = 1.0, *, axis: int = -1, mask: Mask = None, separation: Separation | str = SOFTMAX
) -> PerRow:
    """⟨E⟩ = −Σ p s."""
    return _of_levels(_levels.mean_energy, scores, beta, axis, mask, separation)


def thermal_entropy(
    scores: Rows, beta: ArrayLike = 1.0, *, axis: int = -1, mask: Mask = None, separation: Separation | str = SOFTMAX
) -> PerRow:
    """S = F(β s) − β s·p = −dΦ/dT: Shannon's entropy of the weights for log-sum-exp, Tsallis' for entmax."""
    return _of_levels(_levels.thermal_entropy, scores, beta, axis, mask, separation)


def energy_variance(
    scores: Rows, beta: ArrayLike = 1.0, *, axis: int = -1, mask: Mask = None, separation: Separation | str = SOFTMAX
) -> PerRow:
    """s·∇²F(β s) s, for log-sum-exp the variance of the energy Σ p (s − ⟨s⟩)²; = −d⟨E⟩/dβ."""
    return _of_levels(_levels.energy_variance, scores, beta, axis, mask, separation)


def heat_capacity(
    scores: Rows, beta: ArrayLike = 1.0, *, axis: int = -1, mask: Mask = None, separation: Separation | str = SOFTMAX
) -> PerRow:
    """C = d⟨E⟩/dT = T dS/dT = β² `energy_variance`, zero at both ends of β."""
    return _of_levels(_levels.heat_capacity, scores, beta, axis, mask, separation)


def variational_free_energy(
    weights: Rows,
    scores: Rows,
    beta: ArrayLike = 1.0,
    *,
    axis: int = -1,
    mask: Mask = None,
    separation: Separation | str = SOFTMAX,
) -> PerRow:
    """⟨E⟩ − T Ω(w) of any weights w: never below `free_energy` for convex F, equal to it at `boltzmann_weights`.

    Args:
        weights: w, of the shape of scores. Where no weights of the separation lie the result is +∞: off the simplex if
            they are normalised, below zero unless they can be negative.
        scores: s, the energies being −s.
        beta, axis, mask: as in the module's conventions.
        separation: Ω is its `regulariser`, Shannon's entropy for log-sum-exp and Tsallis' for entmax.
    Raises:
        TypeError: the separation has no regulariser.
    """
    return _of_levels(_levels.functional, scores, beta, axis, mask, separation, weights)


def entropy(weights: Rows, *, axis: int = -1, mask: Mask = None) -> PerRow:
    """Shannon's entropy H = −Σ p ln p with p = |w| / Σ|w|, in nats: from 0 to ln M; 0 where all are zero or masked."""
    return _of_weights(_levels.entropy, weights, axis, mask)


def normalised_entropy(weights: Rows, *, axis: int = -1, mask: Mask = None) -> PerRow:
    """H / ln M with M the number of patterns in use, from 0 to 1. A single pattern leaves no choice and gives 0."""
    return _of_weights(_levels.normalised_entropy, weights, axis, mask)


def effective_number(weights: Rows, *, axis: int = -1, mask: Mask = None) -> PerRow:
    """Effective number of patterns e^H: from 1 (one pattern) to M (all); 0 where all weights are zero or masked."""
    return _of_weights(_levels.effective_number, weights, axis, mask)


def tsallis_entropy(weights: Rows, alpha: ArrayLike, *, axis: int = -1, mask: Mask = None) -> PerRow:
    """H_α = (1 − Σ p^α) / (α(α−1)) with p = |w| / Σ|w|, α > 0: Shannon's at α = 1, Gini's ½(1 − Σ p²) at α = 2.

    The factor 1/α, absent in Tsallis (1988), makes α-entmax its maximiser (Peters, Niculae & Martins 2019, eq. 9).
    """
    alpha = _within("alpha", alpha, lambda a: (a.ndim == 0) & (a > 0) & (a < np.inf), "positive and finite")
    return _of_weights(_levels.tsallis_entropy, weights, axis, mask, parameters=(alpha,))


def renyi_entropy(weights: Rows, alpha: ArrayLike, *, axis: int = -1, mask: Mask = None) -> PerRow:
    """H_α = ln Σ p^α / (1 − α) with p = |w| / Σ|w|, 0 ≤ α ≤ ∞; never rises with α.

    α = 0 counts the patterns of any weight (ln of their number), 1 is Shannon's, 2 gives ln of the participation
    ratio, ∞ is −ln max p. Source: Rényi (1961).
    """
    alpha = _within("alpha", alpha, lambda a: (a.ndim == 0) & (a >= 0), "between 0 and infinity")
    return _of_weights(_levels.renyi_entropy, weights, axis, mask, parameters=(alpha,))


def kl_divergence(weights: Rows, reference: Float[Array, "..."], *, axis: int = -1, mask: Mask = None) -> PerRow:
    """D(p‖q) = Σ p ln(p/q) ≥ 0, both normalised along the axis and broadcast against each other; +∞ where q = 0 < p."""
    weights, reference = real_array("weights", weights), real_array("reference", reference)
    try:
        shape = np.broadcast_shapes(weights.shape, reference.shape)
    except ValueError:
        got = f"{weights.shape} and {reference.shape}"
        raise ValueError(f"reference must broadcast with the weights, got shapes {got}") from None
    weights, reference = jnp.broadcast_to(weights, shape), jnp.broadcast_to(reference, shape)
    return _of_weights(_levels.kl_divergence, weights, axis, mask, reference)


def mutual_information(
    weights: Rows, prior: Array | None = None, *, axis: int = -1, rows: int = -2, mask: Mask = None
) -> PerRow:
    """I = Σ_i π_i D(p_i ‖ Σ_j π_j p_j), the information between the pattern and the row (query) that reads it, in nats.

    Zero if all rows are equal, H(π) if no two rows share a pattern; never above ln of the number of patterns.

    Args:
        weights: of every row, normalised along `axis`.
        prior: π, the rows' own weights, along the last of the axes that are left [..., rows]; None means equal.
        axis: patterns.
        rows: rows; those without weight, such as padding, are left out.
        mask: patterns in use, broadcast against the weights.
    """
    weights = real_array("weights", weights)
    prior = jnp.ones(()) if prior is None else real_array("prior", prior)
    prior = _within("prior", prior, lambda p: ~(p < 0), "nowhere negative")
    axis, rows = (axis_of(name, value, weights.ndim, "weights") for name, value in (("axis", axis), ("rows", rows)))
    if axis % weights.ndim == rows % weights.ndim:
        raise ValueError(f"rows must be another axis than axis, got {rows} and {axis}")
    others = (*np.delete(weights.shape, [axis, rows]).tolist(), weights.shape[rows])
    if not _fits(prior.shape, others):
        raise ValueError(f"prior must broadcast against shape {others}, got shape {prior.shape}")
    return _mutual_information(weights, prior, _checked_mask(mask, weights.shape), axis=axis, rows=rows)


@partial(jax.jit, static_argnames=("axis", "rows"))
def _mutual_information(weights: Array, prior: Array, mask: Mask, *, axis: int, rows: int) -> Array:
    used = jnp.ones(weights.shape, bool) if mask is None else jnp.broadcast_to(mask, weights.shape)
    weights, used = (jnp.moveaxis(a, (rows, axis), (-2, -1)) for a in (weights, used))
    prior = jnp.broadcast_to(prior.astype(accumulation_dtype(weights.dtype)), weights.shape[:-1])
    return map_rows(_levels.mutual_information, (weights, used, prior), (2, 2, 1))


def _of_levels(
    function: Callable, scores: ArrayLike, beta: ArrayLike, axis: int, mask: Mask, separation: Separation | str, *more
) -> Array:
    """`function` of every row's levels, of the separation and of the rows of more arrays, along the axis."""
    beta = _within("beta", beta, lambda b: b >= 0, "between 0 and infinity")
    scores, more = real_array("scores", scores), [real_array("weights", w) for w in more]
    if any(weights.shape != scores.shape for weights in more):
        raise ValueError(f"weights must have the scores' shape {scores.shape}, got {more[0].shape}")
    used = _checked_mask(mask, scores.shape)
    axis = axis_of("axis", axis, scores.ndim, "scores")
    other = np.delete(scores.shape, axis).tolist()
    try:
        np.broadcast_shapes(beta.shape, tuple(other))
    except ValueError:
        raise ValueError(f"beta must broadcast with the scores' other axes {other}, got shape {beta.shape}") from None
    return _each_level(function, scores, beta, used, as_separation(separation), *more, axis=axis)


@partial(jax.jit, static_argnums=0, static_argnames="axis")
def _each_level(
    function: Callable, scores: Array, beta: Array, mask: Mask, separation: Separation, *more, axis: int
) -> Array:
    dtype = accumulation_dtype(scores.dtype)
    rows, used, *others = along_axis(axis, mask, scores, *more)
    leading = jnp.broadcast_shapes(beta.shape, rows.shape[:-1])
    beta = jnp.broadcast_to(beta.astype(dtype), leading)
    rows, used, *others = (jnp.broadcast_to(x, (*leading, x.shape[-1])) for x in (rows, used, *others))

    def row(scores: Array, used: Array, beta: Array, *others: Array) -> Array:
        return function(_levels.levels_of(scores, used, beta, separation), separation, *others)

    return map_rows(row, (rows, used, beta, *others), (1, 1, 0, *(1 for _ in others)))


def _of_weights(function: Callable, weights: ArrayLike, axis: int, mask: Mask, *more, parameters: tuple = ()) -> Array:
    """`function(row, mask, …)` of every row of the weights, and of the rows of more arrays, along the axis."""
    weights = real_array("weights", weights)
    axis = axis_of("axis", axis, weights.ndim, "weights")
    return _each_weights(function, weights, _checked_mask(mask, weights.shape), *more, parameters=parameters, axis=axis)


@partial(jax.jit, static_argnums=0, static_argnames="axis")
def _each_weights(function: Callable, weights: Array, mask: Mask, *more, parameters: tuple, axis: int) -> Array:
    def row(*arrays: Array) -> Array:
        return function(*arrays, *parameters)

    rows = along_axis(axis, mask, weights, *more)
    return map_rows(row, rows, [1] * len(rows))


def _checked_mask(mask: Mask, shape: tuple[int, ...]) -> Mask:
    """Mask as truth values that broadcast against `shape`. None stays None. Raises ValueError for any other."""
    if mask is None:
        return None
    used = boolean_array("mask", mask)
    if not _fits(used.shape, shape):
        raise ValueError(f"mask must broadcast against shape {shape}, got shape {used.shape}")
    return used


def _fits(shape: tuple[int, ...], whole: tuple[int, ...]) -> bool:
    """True if an array of a shape broadcasts to the whole one."""
    pairs = zip(shape[::-1], whole[::-1], strict=False)
    return len(shape) <= len(whole) and all(n in (1, m) for n, m in pairs)


def _within(name: str, value: ArrayLike, inside: Callable, contract: str) -> Array:
    """Numbers inside a range. Traced numbers outside become NaN. ValueError for others."""
    if is_traced(value):
        return nan_outside(jnp.asarray(value), inside(value))
    try:
        numbers = np.asarray(np.ma.filled(value, np.nan) if isinstance(value, np.ma.MaskedArray) else value)
    except ValueError:  # rows of different lengths
        numbers = np.empty(0, object)
    if numbers.dtype.kind not in "iufV" or not np.all(inside(numbers.astype(np.float64))):
        raise ValueError(f"{name} must be {contract}, got {shown(value)}")
    return jnp.asarray(native(value))
