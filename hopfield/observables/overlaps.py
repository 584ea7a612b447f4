"""Overlaps: how close a state is to a pattern, and how far patterns lie from each other."""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from jax.typing import ArrayLike
from jaxtyping import Array, Bool, Float, Int

from hopfield._arguments import boolean_array, integer, real_array, real_scalar, real_vector
from hopfield._arrays import Mask, Scalar, State
from hopfield._numerics import largest, unit, wide


class Nearest(NamedTuple):
    """The pattern of largest overlap with a state, and that overlap."""

    index: Int[Array, ""]
    overlap: Scalar


def _pair(state: State, pattern: State) -> tuple[State, State]:
    """State and pattern, checked before anything is compiled."""
    state = real_vector("state", state)
    return state, real_vector("pattern", pattern, state)


def _rows(patterns: Float[Array, "M N"], mask: Mask) -> tuple[Float[Array, "M N"], Mask]:
    """Patterns and mask, checked likewise."""
    patterns = real_array("patterns", patterns)
    if patterns.ndim != 2 or 0 in patterns.shape:
        raise ValueError(f"patterns must be a non-empty matrix [M, N], got shape {patterns.shape}")
    return patterns, None if mask is None else boolean_array("mask", mask, patterns.shape[:1])


def overlap(state: State, pattern: State) -> Scalar:
    """m = x·ξ / N. It is 1 when a spin pattern is recovered."""
    return _overlap(*_pair(state, pattern))


@jax.jit
def _overlap(state: State, pattern: State) -> Scalar:
    return jnp.mean(wide(state) * wide(pattern))


def cosine_overlap(state: State, pattern: State) -> Scalar:
    """x·ξ / (‖x‖ ‖ξ‖), blind to both lengths. It is 0 where either vanishes."""
    return _cosine_overlap(*_pair(state, pattern))


@jax.jit
def _cosine_overlap(state: State, pattern: State) -> Scalar:
    return jnp.sum(unit(wide(state)) * unit(wide(pattern)))


def sparse_overlap(state: State, pattern: State) -> Scalar:
    """m = P₁ − P₀ of spins: the fraction of the pattern's up spins that are up, less that fraction of its down spins.

    1 when a pattern is recovered and 0 for a state that knows nothing of it, however few of its spins are +1. A pattern
    without up spins has P₁ = 1, one without down spins P₀ = 0: recovered, it has the overlap 1 as well.
    """
    return _sparse_overlap(*_pair(state, pattern))


@jax.jit
def _sparse_overlap(state: State, pattern: State) -> Scalar:
    state, pattern = wide(state), wide(pattern)
    up, known = pattern > 0, jnp.where(jnp.isnan(state + pattern), jnp.nan, jnp.where(state > 0, 1.0, 0.0))

    def share(wanted: Array, without: float) -> Scalar:
        count = jnp.sum(wanted)
        return jnp.where(count > 0, jnp.sum(jnp.where(wanted, known, 0.0)) / jnp.maximum(count, 1), without)

    return share(up, 1.0) - share(~up, 0.0)


def bit_error(state: State, pattern: State) -> Scalar:
    """Share of units whose sign is not the pattern's: (1 − m)/2 for spins; a 0 against a ±1 is an error."""
    return _bit_error(*_pair(state, pattern))


@jax.jit
def _bit_error(state: State, pattern: State) -> Scalar:
    state, pattern = jnp.sign(wide(state)), jnp.sign(wide(pattern))
    return jnp.mean(jnp.where(jnp.isnan(state + pattern), jnp.nan, state != pattern), dtype=state.dtype)


def above(overlaps: ArrayLike, threshold: ArrayLike) -> Any:
    """True if overlaps [*q] exceed a threshold by more than rounding about 1 [*q]. One equal to the threshold does not.

    In single precision 48 · (1/60), as a compiled mean divides, is more than 0.8. Either may be the overlaps.
    """
    return _above(real_array("overlaps", overlaps), real_array("threshold", threshold))


@jax.jit
def _above(overlaps: Array, threshold: Array) -> Array:
    sides = wide(overlaps), wide(threshold)
    return sides[0] - sides[1] > 4.0 * max(float(jnp.finfo(side.dtype).eps) for side in sides)


def retained(state: State, pattern: State, threshold: float | Scalar = 0.8) -> Bool[Array, ""]:
    """True if m = x·ξ / N exceeds `threshold`.

    0.8 lies between the two peaks of the final overlaps at zero temperature; 0.95 would cut the upper one.
    """
    return above(overlap(state, pattern), real_scalar("threshold", threshold, "a number", -jnp.inf, jnp.inf))


def exact(state: State, pattern: State, tolerance: float | Scalar = 0.0) -> Bool[Array, ""]:
    """True if x = ξ, or ‖x − ξ‖ < tolerance · ‖ξ‖. A state of NaN is never exact."""
    real_scalar("tolerance", tolerance, "a number", -jnp.inf, jnp.inf)
    state, pattern = map(wide, _pair(state, pattern))
    difference = state - pattern
    # Squares, since a distance of NaN must compare as false; equality apart, since small squares underflow to 0.
    near = jnp.sum(difference * difference) < tolerance * jnp.abs(tolerance) * jnp.sum(pattern * pattern)
    return near | jnp.all(state == pattern)


def pattern_gap(patterns: Float[Array, "M N"], mask: Mask = None, *, block: int = 512) -> Float[Array, "M"]:
    """Δ_μ = min over ν ≠ μ of (ξ_μ·ξ_μ − ξ_μ·ξ_ν), the gap that sets how large β must be to single ξ_μ out.

    Never holds more than block × block of the M × M products. A pattern that is masked, or has no other to
    compare with, gets +∞ and so does not disturb the minimum over patterns.

    Args:
        patterns: one per row.
        mask: patterns in use.
        block: patterns compared at once, at least 1.

    Source: Ramsauer et al. (2021), definition 1, arXiv:2008.02217.
    """
    return _pattern_gap(*_rows(patterns, mask), integer("block", block))


@partial(jax.jit, static_argnames="block")
def _pattern_gap(patterns: Array, mask: Mask, block: int) -> Float[Array, "M"]:
    patterns = wide(patterns)
    square = jnp.sum(patterns * patterns, axis=1)
    gap = square - _largest_rival(patterns, jnp.zeros_like(square), mask, block)
    return gap if mask is None else jnp.where(mask, gap, jnp.inf)


def least_distance(patterns: Float[Array, "M N"], mask: Mask = None, *, block: int = 512) -> Float[Array, "M"]:
    """Distance ‖ξ_μ − ξ_ν‖ of every pattern from the nearest other one; arguments and +∞ as for `pattern_gap`.

    From products, so that distances below about 10⁻³ of the patterns' length in single precision are rounding.
    """
    return _least_distance(*_rows(patterns, mask), integer("block", block))


@partial(jax.jit, static_argnames="block")
def _least_distance(patterns: Array, mask: Mask, block: int) -> Float[Array, "M"]:
    patterns = wide(patterns)
    square = jnp.sum(patterns * patterns, axis=1)
    apart = square - 2.0 * _largest_rival(patterns, 0.5 * square, mask, block)
    apart = apart if mask is None else jnp.where(mask, apart, jnp.inf)
    return jnp.where(apart <= 0, 0.0, jnp.sqrt(jnp.where(apart <= 0, 1.0, apart)))


def _largest_rival(patterns: Array, cost: Array, mask: Mask, block: int) -> Float[Array, "M"]:
    """max over ν ≠ μ of ξ_μ·ξ_ν − cost_ν. It is −∞ without other patterns."""
    count = patterns.shape[0]
    block = min(block, count)
    padding = -count % block
    index = jnp.arange(count + padding).reshape(-1, block)
    used = jnp.pad(jnp.ones(count, bool) if mask is None else mask, (0, padding)).reshape(-1, block)
    rows = jnp.pad(patterns, ((0, padding), (0, 0))).reshape(-1, block, patterns.shape[1])
    costs = jnp.pad(cost, (0, padding)).reshape(-1, block)

    def rivals(own_block):
        own, own_index, own_used = own_block

        def against(closest, other_block):
            other, other_index, other_used, cost = other_block
            products = jnp.matmul(own, other.T, precision=jax.lax.Precision.HIGHEST) - cost[None, :]
            rival = other_used[None, :] & (own_index[:, None] != other_index[None, :])
            return jnp.maximum(closest, largest(jnp.where(rival, products, -jnp.inf), axis=1)), None

        closest, _ = jax.lax.scan(against, jnp.full(block, -jnp.inf, patterns.dtype), (rows, index, used, costs))
        return jnp.where(own_used, closest, -jnp.inf)

    return jax.lax.map(rivals, (rows, index, used)).reshape(-1)[:count]


def nearest_pattern(state: State, patterns: Float[Array, "M N"], mask: Mask = None) -> Nearest:
    """The pattern of largest overlap m = x·ξ / N, the first of equals. Index −1 and overlap 0 if all are masked."""
    patterns, mask = _rows(patterns, mask)
    row = jax.ShapeDtypeStruct(patterns.shape[1:], patterns.dtype)
    return _nearest_pattern(real_vector("state", state, row), patterns, mask)


@jax.jit
def _nearest_pattern(state: State, patterns: Array, mask: Mask) -> Nearest:
    state, patterns = wide(state), wide(patterns)
    overlaps = jnp.matmul(patterns, state, precision=jax.lax.Precision.HIGHEST) / state.size
    if mask is None:
        index = jnp.argmax(overlaps)
        return Nearest(index, overlaps[index])
    index = jnp.argmax(jnp.where(mask, overlaps, -jnp.inf))
    any_used = jnp.any(mask)
    return Nearest(jnp.where(any_used, index, -1), jnp.where(any_used, overlaps[index], 0.0))
